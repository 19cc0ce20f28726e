// Execution and memory spaces, and other attributes of CUDA C++.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed)) __attribute__((device))
#define __grid_constant__
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __host_device__ __attribute__((host)) __attribute__((device))
#define __nv_pure__
#define __restrict __restrict__
#define __CUDA_ALIGN__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#define CUDART_CB
#define CUDA_CALLBACK
#define __stdcall
#define __builtin_expect(value, ...) (value)
#define __builtin_assume_aligned(pointer, ...) (pointer)
#define __builtin_assume(condition) ((void)0)
#define __builtin_unreachable() ((void)0)
#define __cdecl
#define __declspec(x)

// nvcc takes alignas at places where clang takes an attribute only.
template <class T> constexpr unsigned long __gemmviz_alignment() { return alignof(T); }
template <unsigned long bytes> constexpr unsigned long __gemmviz_alignment() { return bytes; }
#define alignas(...) __attribute__((aligned(__gemmviz_alignment<__VA_ARGS__>())))
