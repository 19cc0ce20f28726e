#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Warp 4 loads, warps 0 to 3 compute. Named barriers: 1 + s says "stage s is full", 3 + s says "stage s is free".
__device__ __forceinline__ void bar_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__device__ __forceinline__ void bar_arrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

__global__ __launch_bounds__(160) void warp_specialised(const half* A, const half* B, float* C, int M, int N, int K) {
  __shared__ __align__(32) half sa[2][32][16];
  __shared__ __align__(32) half sb[2][16][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int steps = K / 16;
  if (warp == 4) {
    for (int s = 0; s < steps; ++s) {
      const int buf = s & 1;
      if (s >= 2) bar_sync(3 + buf, 160);
      for (int i = lane; i < 64; i += 32) {
        *(uint4*)&sa[buf][i / 2][i % 2 * 8] = *(const uint4*)&A[(blockIdx.y * 32 + i / 2) * K + s * 16 + i % 2 * 8];
        *(uint4*)&sb[buf][i / 4][i % 4 * 8] = *(const uint4*)&B[(s * 16 + i / 4) * N + blockIdx.x * 32 + i % 4 * 8];
      }
      __threadfence_block();
      bar_arrive(1 + buf, 160);
    }
  } else {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int s = 0; s < steps; ++s) {
      const int buf = s & 1;
      bar_sync(1 + buf, 160);
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
      wmma::load_matrix_sync(a, &sa[buf][warp / 2 * 16][0], 16);
      wmma::load_matrix_sync(b, &sb[buf][0][warp % 2 * 16], 32);
      wmma::mma_sync(acc, a, b, acc);
      if (s + 2 < steps) bar_arrive(3 + buf, 160);
    }
    wmma::store_matrix_sync(&C[(blockIdx.y * 32 + warp / 2 * 16) * N + blockIdx.x * 32 + warp % 2 * 16], acc, N, wmma::mem_row_major);
  }
}

void launch(const half* A, const half* B, float* C, int M, int N, int K) {
  warp_specialised<<<dim3(N / 32, M / 32), 160>>>(A, B, C, M, N, K);
}
