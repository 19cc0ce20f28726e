// Matrix functions of a warp.
#pragma once

namespace nvcuda { namespace wmma {
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision { struct tf32 {}; struct u4 {}; struct s4 {}; struct b1 {}; }
template <class T> struct __element { using type = T; };
template <> struct __element<precision::tf32> { using type = float; };
template <> struct __element<precision::u4> { using type = int; };
template <> struct __element<precision::s4> { using type = int; };
template <> struct __element<precision::b1> { using type = int; };
template <class Use, int m, int n, int k> constexpr int __elements() {
  return std::is_same_v<Use, accumulator> ? m * n / 32 : (std::is_same_v<Use, matrix_a> ? m : n) * k / 32;
}
template <class Use, int m, int n, int k, class T, class Layout = void> class fragment {
 public:
  using element_type = typename __element<T>::type;
  static constexpr int num_elements = __elements<Use, m, n, k>(), num_storage_elements = num_elements;
  element_type x[num_elements];
};
template <class F, class T> void load_matrix_sync(F&, const T*, unsigned int);
template <class F, class T> void load_matrix_sync(F&, const T*, unsigned int, layout_t);
template <class F, class T> void store_matrix_sync(T*, const F&, unsigned int, layout_t);
template <class F, class T> void fill_fragment(F&, const T&);
template <class D, class A, class B, class C> void mma_sync(D&, const A&, const B&, const C&, bool = false);
float __float_to_tf32(float);
} }
