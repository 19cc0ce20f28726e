// What CUDA C provides and C++ does not, for a compiler of the host: the functions that random programs call.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
using std::abs; using std::ceil; using std::floor; using std::fma; using std::fmod; using std::fdim; using std::nearbyint;
using std::remainder; using std::rint; using std::round; using std::sqrt; using std::trunc; using std::fabs; using std::isfinite;
using std::isinf; using std::isnan; using std::signbit; using std::lrint; using std::llrint; using std::lround; using std::llround;

// Of two zeros the negative one is the smaller; NaN loses (PTX ISA, min and max).
template <typename T> static T smaller(T a, T b) { return a == b ? (std::signbit(a) ? a : b) : a < b || b != b ? a : b; }
template <typename T> static T larger(T a, T b) { return a == b ? (std::signbit(a) ? b : a) : a > b || b != b ? a : b; }
static float cuda_fmin(float a, float b) { return smaller(a, b); }
static float cuda_fmax(float a, float b) { return larger(a, b); }
static double cuda_fmin(double a, double b) { return smaller(a, b); }
static double cuda_fmax(double a, double b) { return larger(a, b); }
#define fmin cuda_fmin
#define fmax cuda_fmax
#define fminf cuda_fmin
#define fmaxf cuda_fmax
static float min(float a, float b) { return smaller(a, b); }
static float max(float a, float b) { return larger(a, b); }
static double min(double a, double b) { return smaller(a, b); }
static double max(double a, double b) { return larger(a, b); }
#define OF_TYPE(T) \
    static T min(T a, T b) { return a < b ? a : b; } \
    static T max(T a, T b) { return a < b ? b : a; }
OF_TYPE(int) OF_TYPE(unsigned) OF_TYPE(long long) OF_TYPE(unsigned long long)
#define OF_TYPES(T, U, W) \
    static W min(T a, U b) { return min((W)a, (W)b); } static W min(U a, T b) { return min((W)a, (W)b); } \
    static W max(T a, U b) { return max((W)a, (W)b); } static W max(U a, T b) { return max((W)a, (W)b); }
OF_TYPES(int, unsigned, unsigned) OF_TYPES(long long, unsigned long long, unsigned long long) OF_TYPES(float, double, double)

// Conversions clamp to the nearest type of 32 or 64 bits, which is then cut; NaN becomes 0 or the highest bit (PTX ISA, cvt).
template <typename W, typename F> static W clamped(F x, W low, W high, W none) {
    if (x != x) return none;
    return x <= (F)low ? low : x >= (F)high ? high : (W)x;
}
template <typename T, typename F> static T cut(F x) {
    const bool is_single = sizeof(F) == 4, is_signed = T(-1) < T(0);
    if (sizeof(T) == 8 && is_signed) return (T)clamped<long long>(x, INT64_MIN, INT64_MAX, INT64_MIN);
    if (sizeof(T) == 8) return (T)clamped<unsigned long long>(x, 0, UINT64_MAX, 1ull << 63);
    if (is_signed) return (T)clamped<int>(x, INT32_MIN, INT32_MAX, is_single ? 0 : INT32_MIN);
    return (T)clamped<unsigned>(x, 0, UINT32_MAX, is_single ? 0 : 1u << 31);
}
#define SHUFFLED(value, lane) value(lane)
#define ON_HOST

template <typename To, typename From> static To bits_as(From x) { To y; static_assert(sizeof x == sizeof y, ""); memcpy(&y, &x, sizeof x); return y; }
static unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
static float __int_as_float(int x) { return bits_as<float>(x); }
static double __longlong_as_double(unsigned long long x) { return bits_as<double>(x); }
static long long __double_as_longlong(double x) { return bits_as<long long>(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static int __ffs(int x) { return __builtin_ffs(x); }
static int __ffsll(long long x) { return __builtin_ffsll(x); }
static unsigned long long __brevll(unsigned long long x) { unsigned long long y = 0; for (int i = 0; i < 64; i++) y |= (x >> i & 1) << (63 - i); return y; }
static unsigned __brev(unsigned x) { return __brevll(x) >> 32; }
static int __mulhi(int x, int y) { return (long long)x * y >> 32; }
static unsigned __umulhi(unsigned x, unsigned y) { return (unsigned long long)x * y >> 32; }
static int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
static unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
