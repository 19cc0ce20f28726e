// CUDA's mathematical functions: NAMEf for float, NAME for float, double and integers, which become double. Those of the table
// in cuda/functions.py are declared from it.
#pragma once

__GEMMVIZ_FUNCTIONS

#define __GEMMVIZ_MATH1(NAME)                         \
  extern "C" double NAME(double);                     \
  extern "C" float NAME##f(float);                    \
  float NAME(float);                                  \
  template <std::integral T> double NAME(T x) { return NAME(double(x)); }
__GEMMVIZ_MATH1(erfcinv)
__GEMMVIZ_MATH1(erfcx)
__GEMMVIZ_MATH1(erfinv)
__GEMMVIZ_MATH1(j0)
__GEMMVIZ_MATH1(j1)
__GEMMVIZ_MATH1(lgamma)
__GEMMVIZ_MATH1(logb)
__GEMMVIZ_MATH1(normcdfinv)
__GEMMVIZ_MATH1(tgamma)

extern "C" {
double pow(double, double);
float fdividef(float, float);
float fdivide(float, float);
float norm3df(float, float, float);
float rnorm3df(float, float, float);
float norm4df(float, float, float, float);
float frexpf(float, int*);
double frexp(double, int*);
float modff(float, float*);
double modf(double, double*);
int ilogbf(float);
int ilogb(double);
void sincosf(float, float*, float*);
void sincos(double, double*, double*);
void sincospif(float, float*, float*);
void sincospi(double, double*, double*);
float nanf(const char*);
double nan(const char*);
float nexttowardf(float, double);
}
float pow(float, float);
float pow(float, int);
double pow(double, int);
template <std::integral T, std::integral U> double pow(T x, U y) { return pow(double(x), double(y)); }
template <std::integral T> double pow(T x, double y) { return pow(double(x), y); }
template <std::integral T> double pow(T x, float y) { return pow(double(x), double(y)); }
inline double pow(double x, float y) { return pow(x, double(y)); }
inline double pow(float x, double y) { return pow(double(x), y); }
float frexp(float, int*);
float modf(float, float*);
void sincos(float, float*, float*);
int abs(int);
long abs(long);
long long abs(long long);
float abs(float);
double abs(double);

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

extern "C" {
float __tanhf(float);
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
