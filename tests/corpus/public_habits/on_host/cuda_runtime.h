// CUDA on the host, for g++: each thread of a block is a fiber, blocks run one after another.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <algorithm>
#include <vector>
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline
#define __inline__ inline
#define __noinline__
#define __restrict__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
typedef unsigned int uint;
typedef unsigned char uchar;
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
struct float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) double2 { double x, y; };
inline float4 make_float4(float a, float b, float c, float d) { return {a, b, c, d}; }
inline float2 make_float2(float a, float b) { return {a, b}; }
inline int4 make_int4(int a, int b, int c, int d) { return {a, b, c, d}; }
inline uint3 threadIdx_, blockIdx_;
inline dim3 blockDim_, gridDim_;
#define threadIdx threadIdx_
#define blockIdx blockIdx_
#define blockDim blockDim_
#define gridDim gridDim_
#define warpSize 32
template <class A, class B> inline auto min(A a, B b) -> std::common_type_t<A, B> { std::common_type_t<A, B> x = a, y = b; return y < x ? y : x; }
template <class A, class B> inline auto max(A a, B b) -> std::common_type_t<A, B> { std::common_type_t<A, B> x = a, y = b; return x < y ? y : x; }
namespace emu {
struct Fiber { void* sp; int state; int tid; char* stack; };  // 0 ready, 1 block, 2 warp, 3 done
inline void* main_sp;
inline std::vector<Fiber> fibers;
inline int now;
inline const std::function<void()>* body;
alignas(16) inline char dyn[256 * 1024];
inline uint64_t slot[1024];
inline int votes[1024];
constexpr size_t STACK = 64 * 1024;
extern "C" void emu_switch(void** from, void* to);
asm(R"(
.text
.weak emu_switch
emu_switch:
 pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
 movq %rsp, (%rdi)
 movq %rsi, %rsp
 popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
 ret
)");
inline void place(int t) {
  now = t;
  threadIdx_ = {unsigned(t % blockDim_.x), unsigned(t / blockDim_.x % blockDim_.y), unsigned(t / (blockDim_.x * blockDim_.y))};
}
inline void yield(int state) { Fiber& f = fibers[now]; f.state = state; emu_switch(&f.sp, main_sp); }
inline void entry() { (*body)(); yield(3); abort(); }
struct Config {
  dim3 g, b;
  Config(dim3 grid, dim3 block, size_t = 0, void* = 0) : g(grid), b(block) {}
};
inline void launch(const Config& c, const std::function<void()>& f) {
  int n = c.b.x * c.b.y * c.b.z;
  if (n > 1024 || n == 0 || c.g.x * c.g.y * c.g.z == 0) { printf("EMU bad launch %d\n", n); exit(90); }
  while ((int)fibers.size() < 1024) fibers.push_back({nullptr, 3, (int)fibers.size(), (char*)aligned_alloc(64, STACK)});
  blockDim_ = c.b; gridDim_ = c.g; body = &f;
  for (unsigned bz = 0; bz < c.g.z; ++bz) for (unsigned by = 0; by < c.g.y; ++by) for (unsigned bx = 0; bx < c.g.x; ++bx) {
    blockIdx_ = {bx, by, bz};
    for (int t = 0; t < n; ++t) {
      void** sp = (void**)(fibers[t].stack + STACK - 64);
      *--sp = nullptr; *--sp = (void*)entry;
      for (int i = 0; i < 6; ++i) *--sp = nullptr;
      fibers[t].sp = sp; fibers[t].state = 0;
    }
    for (;;) {
      int ran = 0, live = 0, at_block = 0;
      for (int t = 0; t < n; ++t) if (fibers[t].state == 0) { place(t); emu_switch(&main_sp, fibers[t].sp); ran = 1; }
      if (ran) { for (int t = 0; t < n; ++t) if (fibers[t].state == 0) abort(); }
      for (int w = 0; w < n; w += 32) {
        int l = 0, k = 0;
        for (int t = w; t < w + 32 && t < n; ++t) { l += fibers[t].state != 3; k += fibers[t].state == 2; }
        if (k && l == k) { for (int t = w; t < w + 32 && t < n; ++t) if (fibers[t].state == 2) fibers[t].state = 0, ran = 2; }
      }
      if (ran == 2) continue;
      for (int t = 0; t < n; ++t) { live += fibers[t].state != 3; at_block += fibers[t].state == 1; }
      if (!live) break;
      if (at_block != live) { printf("EMU deadlock\n"); exit(91); }
      for (int t = 0; t < n; ++t) if (fibers[t].state == 1) fibers[t].state = 0;
    }
  }
}
template <class T> T exchange(T v, int from) {
  memcpy(&slot[now], &v, sizeof v);
  int base = now / 32 * 32, me = now;
  yield(2);
  T r = v; int src = base + from;
  if (from >= 0 && from < 32) memcpy(&r, &slot[src], sizeof r);
  yield(2); (void)me;
  return r;
}
}  // namespace emu
inline void __syncthreads() { emu::yield(1); }
inline void __syncwarp(unsigned = ~0u) { emu::yield(2); }
inline void __threadfence() {}
template <class T> T __shfl_down_sync(unsigned, T v, int d, int w = 32) { int l = emu::now % 32; return emu::exchange(v, l % w + d < w ? l + d : l); }
template <class T> T __shfl_up_sync(unsigned, T v, int d, int w = 32) { int l = emu::now % 32; return emu::exchange(v, l % w - d >= 0 ? l - d : l); }
template <class T> T __shfl_xor_sync(unsigned, T v, int d, int = 32) { return emu::exchange(v, (emu::now % 32) ^ d); }
template <class T> T __shfl_sync(unsigned, T v, int s, int w = 32) { int l = emu::now % 32; return emu::exchange(v, l / w * w + s % w); }
template <class T, class U> T atomicAdd(T* p, U v) { T o = *p; *p = o + (T)v; return o; }
template <class T, class U> T atomicMax(T* p, U v) { T o = *p; *p = o < (T)v ? (T)v : o; return o; }
template <class T, class U> T atomicMin(T* p, U v) { T o = *p; *p = (T)v < o ? (T)v : o; return o; }
template <class T> T __ldg(const T* p) { return *p; }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline float __expf(float x) { return expf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
inline float __int_as_float(int f) { float i; memcpy(&i, &f, 4); return i; }
typedef int cudaError_t;
typedef int cudaError;
typedef void* cudaStream_t;
typedef void* cudaEvent_t;
struct cudaDeviceProp { char name[256]; size_t sharedMemPerBlock; int multiProcessorCount, maxThreadsPerBlock, major, minor, warpSize_; };
enum { cudaSuccess = 0 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout };
inline const char* cudaGetErrorString(int) { return "emulated"; }
inline const char* cudaGetErrorName(int) { return "emulated"; }
template <class T> int cudaMalloc(T** p, size_t n) { *p = (T*)malloc(n); memset((void*)*p, 0xff, n); return 0; }
template <class T> int cudaMallocManaged(T** p, size_t n, int = 0) { return cudaMalloc(p, n); }
template <class T> int cudaMallocHost(T** p, size_t n) { return cudaMalloc(p, n); }
template <class T> int cudaHostAlloc(T** p, size_t n, int) { return cudaMalloc(p, n); }
inline int cudaMallocPitch(void** p, size_t* pitch, size_t w, size_t h) { *pitch = (w + 255) / 256 * 256; return cudaMalloc(p, *pitch * h); }
template <class T> int cudaMallocPitch(T** p, size_t* pitch, size_t w, size_t h) { return cudaMallocPitch((void**)p, pitch, w, h); }
inline int cudaFree(const void* p) { free((void*)p); return 0; }
inline int cudaFreeHost(void* p) { free(p); return 0; }
inline int cudaMemcpy(void* d, const void* s, size_t n, cudaMemcpyKind) { memcpy(d, s, n); return 0; }
inline int cudaMemcpyAsync(void* d, const void* s, size_t n, cudaMemcpyKind, void* = 0) { memcpy(d, s, n); return 0; }
inline int cudaMemcpy2D(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, cudaMemcpyKind) { for (size_t i = 0; i < h; ++i) memcpy((char*)d + i * dp, (const char*)s + i * sp, w); return 0; }
template <class T> int cudaMemcpyToSymbol(T& d, const void* s, size_t n, size_t o = 0, int = 0) { memcpy((char*)&d + o, s, n); return 0; }
template <class T> int cudaMemcpyFromSymbol(void* d, const T& s, size_t n, size_t o = 0, int = 0) { memcpy(d, (const char*)&s + o, n); return 0; }
inline int cudaMemset(void* d, int v, size_t n) { memset(d, v, n); return 0; }
inline int cudaMemsetAsync(void* d, int v, size_t n, void* = 0) { memset(d, v, n); return 0; }
inline int cudaDeviceSynchronize() { return 0; }
inline int cudaThreadSynchronize() { return 0; }
inline int cudaGetLastError() { return 0; }
inline int cudaPeekAtLastError() { return 0; }
inline int cudaSetDevice(int) { return 0; }
inline int cudaGetDevice(int* d) { *d = 0; return 0; }
inline int cudaGetDeviceCount(int* d) { *d = 1; return 0; }
inline int cudaDeviceReset() { return 0; }
inline int cudaGetDeviceProperties(cudaDeviceProp* p, int) { memset(p, 0, sizeof *p); p->multiProcessorCount = 4; return 0; }
inline int cudaStreamCreate(void** s) { *s = 0; return 0; }
inline int cudaStreamSynchronize(void*) { return 0; }
inline int cudaStreamDestroy(void*) { return 0; }
inline int cudaEventCreate(void** s) { *s = 0; return 0; }
inline int cudaEventDestroy(void*) { return 0; }
inline int cudaEventRecord(void*, void* = 0) { return 0; }
inline int cudaEventSynchronize(void*) { return 0; }
inline int cudaEventElapsedTime(float* f, void*, void*) { *f = 0; return 0; }
template <class T> int cudaFuncSetAttribute(T*, int, int) { return 0; }
