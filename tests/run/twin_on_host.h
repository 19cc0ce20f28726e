// Just enough CUDA for a compiler of the host to run an instrumented twin, one thread after the other.
#include <stddef.h>
#include "cuda_on_host.h"
#define __global__
#define __device__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __restrict__
#define __launch_bounds__(...)
struct uint3 { unsigned int x, y, z; };
struct dim3 { unsigned int x, y, z; dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {} };
struct int2 { int x, y; }; struct int3 { int x, y, z; }; struct int4 { int x, y, z, w; };
struct uint2 { unsigned int x, y; }; struct uint4 { unsigned int x, y, z, w; };
struct float2 { float x, y; }; struct float3 { float x, y, z; }; struct alignas(16) float4 { float x, y, z, w; };
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct double2 { double x, y; };
static uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static unsigned int __funnelshift_l(unsigned int, unsigned int a, int by) { return a << by | a >> (32 - by); }
static char* gv_arena_start; static size_t gv_arena_size;
static bool __isGlobal(const void* p) { return (char*)p >= gv_arena_start && (char*)p < gv_arena_start + gv_arena_size; }
static bool __isShared(const void* p)
{
    char here, *at = (char*)p;
    return !__isGlobal(p) && (at < &here - (1 << 20) || at > &here + (1 << 20)); // else it is on the stack
}
static size_t __cvta_generic_to_shared(const void* p) { return (size_t)p & 0x7fffffff; }
static char gv_any_shared;
static void* __cvta_shared_to_generic(size_t a) { return (void*)(((size_t)&gv_any_shared & ~(size_t)0x7fffffff) | a); }
static void __threadfence() {}
static void __syncthreads() {}
static void __syncwarp() {}
#define RUN(call) \
    for (unsigned int z = 0; z < gridDim.z; ++z) for (unsigned int y = 0; y < gridDim.y; ++y) for (unsigned int x = 0; x < gridDim.x; ++x) { \
        blockIdx_ = {x, y, z}; \
        for (unsigned int t = 0; t < blockDim.x * blockDim.y * blockDim.z; ++t) { \
            threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y}; \
            call; \
        } \
    }
static uint3& blockIdx_ = blockIdx;
