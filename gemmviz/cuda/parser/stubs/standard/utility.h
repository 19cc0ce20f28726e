// <utility>, <tuple>, <functional>, <initializer_list>, <numeric>, <bit> and <new>.
#pragma once

inline void* operator new(size_t, void* place) noexcept { return place; }

namespace std {
template <class T> constexpr remove_reference_t<T>&& move(T&& value) noexcept { return static_cast<remove_reference_t<T>&&>(value); }
template <class T> constexpr T&& forward(remove_reference_t<T>& value) noexcept { return static_cast<T&&>(value); }
template <class T> constexpr T&& forward(remove_reference_t<T>&& value) noexcept { return static_cast<T&&>(value); }
template <class T> constexpr void swap(T& a, T& b) { T kept = a; a = b; b = kept; }
template <class T, class U = T> constexpr T exchange(T& target, U&& value) { T old = target; target = value; return old; }
template <class T> constexpr const T& as_const(T& value) { return value; }
template <class T> constexpr T* addressof(T& value) { return __builtin_addressof(value); }
template <class To, class From> constexpr To bit_cast(const From& value) { return __builtin_bit_cast(To, value); }
template <class T> constexpr T* launder(T* pointer) { return pointer; }
template <class T> constexpr bool has_single_bit(T x) { return x && !(x & (x - 1)); }
template <class T> constexpr int popcount(T x) { return __builtin_popcountll(x); }
template <class T> constexpr int countr_zero(T x) { return __builtin_ctzll(x); }
template <class T> constexpr T bit_ceil(T x) { T power = 1; while (power < x) power <<= 1; return power; }
template <class T, class U> constexpr common_type_t<T, U> gcd(T a, U b) { return b ? gcd<U, T>(b, a % b) : a; }
template <class T, class U> constexpr common_type_t<T, U> lcm(T a, U b) { return a / gcd(a, b) * b; }
using ::memcpy; using ::memset; using ::memmove; using ::memcmp; using ::strlen; using ::strcmp; using ::strcpy; using ::strncmp;
using ::printf; using ::fprintf; using ::sprintf; using ::snprintf; using ::malloc; using ::calloc; using ::realloc; using ::free;
using ::aligned_alloc; using ::exit; using ::abort; using ::rand; using ::srand; using ::atoi; using ::atof; using ::strtol;
using ::getenv; using ::time; using ::clock; using ::FILE; using ::fopen; using ::fclose; using ::fread; using ::fwrite; using ::puts;
using ::putchar; using ::fflush; using ::system;

template <class T> class initializer_list {
  const T* first;
  size_t count;

 public:
  using value_type = T;
  constexpr initializer_list() : first(nullptr), count(0) {}
  constexpr size_t size() const { return count; }
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
};

template <class T, class U> struct pair {
  using first_type = T;
  using second_type = U;
  T first;
  U second;
  constexpr pair() = default;
  constexpr pair(const T& first, const U& second) : first(first), second(second) {}
  template <class V, class W> constexpr pair(const pair<V, W>& other) : first(other.first), second(other.second) {}
};
template <class T, class U> pair(T, U) -> pair<T, U>;
template <class T, class U> constexpr pair<decay_t<T>, decay_t<U>> make_pair(T&& first, U&& second) { return {first, second}; }

template <size_t i, class T> struct tuple_element;
template <class T> struct tuple_size;
template <class... T> struct tuple {};
template <class T, class... R> struct tuple<T, R...> {
  T head;
  tuple<R...> tail;
  constexpr tuple() = default;
  constexpr tuple(const T& head, const R&... tail) : head(head), tail(tail...) {}
  template <size_t i> constexpr auto& get() { if constexpr (i == 0) return head; else return tail.template get<i - 1>(); }
};
template <class... T> tuple(T...) -> tuple<T...>;
template <class T, class... R> struct tuple_element<0, tuple<T, R...>> { using type = T; };
template <size_t i, class T, class... R> struct tuple_element<i, tuple<T, R...>> : tuple_element<i - 1, tuple<R...>> {};
template <class T, class U> struct tuple_element<0, pair<T, U>> { using type = T; };
template <class T, class U> struct tuple_element<1, pair<T, U>> { using type = U; };
template <size_t i, class T> using tuple_element_t = typename tuple_element<i, T>::type;
template <class... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <class T, class U> struct tuple_size<pair<T, U>> : integral_constant<size_t, 2> {};
template <class T> inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t i, class... T> constexpr tuple_element_t<i, tuple<T...>>& get(tuple<T...>& values) {
  if constexpr (i == 0) return values.head; else return get<i - 1>(values.tail);
}
template <size_t i, class... T> constexpr const tuple_element_t<i, tuple<T...>>& get(const tuple<T...>& values) {
  if constexpr (i == 0) return values.head; else return get<i - 1>(values.tail);
}
template <size_t i, class T, class U> constexpr tuple_element_t<i, pair<T, U>>& get(pair<T, U>& values) {
  if constexpr (i == 0) return values.first; else return values.second;
}
template <size_t i, class T, class U> constexpr const tuple_element_t<i, pair<T, U>>& get(const pair<T, U>& values) {
  if constexpr (i == 0) return values.first; else return values.second;
}
template <class... T> constexpr tuple<decay_t<T>...> make_tuple(T&&... values) { return {values...}; }
template <class... T> tuple<T&...> tie(T&...);
template <class F, class T> decltype(auto) apply(F&&, T&&);

template <class T, T... values> struct integer_sequence {
  using value_type = T;
  static constexpr size_t size() { return sizeof...(values); }
};
template <size_t... values> using index_sequence = integer_sequence<size_t, values...>;
template <class T, T n> using make_integer_sequence = __make_integer_seq<integer_sequence, T, n>;
template <size_t n> using make_index_sequence = make_integer_sequence<size_t, n>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

#define __GEMMVIZ_OPERATION(NAME, EXPRESSION)                                                  \
  template <class T = void> struct NAME {                                                      \
    constexpr auto operator()(const T& a, const T& b) const { return EXPRESSION; }             \
  };                                                                                           \
  template <> struct NAME<void> {                                                              \
    template <class T, class U> constexpr auto operator()(const T& a, const U& b) const { return EXPRESSION; } \
  };
__GEMMVIZ_OPERATION(plus, a + b)
__GEMMVIZ_OPERATION(minus, a - b)
__GEMMVIZ_OPERATION(multiplies, a * b)
__GEMMVIZ_OPERATION(divides, a / b)
__GEMMVIZ_OPERATION(modulus, a % b)
__GEMMVIZ_OPERATION(less, a < b)
__GEMMVIZ_OPERATION(greater, a > b)
__GEMMVIZ_OPERATION(less_equal, a <= b)
__GEMMVIZ_OPERATION(greater_equal, a >= b)
__GEMMVIZ_OPERATION(equal_to, a == b)
template <class S> class function;
template <class R, class... A> class function<R(A...)> {
 public:
  function();
  function(nullptr_t);
  template <class F> function(F);
  R operator()(A...) const;
  explicit operator bool() const;
};
template <class T> struct hash { size_t operator()(const T&) const; };
template <class F, class... A> function<void()> bind(F&&, A&&...);
template <class T> T& ref(T&);
template <class T> const T& cref(const T&);
}  // namespace std
