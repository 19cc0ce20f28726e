// Vector types with CUDA's sizes and alignments, their make functions, and dim3.
#pragma once

#define __GEMMVIZ_VECTORS(NAME, T)                                                     \
  struct NAME##1 { T x; };                                                             \
  struct __align__(2 * sizeof(T)) NAME##2 { T x, y; };                                 \
  struct NAME##3 { T x, y, z; };                                                       \
  struct __align__(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) NAME##4 { T x, y, z, w; }; \
  constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                                \
  constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                        \
  constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                \
  constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }

__GEMMVIZ_VECTORS(char, signed char)
__GEMMVIZ_VECTORS(uchar, unsigned char)
__GEMMVIZ_VECTORS(short, short)
__GEMMVIZ_VECTORS(ushort, unsigned short)
__GEMMVIZ_VECTORS(int, int)
__GEMMVIZ_VECTORS(uint, unsigned int)
__GEMMVIZ_VECTORS(long, long)
__GEMMVIZ_VECTORS(ulong, unsigned long)
__GEMMVIZ_VECTORS(longlong, long long)
__GEMMVIZ_VECTORS(ulonglong, unsigned long long)
__GEMMVIZ_VECTORS(float, float)
__GEMMVIZ_VECTORS(double, double)

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
