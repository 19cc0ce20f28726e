// <chrono> and <ratio>.
#pragma once

namespace std {
template <long n, long d = 1> struct ratio { static constexpr long num = n, den = d; };
using nano = ratio<1, 1000000000>;
using micro = ratio<1, 1000000>;
using milli = ratio<1, 1000>;
namespace chrono {
template <class R, class P = ratio<1>> class duration {
 public:
  using rep = R;
  using period = P;
  duration();
  template <class T> explicit duration(T);
  template <class S, class Q> duration(const duration<S, Q>&);
  R count() const;
  duration& operator+=(const duration&);
};
template <class R, class P, class S, class Q> duration<double, P> operator+(duration<R, P>, duration<S, Q>);
template <class R, class P, class S, class Q> duration<double, P> operator-(duration<R, P>, duration<S, Q>);
template <class R, class P, class T> duration<R, P> operator*(duration<R, P>, T);
template <class R, class P, class T> duration<R, P> operator/(duration<R, P>, T);
using nanoseconds = duration<long, nano>;
using microseconds = duration<long, micro>;
using milliseconds = duration<long, milli>;
using seconds = duration<long>;
using minutes = duration<long, ratio<60>>;
template <class C, class D = nanoseconds> class time_point {
 public:
  D time_since_epoch() const;
};
template <class C, class D> D operator-(time_point<C, D>, time_point<C, D>);
template <class C, class D, class E> time_point<C, D> operator+(time_point<C, D>, E);
#define __GEMMVIZ_CLOCK(NAME)                      \
  struct NAME {                                    \
    using duration = nanoseconds;                  \
    using time_point = chrono::time_point<NAME>;   \
    static time_point now();                       \
    static long to_time_t(time_point);             \
  };
__GEMMVIZ_CLOCK(system_clock)
__GEMMVIZ_CLOCK(steady_clock)
__GEMMVIZ_CLOCK(high_resolution_clock)
template <class D, class S> D duration_cast(S);
}  // namespace chrono
inline namespace literals {
inline namespace chrono_literals {
chrono::milliseconds operator""ms(unsigned long long);
chrono::seconds operator""s(unsigned long long);
}
}
}  // namespace std
