// <type_traits> and the concepts that kernels use. Types in device code depend on them, so they are complete.
#pragma once

namespace std {
using ::size_t; using ::ptrdiff_t; using ::intptr_t; using ::uintptr_t; using ::time_t; using ::clock_t;
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};

template <class T, T v> struct integral_constant {
  static constexpr T value = v;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const noexcept { return v; }
  constexpr T operator()() const noexcept { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <class T> struct type_identity { using type = T; };
template <class T> using type_identity_t = T;
template <class...> using void_t = void;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool b, class T, class F> using conditional_t = typename conditional<b, T, F>::type;

template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> struct remove_cv { using type = typename remove_volatile<typename remove_const<T>::type>::type; };
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T&> { using type = T; };
template <class T> struct remove_reference<T&&> { using type = T; };
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T*> { using type = T; };
template <class T> struct remove_pointer<T* const> { using type = T; };
template <class T> struct remove_extent { using type = T; };
template <class T> struct remove_extent<T[]> { using type = T; };
template <class T, size_t n> struct remove_extent<T[n]> { using type = T; };
template <class T> struct add_const { using type = const T; };
template <class T> struct add_pointer { using type = typename remove_reference<T>::type*; };
template <class T> struct add_lvalue_reference { using type = T&; };
template <> struct add_lvalue_reference<void> { using type = void; };
template <class T> struct add_rvalue_reference { using type = T&&; };
template <> struct add_rvalue_reference<void> { using type = void; };
template <class T> struct remove_cvref { using type = typename remove_cv<typename remove_reference<T>::type>::type; };
template <class T> struct decay { using type = __decay(T); };
template <class T> struct underlying_type { using type = __underlying_type(T); };
template <class T> struct make_signed { using type = __make_signed(T); };
template <class T> struct make_unsigned { using type = __make_unsigned(T); };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> using add_const_t = typename add_const<T>::type;
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <class T> using add_lvalue_reference_t = typename add_lvalue_reference<T>::type;
template <class T> using decay_t = typename decay<T>::type;
template <class T> using underlying_type_t = typename underlying_type<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> typename add_rvalue_reference<T>::type declval() noexcept;

template <class T, class U> inline constexpr bool is_same_v = __is_same(T, U);
template <class T, class U> struct is_same : bool_constant<is_same_v<T, U>> {};
#define __GEMMVIZ_TRAIT(NAME, ...)                             \
  template <class T> inline constexpr bool NAME##_v = __VA_ARGS__; \
  template <class T> struct NAME : bool_constant<NAME##_v<T>> {};
__GEMMVIZ_TRAIT(is_void, __is_void(T))
__GEMMVIZ_TRAIT(is_integral, __is_integral(T))
__GEMMVIZ_TRAIT(is_floating_point, __is_floating_point(T))
__GEMMVIZ_TRAIT(is_arithmetic, __is_arithmetic(T))
__GEMMVIZ_TRAIT(is_signed, __is_signed(T))
__GEMMVIZ_TRAIT(is_unsigned, __is_unsigned(T))
__GEMMVIZ_TRAIT(is_const, __is_const(T))
__GEMMVIZ_TRAIT(is_volatile, __is_volatile(T))
__GEMMVIZ_TRAIT(is_array, __is_array(T))
__GEMMVIZ_TRAIT(is_pointer, __is_pointer(T))
__GEMMVIZ_TRAIT(is_reference, __is_reference(T))
__GEMMVIZ_TRAIT(is_lvalue_reference, __is_lvalue_reference(T))
__GEMMVIZ_TRAIT(is_rvalue_reference, __is_rvalue_reference(T))
__GEMMVIZ_TRAIT(is_enum, __is_enum(T))
__GEMMVIZ_TRAIT(is_class, __is_class(T))
__GEMMVIZ_TRAIT(is_union, __is_union(T))
__GEMMVIZ_TRAIT(is_function, __is_function(T))
__GEMMVIZ_TRAIT(is_scalar, __is_scalar(T))
__GEMMVIZ_TRAIT(is_empty, __is_empty(T))
__GEMMVIZ_TRAIT(is_trivial, __is_trivial(T))
__GEMMVIZ_TRAIT(is_pod, __is_pod(T))
__GEMMVIZ_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
__GEMMVIZ_TRAIT(is_standard_layout, __is_standard_layout(T))
__GEMMVIZ_TRAIT(is_default_constructible, __is_constructible(T))
template <class B, class D> inline constexpr bool is_base_of_v = __is_base_of(B, D);
template <class B, class D> struct is_base_of : bool_constant<is_base_of_v<B, D>> {};
template <class F, class T> inline constexpr bool is_convertible_v = __is_convertible_to(F, T);
template <class F, class T> struct is_convertible : bool_constant<is_convertible_v<F, T>> {};
template <class T, class... A> inline constexpr bool is_constructible_v = __is_constructible(T, A...);
template <class T, class... A> struct is_constructible : bool_constant<is_constructible_v<T, A...>> {};
template <class... B> struct conjunction : bool_constant<(... && B::value)> {};
template <class... B> struct disjunction : bool_constant<(... || B::value)> {};
template <class B> struct negation : bool_constant<!B::value> {};
template <class... B> inline constexpr bool conjunction_v = conjunction<B...>::value;
template <class... B> inline constexpr bool disjunction_v = disjunction<B...>::value;
template <class B> inline constexpr bool negation_v = !B::value;
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T> struct rank : integral_constant<size_t, __array_rank(T)> {};
template <class... T> struct common_type {};
template <class T> struct common_type<T> { using type = decay_t<T>; };
template <class T, class U, class... R> struct common_type<T, U, R...>
    : common_type<decay_t<decltype(false ? declval<T>() : declval<U>())>, R...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;
template <class F, class... A> struct invoke_result { using type = decltype(declval<F>()(declval<A>()...)); };
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <class F> struct result_of;
template <class F, class... A> struct result_of<F(A...)> : invoke_result<F, A...> {};
constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

template <class T, class U> concept same_as = is_same_v<T, U>;
template <class T> concept integral = is_integral_v<T>;
template <class T> concept signed_integral = integral<T> && is_signed_v<T>;
template <class T> concept unsigned_integral = integral<T> && !is_signed_v<T>;
template <class T> concept floating_point = is_floating_point_v<T>;
template <class F, class T> concept convertible_to = is_convertible_v<F, T>;
}  // namespace std
