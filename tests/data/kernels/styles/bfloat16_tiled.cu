// bf16 in, fp32 out
#include <cuda_bf16.h>
#include <cuda_runtime.h>

using bf16 = __nv_bfloat16;

template <int BM, int BN, int BK, int TM>
__global__ void bf16_gemm(const bf16* A, const bf16* B, float* C, int M, int N, int K) {
  __shared__ bf16 As[BM * BK];
  __shared__ bf16 Bs[BK * BN];

  const int tid = threadIdx.x;
  const int col = tid % BN;
  const int row0 = tid / BN * TM;

  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += blockIdx.y * BM * N + blockIdx.x * BN;

  float acc[TM] = {0.f};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = tid; i < BM * BK; i += blockDim.x) As[i] = A[(i / BK) * K + k0 + i % BK];
    for (int i = tid; i < BK * BN; i += blockDim.x) Bs[i] = B[(k0 + i / BN) * N + i % BN];
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      const float b = __bfloat162float(Bs[k * BN + col]);
      for (int i = 0; i < TM; ++i) acc[i] += __bfloat162float(As[(row0 + i) * BK + k]) * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) C[(row0 + i) * N + col] = acc[i];
}

int main() {
  constexpr int BM = 32, BN = 32, BK = 8, TM = 4;
  int M = 128, N = 128, K = 64;
  bf16 *A, *B;
  float* C;
  cudaMalloc(&A, M * K * sizeof(bf16));
  cudaMalloc(&B, K * N * sizeof(bf16));
  cudaMalloc(&C, M * N * sizeof(float));
  dim3 grid(N / BN, M / BM), block(BM * BN / TM);
  bf16_gemm<BM, BN, BK, TM><<<grid, block>>>(A, B, C, M, N, K);
  return cudaDeviceSynchronize();
}
