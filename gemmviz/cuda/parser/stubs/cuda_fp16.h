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

// Operators that __half and __nv_bfloat16 share.
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
  T htanh_approx(T);
__GEMMVIZ_16_BIT_FLOAT(__half, __half2)
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
