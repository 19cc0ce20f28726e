// Asynchronous copies to shared memory by inline PTX, two stages.
#include <cuda_runtime.h>
#include <cstdint>

#define CP_ASYNC_CG(dst, src, bytes) \
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" ::"r"(dst), "l"(src), "n"(bytes))
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))

constexpr int BM = 32, BN = 32, BK = 16;
constexpr int STAGES = 2;
constexpr int THREADS = 64; // each thread computes a 4x4 tile of C

__device__ __forceinline__ uint32_t smem_u32(const void* ptr) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(ptr));
}

__device__ __forceinline__ void load_stage(float* As, float* Bs, const float* A, const float* B,
                                           int N, int K, int k0) {
  // BM * BK / 4 = 128 float4 of A, BK * BN / 4 = 128 float4 of B
#pragma unroll
  for (int i = threadIdx.x; i < BM * BK / 4; i += THREADS) {
    int row = i / (BK / 4), col = (i % (BK / 4)) * 4;
    CP_ASYNC_CG(smem_u32(As + row * BK + col), A + row * K + k0 + col, 16);
  }
#pragma unroll
  for (int i = threadIdx.x; i < BK * BN / 4; i += THREADS) {
    int row = i / (BN / 4), col = (i % (BN / 4)) * 4;
    CP_ASYNC_CG(smem_u32(Bs + row * BN + col), B + (k0 + row) * N + col, 16);
  }
  CP_ASYNC_COMMIT_GROUP();
}

__global__ void sgemm_cp_async(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                               int M, int N, int K) {
  __shared__ __align__(16) float As[STAGES][BM * BK];
  __shared__ __align__(16) float Bs[STAGES][BK * BN];

  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;

  const int tr = (threadIdx.x / 8) * 4;
  const int tc = (threadIdx.x % 8) * 4;
  float acc[4][4] = {};

  load_stage(As[0], Bs[0], A, B, N, K, 0);

  int stage = 0;
  for (int k0 = 0; k0 < K; k0 += BK) {
    if (k0 + BK < K) {
      load_stage(As[stage ^ 1], Bs[stage ^ 1], A, B, N, K, k0 + BK);
      CP_ASYNC_WAIT_GROUP(1);
    } else {
      CP_ASYNC_WAIT_GROUP(0);
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) a[i] = As[stage][(tr + i) * BK + k];
#pragma unroll
      for (int j = 0; j < 4; ++j) b[j] = Bs[stage][k * BN + tc + j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
    stage ^= 1;
  }

#pragma unroll
  for (int i = 0; i < 4; ++i)
    *reinterpret_cast<float4*>(C + (tr + i) * N + tc) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

int main() {
  const int M = 128, N = 128, K = 128;
  float *A, *B, *C;
  cudaMallocManaged(&A, M * K * sizeof(float));
  cudaMallocManaged(&B, K * N * sizeof(float));
  cudaMallocManaged(&C, M * N * sizeof(float));
  for (int i = 0; i < M * K; ++i) A[i] = static_cast<float>(i % 7);
  for (int i = 0; i < K * N; ++i) B[i] = static_cast<float>(i % 5);
  sgemm_cp_async<<<dim3(N / BN, M / BM), THREADS>>>(A, B, C, M, N, K);
  return cudaDeviceSynchronize();
}
