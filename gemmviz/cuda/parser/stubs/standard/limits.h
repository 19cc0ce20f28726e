// <limits>: the numbers of each arithmetic type.
#pragma once

namespace std {
template <class T> struct numeric_limits {
  static constexpr bool is_specialized = false;
  static constexpr T min() { return T(); }
  static constexpr T max() { return T(); }
  static constexpr T lowest() { return T(); }
};
#define __GEMMVIZ_LIMITS(T, MIN, MAX, LOWEST, EPSILON, INFINITE, DIGITS)              \
  template <> struct numeric_limits<T> {                                              \
    static constexpr bool is_specialized = true, is_integer = __is_integral(T);       \
    static constexpr bool is_signed = __is_signed(T), has_infinity = !is_integer;     \
    static constexpr int digits = DIGITS;                                             \
    static constexpr T min() { return MIN; }                                          \
    static constexpr T max() { return MAX; }                                          \
    static constexpr T lowest() { return LOWEST; }                                    \
    static constexpr T epsilon() { return EPSILON; }                                  \
    static constexpr T infinity() { return INFINITE; }                                \
    static constexpr T quiet_NaN() { return is_integer ? (T)0 : (T)__builtin_nan(""); } \
  };
#define __GEMMVIZ_INTEGER_LIMITS(T, MIN, MAX) \
  __GEMMVIZ_LIMITS(T, MIN, MAX, MIN, 0, 0, int(8 * sizeof(T)) - __is_signed(T))
__GEMMVIZ_LIMITS(bool, false, true, false, false, false, 1)
__GEMMVIZ_INTEGER_LIMITS(char, CHAR_MIN, CHAR_MAX)
__GEMMVIZ_INTEGER_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX)
__GEMMVIZ_INTEGER_LIMITS(unsigned char, 0, UCHAR_MAX)
__GEMMVIZ_INTEGER_LIMITS(short, SHRT_MIN, SHRT_MAX)
__GEMMVIZ_INTEGER_LIMITS(unsigned short, 0, USHRT_MAX)
__GEMMVIZ_INTEGER_LIMITS(int, INT_MIN, INT_MAX)
__GEMMVIZ_INTEGER_LIMITS(unsigned int, 0, UINT_MAX)
__GEMMVIZ_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX)
__GEMMVIZ_INTEGER_LIMITS(unsigned long, 0, ULONG_MAX)
__GEMMVIZ_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX)
__GEMMVIZ_INTEGER_LIMITS(unsigned long long, 0, ULLONG_MAX)
__GEMMVIZ_LIMITS(float, FLT_MIN, FLT_MAX, -FLT_MAX, FLT_EPSILON, __builtin_inff(), 24)
__GEMMVIZ_LIMITS(double, DBL_MIN, DBL_MAX, -DBL_MAX, DBL_EPSILON, __builtin_inf(), 53)
}  // namespace std
