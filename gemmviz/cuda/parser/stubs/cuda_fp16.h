// float16: __half and __half2.
#pragma once

struct __half_raw { unsigned short x; };
struct __half2_raw { unsigned short x, y; };

struct __align__(2) __half {
  unsigned short __x;
  __half() = default;
  constexpr __half(const __half_raw& raw) : __x(raw.x) {}
  __half(float);
  __half(double);
  __half(short);
  __half(unsigned short);
  __half(int);
  __half(unsigned int);
  __half(long);
  __half(unsigned long);
  __half(long long);
  __half(unsigned long long);
  operator float() const;
  operator __half_raw() const;
  explicit operator bool() const;
  __half& operator=(float);
  __half& operator=(const __half&) = default;
  __half(const __half&) = default;
};
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __half2(const __half2&) = default;
  __half2(const __half& x, const __half& y);
  __half2(const __half2_raw&);
  __half2& operator=(const __half2&) = default;
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

// Arithmetic, comparisons and functions that __half and __nv_bfloat16 share.
#define __GEMMVIZ_16_BIT_FLOAT(T, T2)                                                       \
  T operator+(const T&, const T&);                                                          \
  T operator-(const T&, const T&);                                                          \
  T operator*(const T&, const T&);                                                          \
  T operator/(const T&, const T&);                                                          \
  T operator+(const T&);                                                                    \
  T operator-(const T&);                                                                    \
  T& operator+=(T&, const T&);                                                              \
  T& operator-=(T&, const T&);                                                              \
  T& operator*=(T&, const T&);                                                              \
  T& operator/=(T&, const T&);                                                              \
  T& operator++(T&);                                                                        \
  T& operator--(T&);                                                                        \
  T operator++(T&, int);                                                                    \
  T operator--(T&, int);                                                                    \
  bool operator==(const T&, const T&);                                                      \
  bool operator!=(const T&, const T&);                                                      \
  bool operator<(const T&, const T&);                                                       \
  bool operator>(const T&, const T&);                                                       \
  bool operator<=(const T&, const T&);                                                      \
  bool operator>=(const T&, const T&);                                                      \
  T2 operator+(const T2&, const T2&);                                                       \
  T2 operator-(const T2&, const T2&);                                                       \
  T2 operator*(const T2&, const T2&);                                                       \
  T2 operator/(const T2&, const T2&);                                                       \
  T2 operator-(const T2&);                                                                  \
  T2& operator+=(T2&, const T2&);                                                           \
  T2& operator-=(T2&, const T2&);                                                           \
  T2& operator*=(T2&, const T2&);                                                           \
  T2& operator/=(T2&, const T2&);                                                           \
  bool operator==(const T2&, const T2&);                                                    \
  bool operator!=(const T2&, const T2&);                                                    \
  T __hadd(T, T); T __hsub(T, T); T __hmul(T, T); T __hdiv(T, T); T __hfma(T, T, T);        \
  T __hadd_rn(T, T); T __hsub_rn(T, T); T __hmul_rn(T, T);                                  \
  T __hadd_sat(T, T); T __hsub_sat(T, T); T __hmul_sat(T, T); T __hfma_sat(T, T, T);        \
  T __hfma_relu(T, T, T); T __hneg(T); T __habs(T);                                         \
  T __hmax(T, T); T __hmin(T, T); T __hmax_nan(T, T); T __hmin_nan(T, T);                   \
  bool __heq(T, T); bool __hne(T, T); bool __hlt(T, T); bool __hle(T, T); bool __hgt(T, T); \
  bool __hge(T, T); bool __hisnan(T); int __hisinf(T);                                      \
  T hexp(T); T hexp2(T); T hexp10(T); T hlog(T); T hlog2(T); T hlog10(T); T hsqrt(T);       \
  T hrsqrt(T); T hrcp(T); T hsin(T); T hcos(T); T hceil(T); T hfloor(T); T hrint(T);        \
  T htrunc(T); T htanh(T); T htanh_approx(T);                                               \
  T2 __hadd2(T2, T2); T2 __hsub2(T2, T2); T2 __hmul2(T2, T2); T2 __h2div(T2, T2);           \
  T2 __hadd2_rn(T2, T2); T2 __hsub2_rn(T2, T2); T2 __hmul2_rn(T2, T2);                      \
  T2 __hfma2(T2, T2, T2); T2 __hfma2_relu(T2, T2, T2); T2 __hneg2(T2); T2 __habs2(T2);      \
  T2 __hmax2(T2, T2); T2 __hmin2(T2, T2); T2 __heq2(T2, T2); T2 __hne2(T2, T2);             \
  T2 __hlt2(T2, T2); T2 __hle2(T2, T2); T2 __hgt2(T2, T2); T2 __hge2(T2, T2);               \
  bool __hbeq2(T2, T2); bool __hblt2(T2, T2); bool __hbgt2(T2, T2);                         \
  T2 h2exp(T2); T2 h2exp2(T2); T2 h2log(T2); T2 h2sqrt(T2); T2 h2rsqrt(T2); T2 h2rcp(T2);   \
  T2 h2sin(T2); T2 h2cos(T2); T2 h2floor(T2); T2 h2ceil(T2); T2 h2tanh(T2);                 \
  T2 __lows2half2(T2, T2); T2 __highs2half2(T2, T2); T2 __lowhigh2highlow(T2);              \
  T2 __low2half2(T2); T2 __high2half2(T2);                                                  \
  T __low2half(T2); T __high2half(T2); float __low2float(T2); float __high2float(T2);
__GEMMVIZ_16_BIT_FLOAT(__half, __half2)

__half __float2half(float);
__half __float2half_rn(float);
__half __float2half_rz(float);
__half __float2half_rd(float);
__half __float2half_ru(float);
__half __double2half(double);
float __half2float(__half);
__half2 __float2half2_rn(float);
__half2 __floats2half2_rn(float, float);
__half2 __float22half2_rn(float2);
float2 __half22float2(__half2);
__half2 __half2half2(__half);
__half2 __halves2half2(__half, __half);
__half2 make_half2(__half, __half);
#define __GEMMVIZ_HALF_CONVERSION(NAME, T)                                                     \
  T __half2##NAME##_rn(__half); T __half2##NAME##_rz(__half); T __half2##NAME##_rd(__half);    \
  T __half2##NAME##_ru(__half); __half __##NAME##2half_rn(T); __half __##NAME##2half_rz(T);    \
  __half __##NAME##2half_rd(T); __half __##NAME##2half_ru(T);
__GEMMVIZ_HALF_CONVERSION(int, int)
__GEMMVIZ_HALF_CONVERSION(uint, unsigned int)
__GEMMVIZ_HALF_CONVERSION(short, short)
__GEMMVIZ_HALF_CONVERSION(ushort, unsigned short)
__GEMMVIZ_HALF_CONVERSION(ll, long long)
__GEMMVIZ_HALF_CONVERSION(ull, unsigned long long)
short __half_as_short(__half);
unsigned short __half_as_ushort(__half);
__half __short_as_half(short);
__half __ushort_as_half(unsigned short);
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
