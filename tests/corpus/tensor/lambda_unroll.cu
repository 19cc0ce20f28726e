#include <cuda_fp16.h>
#include <cstdint>

template <int Begin, int End, typename F>
__device__ __forceinline__ void static_for(F&& f) {
  if constexpr (Begin < End) {
    f(Begin);
    static_for<Begin + 1, End>(f);
  }
}

__global__ void gemm_lambda(const half* a, const half* b, float* c, int m, int n, int k) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.y * 2 + threadIdx.x / 32) * 16 + lane / 4;
  const int col = blockIdx.x * 16;
  float acc[8] = {};
  auto load_pair = [&](const half* p, int stride) {
    half2 v = __halves2half2(p[0], p[stride]);
    return *reinterpret_cast<uint32_t*>(&v);
  };
  for (int kk = 0; kk < k; kk += 16) {
    uint32_t fa[4];
    static_for<0, 4>([&](int i) { fa[i] = load_pair(a + (row + (i % 2) * 8) * k + kk + (i / 2) * 8 + lane % 4 * 2, 1); });
    static_for<0, 2>([&](int j) {
      const half* p = b + (kk + lane % 4 * 2) * n + col + j * 8 + lane / 4;
      const uint32_t b0 = load_pair(p, n), b1 = load_pair(p + 8 * n, n);
      float* d = acc + 4 * j;
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(b0), "r"(b1));
    });
  }
  static_for<0, 8>([&](int e) { c[(row + (e / 2 % 2) * 8) * n + col + e / 4 * 8 + lane % 4 * 2 + e % 2] = acc[e]; });
}

void launch_lambda(const half* a, const half* b, float* c, int m, int n, int k) {
  gemm_lambda<<<dim3(n / 16, m / 32), 64>>>(a, b, c, m, n, k);
}
