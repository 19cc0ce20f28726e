// Software pipelining by registers: the loads of the next tile are issued before the mma of this one.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

struct Prefetch {
  uint4 a, b;
  __device__ void load(const half* A, const half* B, int k0, int K, int N) {
    const int t = threadIdx.x;
    a = *reinterpret_cast<const uint4*>(A + (t / 2) * K + k0 + (t % 2) * 8);
    b = *reinterpret_cast<const uint4*>(B + (k0 + t / 4) * N + (t % 4) * 8);
  }
  __device__ void store(half (*sa)[24], half (*sb)[40]) const {
    const int t = threadIdx.x;
    *reinterpret_cast<uint4*>(&sa[t / 2][(t % 2) * 8]) = a;
    *reinterpret_cast<uint4*>(&sb[t / 4][(t % 4) * 8]) = b;
  }
};

__global__ void gemm_prefetch(const half* A, const half* B, float* C, int M, int N, int K) {
  __shared__ half sa[2][32][24];
  __shared__ half sb[2][16][40];
  A += blockIdx.y * 32 * K;
  B += blockIdx.x * 32;
  C += blockIdx.y * 32 * N + blockIdx.x * 32;
  const int warp = threadIdx.x / 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
  for (auto& each : acc) wmma::fill_fragment(each, 0.0f);

  Prefetch next;
  next.load(A, B, 0, K, N);
  next.store(sa[0], sb[0]);
  __syncthreads();
  int now = 0;
  for (int k0 = 16; k0 <= K; k0 += 16) {
    if (k0 < K) next.load(A, B, k0, K, N);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::load_matrix_sync(fa, sa[now][warp * 16], 24);
    for (int j = 0; j < 2; ++j) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
      wmma::load_matrix_sync(fb, &sb[now][0][j * 16], 40);
      wmma::mma_sync(acc[j], fa, fb, acc[j]);
    }
    if (k0 < K) next.store(sa[now ^ 1], sb[now ^ 1]);
    __syncthreads();
    now ^= 1;
  }
  for (int j = 0; j < 2; ++j) wmma::store_matrix_sync(C + warp * 16 * N + j * 16, acc[j], N, wmma::mem_row_major);
}

void gemm(const half* A, const half* B, float* C, int M, int N, int K) {
  gemm_prefetch<<<dim3(N / 32, M / 32), 64>>>(A, B, C, M, N, K);
}
