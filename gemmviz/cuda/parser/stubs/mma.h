// Matrix functions of a warp, in terms of mma.sync. Which lane holds which element is undocumented: here it is as recorded on an
// H100, where the fragments of mma.sync lie side by side (tests/data/h100-wmma-fragments.json).
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// D of m16n8, from the registers of A, B and C.
#define __GEMMVIZ_MMA(D, C, k, d, a, b) D __gemmviz_mma_m16n8k##k##_##d##_##a##_##b
__GEMMVIZ_MMA(float4, float, 16, f32, f16, f16)(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, float, float, float, float);
__GEMMVIZ_MMA(float4, float, 16, f32, bf16, bf16)(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, float, float, float, float);
__GEMMVIZ_MMA(float4, float, 4, f32, tf32, tf32)(unsigned, unsigned, unsigned, float, float, float, float);
__GEMMVIZ_MMA(uint2, unsigned, 16, f16, f16, f16)(unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned);
__GEMMVIZ_MMA(int4, int, 16, s32, s8, s8)(unsigned, unsigned, unsigned, int, int, int, int);
__GEMMVIZ_MMA(int4, int, 16, s32, u8, u8)(unsigned, unsigned, unsigned, int, int, int, int);

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

template <class Use> constexpr int __use = std::is_same_v<Use, matrix_a> ? 0 : std::is_same_v<Use, matrix_b> ? 1 : 2;

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment {
 public:
  using element_type = typename __element<T>::type;
  static constexpr int __of = __use<Use>, __m = m, __n = n, __k = k, __packed = 4 / sizeof(element_type);
  static constexpr int __different = (__of == 0 ? m * k : __of == 1 ? k * n : m * n) / 32;
  static constexpr int num_elements = __of != 2 && std::is_same_v<T, __half> ? 16 : __different;
  static constexpr int num_storage_elements = num_elements;
  static constexpr bool __is_row_major = std::is_same_v<Layout, row_major>;
  element_type x[num_elements];
};

inline unsigned __lane() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32u; }

// A fragment consists of those of mma.sync: of A with 16 rows, and of B with 8 columns. A matrix of 8 x 32 is the product of
// both transposed, so that A and B change places. Outer: rows of A, columns of B. Along: columns of A, rows of B.
template <class F> constexpr bool __is_wide = F::__of == 0 ? F::__m != 8 : F::__n == 32;
template <class F> constexpr int __tile = (__is_wide<F> ? 16 : 8) * F::__k / 32;  // elements of a lane
template <class F, int i> constexpr unsigned __outer =
    __is_wide<F> ? 8u * (i % __tile<F> / F::__packed % 2) + 16u * (i / __tile<F>) : 8u * (i / __tile<F>);
template <class F, int i> constexpr unsigned __along =
    (__is_wide<F> ? i % __tile<F> / F::__packed / 2 : i % __tile<F> / F::__packed) * 4u * F::__packed;

// Whether the elements that a lane holds side by side are neighbours in memory.
template <class F, bool is_row_major> constexpr bool __are_neighbours = is_row_major == (F::__of == 0 || (F::__of == 2 && F::__m != 8));
template <class F, int i, bool is_row_major> inline unsigned __offset(unsigned lane, unsigned pitch) {
  if constexpr (F::__of == 2) {
    unsigned outer = lane / 4u + 8u * (i % 4 / 2) + (F::__m == 16 ? 0u : 16u * (i / 4));
    unsigned along = lane % 4u * 2u + i % 2 + (F::__m == 16 ? 8u * (i / 4) : 0u);
    return __are_neighbours<F, is_row_major> ? outer * pitch + along : along * pitch + outer;
  } else {
    unsigned outer = lane / 4u + __outer<F, i>, along = lane % 4u * F::__packed + i % F::__packed + __along<F, i>;
    return __are_neighbours<F, is_row_major> ? outer * pitch + along : along * pitch + outer;
  }
}

// Neighbours in memory move together, as an H100 moves them: pairs of an accumulator, registers of A and B. Where the elements of
// a register are no neighbours, 16-bit elements are loaded in the order of memory and exchanged between lanes (movmatrix).
template <class T> struct __pair;
template <> struct __pair<__half> { using type = __half2; };
template <> struct __pair<float> { using type = float2; };
template <> struct __pair<int> { using type = int2; };
inline void __from_bits(__half& to, unsigned bits) { to = __ushort_as_half((unsigned short)bits); }
inline void __from_bits(__nv_bfloat16& to, unsigned bits) { to = __ushort_as_bfloat16((unsigned short)bits); }
inline void __from_bits(signed char& to, unsigned bits) { to = (signed char)(bits & 0xffu); }
inline void __from_bits(unsigned char& to, unsigned bits) { to = (unsigned char)(bits & 0xffu); }

template <int i, bool is_row_major, class F, class T> inline void __load(F& f, const T* from, unsigned lane, unsigned pitch) {
  if constexpr (i < F::num_elements) {
    constexpr bool are_neighbours = __are_neighbours<F, is_row_major>;
    constexpr bool is_register = F::__of != 2 && F::__packed > 1 && are_neighbours, is_exchanged = F::__of != 2 && F::__packed == 2;
    if constexpr (i >= F::__different) {
      f.x[i] = f.x[i % F::__different];
      __load<i + 1, is_row_major>(f, from, lane, pitch);
    } else if constexpr (F::__of == 2 && are_neighbours) {
      auto both = *reinterpret_cast<const typename __pair<T>::type*>(from + __offset<F, i, is_row_major>(lane, pitch));
      f.x[i] = both.x, f.x[i + 1] = both.y;
      __load<i + 2, is_row_major>(f, from, lane, pitch);
    } else if constexpr (is_register) {
      unsigned bits = *reinterpret_cast<const unsigned*>(from + __offset<F, i, is_row_major>(lane, pitch));
      __from_bits(f.x[i], bits);
      __from_bits(f.x[i + 1], bits >> 32 / F::__packed);
      if constexpr (F::__packed == 4) {
        __from_bits(f.x[i + 2], bits >> 16);
        __from_bits(f.x[i + 3], bits >> 24);
      }
      __load<i + F::__packed, is_row_major>(f, from, lane, pitch);
    } else if constexpr (is_exchanged) {
      const T* own = from + (__along<F, i> + lane / 4u) * pitch + __outer<F, i> + lane % 4u * 2u;
      unsigned bits = *reinterpret_cast<const unsigned*>(own), other = lane % 4u * 8u + lane / 8u, shift = lane / 4u % 2u * 16u;
      __from_bits(f.x[i], __shfl_sync(0xffffffffu, bits, (int)other) >> shift);
      __from_bits(f.x[i + 1], __shfl_sync(0xffffffffu, bits, (int)other + 4) >> shift);
      __load<i + 2, is_row_major>(f, from, lane, pitch);
    } else {
      f.x[i] = from[__offset<F, i, is_row_major>(lane, pitch)];
      __load<i + 1, is_row_major>(f, from, lane, pitch);
    }
  }
}
template <class F, class T> inline void load_matrix_sync(F& f, const T* from, unsigned pitch) {
  __load<0, F::__is_row_major>(f, from, __lane(), pitch);
}
template <class F, class T> inline void load_matrix_sync(F& f, const T* from, unsigned pitch, layout_t layout) {
  if (layout == mem_row_major) __load<0, true>(f, from, __lane(), pitch);
  else __load<0, false>(f, from, __lane(), pitch);
}
template <int i, bool is_row_major, class F, class T> inline void __store(T* to, const F& f, unsigned lane, unsigned pitch) {
  if constexpr (i < F::num_elements) {
    if constexpr (__are_neighbours<F, is_row_major>) {
      typename __pair<T>::type both;
      both.x = f.x[i], both.y = f.x[i + 1];
      *reinterpret_cast<typename __pair<T>::type*>(to + __offset<F, i, is_row_major>(lane, pitch)) = both;
    } else {
      to[__offset<F, i, is_row_major>(lane, pitch)] = f.x[i];
      to[__offset<F, i + 1, is_row_major>(lane, pitch)] = f.x[i + 1];
    }
    __store<i + 2, is_row_major>(to, f, lane, pitch);
  }
}
template <class F, class T> inline void store_matrix_sync(T* to, const F& f, unsigned pitch, layout_t layout) {
  if (layout == mem_row_major) __store<0, true>(to, f, __lane(), pitch);
  else __store<0, false>(to, f, __lane(), pitch);
}
template <int i, class F, class T> inline void __fill(F& f, const T& value) {
  if constexpr (i < F::num_elements) {
    f.x[i] = value;
    __fill<i + 1>(f, value);
  }
}
template <class F, class T> inline void fill_fragment(F& f, const T& value) { __fill<0>(f, value); }

// Register i of a fragment: its elements, packed.
inline unsigned __bits(__half value) { return __half_as_ushort(value); }
inline unsigned __bits(__nv_bfloat16 value) { return __bfloat16_as_ushort(value); }
inline unsigned __bits(float value) { return __float_as_uint(value); }
inline unsigned __bits(signed char value) { return (unsigned char)value; }
inline unsigned __bits(unsigned char value) { return value; }
template <int i, class F> inline unsigned __register(const F& f) {
  if constexpr (F::__packed == 1) return __bits(f.x[i]);
  else if constexpr (F::__packed == 2) return __bits(f.x[2 * i]) | __bits(f.x[2 * i + 1]) << 16;
  else return __bits(f.x[4 * i]) | __bits(f.x[4 * i + 1]) << 8 | __bits(f.x[4 * i + 2]) << 16 | __bits(f.x[4 * i + 3]) << 24;
}

// Part h of D, from the registers of the left and the right matrix that begin with a and b.
#define __GEMMVIZ_LEFT4 __register<a>(left), __register<a + 1>(left), __register<a + 2>(left), __register<a + 3>(left)
#define __GEMMVIZ_LEFT2 __register<a>(left), __register<a + 1>(left)
#define __GEMMVIZ_RIGHT2 __register<b>(right), __register<b + 1>(right)
#define __GEMMVIZ_ADDED c.x[4 * h], c.x[4 * h + 1], c.x[4 * h + 2], c.x[4 * h + 3]
#define __GEMMVIZ_RESULT(call)                                                                          \
  {                                                                                                     \
    auto r = call;                                                                                      \
    d.x[4 * h] = r.x, d.x[4 * h + 1] = r.y, d.x[4 * h + 2] = r.z, d.x[4 * h + 3] = r.w;                 \
  }
template <int h, int a, int b, class D, class L, class R, class C>
inline void __product(D& d, const L& left, const R& right, const C& c) {
  using T = typename L::element_type;
  if constexpr (std::is_same_v<typename D::element_type, __half>) {
    uint2 r = __gemmviz_mma_m16n8k16_f16_f16_f16(__GEMMVIZ_LEFT4, __GEMMVIZ_RIGHT2, __register<2 * h>(c), __register<2 * h + 1>(c));
    d.x[4 * h] = __ushort_as_half((unsigned short)r.x), d.x[4 * h + 1] = __ushort_as_half((unsigned short)(r.x >> 16));
    d.x[4 * h + 2] = __ushort_as_half((unsigned short)r.y), d.x[4 * h + 3] = __ushort_as_half((unsigned short)(r.y >> 16));
  } else if constexpr (std::is_same_v<T, __half>)
    __GEMMVIZ_RESULT(__gemmviz_mma_m16n8k16_f32_f16_f16(__GEMMVIZ_LEFT4, __GEMMVIZ_RIGHT2, __GEMMVIZ_ADDED))
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    __GEMMVIZ_RESULT(__gemmviz_mma_m16n8k16_f32_bf16_bf16(__GEMMVIZ_LEFT4, __GEMMVIZ_RIGHT2, __GEMMVIZ_ADDED))
  else if constexpr (std::is_same_v<T, float>) {  // an H100 multiplies these in two steps
    auto half = __gemmviz_mma_m16n8k4_f32_tf32_tf32(__GEMMVIZ_LEFT2, __register<b>(right), __GEMMVIZ_ADDED);
    __GEMMVIZ_RESULT(__gemmviz_mma_m16n8k4_f32_tf32_tf32(__register<a + 2>(left), __register<a + 3>(left), __register<b + 1>(right),
                                                         half.x, half.y, half.z, half.w))
  }
  else if constexpr (std::is_same_v<T, signed char>)
    __GEMMVIZ_RESULT(__gemmviz_mma_m16n8k16_s32_s8_s8(__GEMMVIZ_LEFT2, __register<b>(right), __GEMMVIZ_ADDED))
  else
    __GEMMVIZ_RESULT(__gemmviz_mma_m16n8k16_s32_u8_u8(__GEMMVIZ_LEFT2, __register<b>(right), __GEMMVIZ_ADDED))
}
template <class D, class A, class B, class C> void bmma_sync(D&, const A&, const B&, const C&);
template <class D, class A, class B, class C> inline void mma_sync(D& d, const A& a, const B& b, const C& c, bool = false) {
  constexpr int left = 16 * A::__k / 32 / A::__packed, right = left / 2;  // registers of a part
  if constexpr (D::__m == 16) {
    __product<0, 0, 0>(d, a, b, c);
    __product<1, 0, right>(d, a, b, c);
  } else if constexpr (D::__m == 32) {
    __product<0, 0, 0>(d, a, b, c);
    __product<1, left, 0>(d, a, b, c);
  } else {
    __product<0, 0, 0>(d, b, a, c);
    __product<1, left, 0>(d, b, a, c);
  }
}
inline float __float_to_tf32(float value) { return __uint_as_float((__float_as_uint(value) + 0x1000u) & ~0x1fffu); }
} }
