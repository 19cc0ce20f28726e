// Arithmetic of vector types, by component, as in NVIDIA's samples.
#pragma once

#pragma clang force_cuda_host_device begin
#define __GEMMVIZ_OPERATORS(NAME, T, OP)                                                                              \
  inline NAME##2 operator OP(NAME##2 a, NAME##2 b) { return {a.x OP b.x, a.y OP b.y}; }                               \
  inline NAME##2 operator OP(NAME##2 a, T b) { return {a.x OP b, a.y OP b}; }                                         \
  inline NAME##2 operator OP(T a, NAME##2 b) { return {a OP b.x, a OP b.y}; }                                         \
  inline void operator OP##=(NAME##2& a, NAME##2 b) { a.x OP##= b.x; a.y OP##= b.y; }                                 \
  inline void operator OP##=(NAME##2& a, T b) { a.x OP##= b; a.y OP##= b; }                                           \
  inline NAME##3 operator OP(NAME##3 a, NAME##3 b) { return {a.x OP b.x, a.y OP b.y, a.z OP b.z}; }                   \
  inline NAME##3 operator OP(NAME##3 a, T b) { return {a.x OP b, a.y OP b, a.z OP b}; }                               \
  inline NAME##3 operator OP(T a, NAME##3 b) { return {a OP b.x, a OP b.y, a OP b.z}; }                               \
  inline void operator OP##=(NAME##3& a, NAME##3 b) { a.x OP##= b.x; a.y OP##= b.y; a.z OP##= b.z; }                  \
  inline void operator OP##=(NAME##3& a, T b) { a.x OP##= b; a.y OP##= b; a.z OP##= b; }                              \
  inline NAME##4 operator OP(NAME##4 a, NAME##4 b) { return {a.x OP b.x, a.y OP b.y, a.z OP b.z, a.w OP b.w}; }       \
  inline NAME##4 operator OP(NAME##4 a, T b) { return {a.x OP b, a.y OP b, a.z OP b, a.w OP b}; }                     \
  inline NAME##4 operator OP(T a, NAME##4 b) { return {a OP b.x, a OP b.y, a OP b.z, a OP b.w}; }                     \
  inline void operator OP##=(NAME##4& a, NAME##4 b) { a.x OP##= b.x; a.y OP##= b.y; a.z OP##= b.z; a.w OP##= b.w; }   \
  inline void operator OP##=(NAME##4& a, T b) { a.x OP##= b; a.y OP##= b; a.z OP##= b; a.w OP##= b; }
#define __GEMMVIZ_ARITHMETIC(NAME, T) \
  __GEMMVIZ_OPERATORS(NAME, T, +)     \
  __GEMMVIZ_OPERATORS(NAME, T, -)     \
  __GEMMVIZ_OPERATORS(NAME, T, *)     \
  __GEMMVIZ_OPERATORS(NAME, T, /)
__GEMMVIZ_ARITHMETIC(float, float)
__GEMMVIZ_ARITHMETIC(int, int)
__GEMMVIZ_ARITHMETIC(uint, unsigned int)
inline float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
inline float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
inline float2 make_float2(float s) { return {s, s}; }
inline float3 make_float3(float s) { return {s, s, s}; }
inline float4 make_float4(float s) { return {s, s, s, s}; }
inline float4 make_float4(float3 a, float w) { return {a.x, a.y, a.z, w}; }
inline float3 make_float3(float4 a) { return {a.x, a.y, a.z}; }
inline float lerp(float a, float b, float t) { return a + t * (b - a); }
inline float clamp(float f, float a, float b) { return fmaxf(a, fminf(f, b)); }
inline int clamp(int f, int a, int b) { return max(a, min(f, b)); }
#pragma clang force_cuda_host_device end
