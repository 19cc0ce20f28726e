// CUDA's mathematical functions: NAMEf for float, NAME for float, double and integers, which become double.
#pragma once

#define __GEMMVIZ_MATH1(NAME)                         \
  extern "C" double NAME(double);                     \
  extern "C" float NAME##f(float);                    \
  float NAME(float);                                  \
  template <std::integral T> double NAME(T x) { return NAME(double(x)); }
#define __GEMMVIZ_MATH2(NAME)                         \
  extern "C" double NAME(double, double);             \
  extern "C" float NAME##f(float, float);             \
  float NAME(float, float);                           \
  template <class T, class U>                         \
    requires(std::is_arithmetic_v<T> && std::is_arithmetic_v<U> && !std::is_same_v<T, U>) || (std::integral<T> && std::is_same_v<T, U>) \
  double NAME(T x, U y) { return NAME(double(x), double(y)); }
__GEMMVIZ_MATH1(acos)
__GEMMVIZ_MATH1(acosh)
__GEMMVIZ_MATH1(asin)
__GEMMVIZ_MATH1(asinh)
__GEMMVIZ_MATH1(atan)
__GEMMVIZ_MATH1(atanh)
__GEMMVIZ_MATH1(cbrt)
__GEMMVIZ_MATH1(ceil)
__GEMMVIZ_MATH1(cos)
__GEMMVIZ_MATH1(cosh)
__GEMMVIZ_MATH1(cospi)
__GEMMVIZ_MATH1(erf)
__GEMMVIZ_MATH1(erfc)
__GEMMVIZ_MATH1(erfcinv)
__GEMMVIZ_MATH1(erfcx)
__GEMMVIZ_MATH1(erfinv)
__GEMMVIZ_MATH1(exp)
__GEMMVIZ_MATH1(exp10)
__GEMMVIZ_MATH1(exp2)
__GEMMVIZ_MATH1(expm1)
__GEMMVIZ_MATH1(fabs)
__GEMMVIZ_MATH1(floor)
__GEMMVIZ_MATH1(j0)
__GEMMVIZ_MATH1(j1)
__GEMMVIZ_MATH1(lgamma)
__GEMMVIZ_MATH1(log)
__GEMMVIZ_MATH1(log10)
__GEMMVIZ_MATH1(log1p)
__GEMMVIZ_MATH1(log2)
__GEMMVIZ_MATH1(logb)
__GEMMVIZ_MATH1(nearbyint)
__GEMMVIZ_MATH1(normcdf)
__GEMMVIZ_MATH1(normcdfinv)
__GEMMVIZ_MATH1(rcbrt)
__GEMMVIZ_MATH1(rint)
__GEMMVIZ_MATH1(round)
__GEMMVIZ_MATH1(rsqrt)
__GEMMVIZ_MATH1(sin)
__GEMMVIZ_MATH1(sinh)
__GEMMVIZ_MATH1(sinpi)
__GEMMVIZ_MATH1(sqrt)
__GEMMVIZ_MATH1(tan)
__GEMMVIZ_MATH1(tanh)
__GEMMVIZ_MATH1(tgamma)
__GEMMVIZ_MATH1(trunc)
__GEMMVIZ_MATH2(atan2)
__GEMMVIZ_MATH2(copysign)
__GEMMVIZ_MATH2(fdim)
__GEMMVIZ_MATH2(fmax)
__GEMMVIZ_MATH2(fmin)
__GEMMVIZ_MATH2(fmod)
__GEMMVIZ_MATH2(hypot)
__GEMMVIZ_MATH2(nextafter)
__GEMMVIZ_MATH2(remainder)
__GEMMVIZ_MATH2(rhypot)

extern "C" {
double pow(double, double);
float powf(float, float);
double fma(double, double, double);
float fmaf(float, float, float);
float fdividef(float, float);
float fdivide(float, float);
float norm3df(float, float, float);
float rnorm3df(float, float, float);
float norm4df(float, float, float, float);
float ldexpf(float, int);
double ldexp(double, int);
float frexpf(float, int*);
double frexp(double, int*);
float modff(float, float*);
double modf(double, double*);
float scalbnf(float, int);
double scalbn(double, int);
int ilogbf(float);
int ilogb(double);
long lrintf(float);
long lrint(double);
long lroundf(float);
long lround(double);
long long llrintf(float);
long long llrint(double);
long long llroundf(float);
long long llround(double);
void sincosf(float, float*, float*);
void sincos(double, double*, double*);
void sincospif(float, float*, float*);
void sincospi(double, double*, double*);
float nanf(const char*);
double nan(const char*);
float nexttowardf(float, double);
long labs(long);
long long llabs(long long);
}
float pow(float, float);
float pow(float, int);
double pow(double, int);
template <std::integral T, std::integral U> double pow(T x, U y) { return pow(double(x), double(y)); }
template <std::integral T> double pow(T x, double y) { return pow(double(x), y); }
template <std::integral T> double pow(T x, float y) { return pow(double(x), double(y)); }
inline double pow(double x, float y) { return pow(x, double(y)); }
inline double pow(float x, double y) { return pow(double(x), y); }
float fma(float, float, float);
float ldexp(float, int);
float frexp(float, int*);
float modf(float, float*);
void sincos(float, float*, float*);
long lround(float);
int abs(int);
long abs(long);
long long abs(long long);
float abs(float);
double abs(double);
bool isnan(float);
bool isnan(double);
bool isinf(float);
bool isinf(double);
bool isfinite(float);
bool isfinite(double);
bool signbit(float);
bool signbit(double);

#define __GEMMVIZ_EXTREMES(R, T, U)                                   \
  constexpr R min(T a, U b) { return (R)b < (R)a ? (R)b : (R)a; }     \
  constexpr R max(T a, U b) { return (R)a < (R)b ? (R)b : (R)a; }
__GEMMVIZ_EXTREMES(int, int, int)
__GEMMVIZ_EXTREMES(unsigned int, unsigned int, unsigned int)
__GEMMVIZ_EXTREMES(unsigned int, int, unsigned int)
__GEMMVIZ_EXTREMES(unsigned int, unsigned int, int)
__GEMMVIZ_EXTREMES(long, long, long)
__GEMMVIZ_EXTREMES(unsigned long, unsigned long, unsigned long)
__GEMMVIZ_EXTREMES(unsigned long, long, unsigned long)
__GEMMVIZ_EXTREMES(unsigned long, unsigned long, long)
__GEMMVIZ_EXTREMES(long long, long long, long long)
__GEMMVIZ_EXTREMES(unsigned long long, unsigned long long, unsigned long long)
__GEMMVIZ_EXTREMES(unsigned long long, long long, unsigned long long)
__GEMMVIZ_EXTREMES(unsigned long long, unsigned long long, long long)
__GEMMVIZ_EXTREMES(float, float, float)
__GEMMVIZ_EXTREMES(double, double, double)
__GEMMVIZ_EXTREMES(double, float, double)
__GEMMVIZ_EXTREMES(double, double, float)
extern "C" unsigned int umin(unsigned int, unsigned int);
extern "C" unsigned int umax(unsigned int, unsigned int);
extern "C" long long llmin(long long, long long);
extern "C" long long llmax(long long, long long);

// Fast and rounded arithmetic.
#define __GEMMVIZ_ROUNDED(NAME, T, ...) \
  extern "C" T NAME##_rn(__VA_ARGS__);  \
  extern "C" T NAME##_rz(__VA_ARGS__);  \
  extern "C" T NAME##_ru(__VA_ARGS__);  \
  extern "C" T NAME##_rd(__VA_ARGS__);
__GEMMVIZ_ROUNDED(__fadd, float, float, float)
__GEMMVIZ_ROUNDED(__fsub, float, float, float)
__GEMMVIZ_ROUNDED(__fmul, float, float, float)
__GEMMVIZ_ROUNDED(__fdiv, float, float, float)
__GEMMVIZ_ROUNDED(__fmaf, float, float, float, float)
__GEMMVIZ_ROUNDED(__frcp, float, float)
__GEMMVIZ_ROUNDED(__fsqrt, float, float)
__GEMMVIZ_ROUNDED(__dadd, double, double, double)
__GEMMVIZ_ROUNDED(__dsub, double, double, double)
__GEMMVIZ_ROUNDED(__dmul, double, double, double)
__GEMMVIZ_ROUNDED(__ddiv, double, double, double)
__GEMMVIZ_ROUNDED(__fma, double, double, double, double)
__GEMMVIZ_ROUNDED(__drcp, double, double)
__GEMMVIZ_ROUNDED(__dsqrt, double, double)
extern "C" {
float __frsqrt_rn(float);
float __fdividef(float, float);
float __expf(float);
float __exp10f(float);
float __logf(float);
float __log2f(float);
float __log10f(float);
float __powf(float, float);
float __sinf(float);
float __cosf(float);
float __tanf(float);
float __tanhf(float);
float __saturatef(float);
void __sincosf(float, float*, float*);
}

namespace std {
using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh; using ::cbrt; using ::ceil;
using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs;
using ::fabsf; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmaxf; using ::fmin; using ::fminf; using ::fmod;
using ::fmaf; using ::fmodf; using ::expf; using ::logf; using ::powf; using ::sqrtf; using ::ceilf; using ::floorf; using ::roundf;
using ::tanhf; using ::sinf; using ::cosf; using ::log2f; using ::exp2f; using ::truncf; using ::isnan; using ::isinf; using ::isfinite;
using ::signbit; using ::abs; using ::frexp; using ::hypot; using ::labs; using ::ldexp; using ::lgamma; using ::llabs; using ::log;
using ::log10; using ::log1p; using ::log2; using ::lrint; using ::lround; using ::llround; using ::modf; using ::nearbyint; using ::pow;
using ::remainder; using ::rint; using ::round; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::tgamma;
using ::trunc;
}  // namespace std
