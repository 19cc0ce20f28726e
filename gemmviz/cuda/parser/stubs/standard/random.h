// <random>, and <complex> as far as a type goes.
#pragma once

namespace std {
class random_device {
 public:
  unsigned int operator()();
};
class mt19937 {
 public:
  template <class... A> mt19937(A&&...);
  unsigned int operator()();
  void seed(unsigned int);
};
using mt19937_64 = mt19937;
using default_random_engine = mt19937;
using minstd_rand = mt19937;
#define __GEMMVIZ_DISTRIBUTION(NAME, T)   \
  template <class R = T> class NAME {     \
   public:                                \
    template <class... A> NAME(A...);     \
    template <class G> R operator()(G&);  \
  };
__GEMMVIZ_DISTRIBUTION(uniform_real_distribution, double)
__GEMMVIZ_DISTRIBUTION(uniform_int_distribution, int)
__GEMMVIZ_DISTRIBUTION(normal_distribution, double)
__GEMMVIZ_DISTRIBUTION(bernoulli_distribution, bool)
__GEMMVIZ_DISTRIBUTION(exponential_distribution, double)
template <class T> class complex {
  T re, im;

 public:
  constexpr complex(T re = 0, T im = 0) : re(re), im(im) {}
  constexpr T real() const { return re; }
  constexpr T imag() const { return im; }
};
}  // namespace std
