// 8-bit floating point, as far as kernels pass it on.
#pragma once

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
struct __nv_fp8_e4m3 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e4m3() = default;
  explicit __nv_fp8_e4m3(float);
  explicit __nv_fp8_e4m3(__half);
  explicit operator float() const;
  explicit operator __half() const;
};
struct __nv_fp8_e5m2 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e5m2() = default;
  explicit __nv_fp8_e5m2(float);
  explicit __nv_fp8_e5m2(__half);
  explicit operator float() const;
  explicit operator __half() const;
};
struct __align__(2) __nv_fp8x2_e4m3 { __nv_fp8x2_storage_t __x; };
struct __align__(4) __nv_fp8x4_e4m3 { __nv_fp8x4_storage_t __x; };
struct __align__(2) __nv_fp8x2_e5m2 { __nv_fp8x2_storage_t __x; };
struct __align__(4) __nv_fp8x4_e5m2 { __nv_fp8x4_storage_t __x; };
__nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t, __nv_fp8_interpretation_t);
__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
