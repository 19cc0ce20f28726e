// <algorithm> and <numeric>. min, max and clamp are complete: kernels and the sizes of launches use them.
#pragma once

namespace std {
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, class C> constexpr const T& min(const T& a, const T& b, C less) { return less(b, a) ? b : a; }
template <class T, class C> constexpr const T& max(const T& a, const T& b, C less) { return less(a, b) ? b : a; }
template <class T> constexpr T min(initializer_list<T> values) {
  T least = *values.begin();
  for (const T& each : values) least = each < least ? each : least;
  return least;
}
template <class T> constexpr T max(initializer_list<T> values) {
  T most = *values.begin();
  for (const T& each : values) most = most < each ? each : most;
  return most;
}
template <class T> constexpr const T& clamp(const T& x, const T& low, const T& high) { return x < low ? low : high < x ? high : x; }
template <class T> constexpr pair<T, T> minmax(const T& a, const T& b) { return b < a ? pair<T, T>(b, a) : pair<T, T>(a, b); }

#define __GEMMVIZ_ALGORITHM(NAME) template <class I, class... A> I NAME(I, A&&...);
__GEMMVIZ_ALGORITHM(fill_n)
__GEMMVIZ_ALGORITHM(generate_n)
__GEMMVIZ_ALGORITHM(find)
__GEMMVIZ_ALGORITHM(find_if)
__GEMMVIZ_ALGORITHM(lower_bound)
__GEMMVIZ_ALGORITHM(upper_bound)
__GEMMVIZ_ALGORITHM(max_element)
__GEMMVIZ_ALGORITHM(min_element)
__GEMMVIZ_ALGORITHM(remove)
__GEMMVIZ_ALGORITHM(remove_if)
__GEMMVIZ_ALGORITHM(unique)
__GEMMVIZ_ALGORITHM(partial_sum)
template <class I, class O, class... A> O copy(I, I, O);
template <class I, class O> O copy_n(I, size_t, O);
template <class I, class... A> auto transform(I, A&&...) -> I;
template <class I, class T, class... A> T accumulate(I, I, T, A&&...);
template <class I, class T, class... A> T reduce(I, I, T, A&&...);
template <class I, class J, class T, class... A> T inner_product(I, I, J, T, A&&...);
template <class I, class T> long count(I, I, const T&);
template <class I, class F> long count_if(I, I, F);
template <class I> long distance(I, I);
template <class I> I next(I, long = 1);
__GEMMVIZ_ANY(fill, void)
__GEMMVIZ_ANY(generate, void)
__GEMMVIZ_ANY(iota, void)
__GEMMVIZ_ANY(sort, void)
__GEMMVIZ_ANY(stable_sort, void)
__GEMMVIZ_ANY(nth_element, void)
__GEMMVIZ_ANY(partial_sort, void)
__GEMMVIZ_ANY(shuffle, void)
__GEMMVIZ_ANY(random_shuffle, void)
__GEMMVIZ_ANY(reverse, void)
__GEMMVIZ_ANY(for_each, void)
__GEMMVIZ_ANY(replace, void)
__GEMMVIZ_ANY(equal, bool)
__GEMMVIZ_ANY(all_of, bool)
__GEMMVIZ_ANY(any_of, bool)
__GEMMVIZ_ANY(none_of, bool)
__GEMMVIZ_ANY(is_sorted, bool)
__GEMMVIZ_ANY(binary_search, bool)
}  // namespace std
