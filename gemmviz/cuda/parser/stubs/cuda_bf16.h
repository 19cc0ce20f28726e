// bfloat16: __nv_bfloat16 and __nv_bfloat162.
#pragma once
#include "cuda_fp16.h"

struct __nv_bfloat16_raw { unsigned short x; };

struct __align__(2) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  __nv_bfloat16(float);
  __nv_bfloat16(double);
  __nv_bfloat16(short);
  __nv_bfloat16(unsigned short);
  __nv_bfloat16(int);
  __nv_bfloat16(unsigned int);
  __nv_bfloat16(long);
  __nv_bfloat16(unsigned long);
  __nv_bfloat16(long long);
  __nv_bfloat16(unsigned long long);
  operator float() const;
  operator __nv_bfloat16_raw() const;
  explicit operator bool() const;
  __nv_bfloat16& operator=(float);
  __nv_bfloat16& operator=(const __nv_bfloat16&) = default;
  __nv_bfloat16(const __nv_bfloat16&) = default;
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __nv_bfloat162(const __nv_bfloat162&) = default;
  __nv_bfloat162(const __nv_bfloat16& x, const __nv_bfloat16& y);
  __nv_bfloat162& operator=(const __nv_bfloat162&) = default;
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__GEMMVIZ_16_BIT_FLOAT(__nv_bfloat16, __nv_bfloat162)

__GEMMVIZ_FUNCTIONS_OF_HALVES
