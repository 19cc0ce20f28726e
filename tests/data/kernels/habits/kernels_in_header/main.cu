#include <cuda_runtime.h>
#include <cassert>
#include "kernels.cuh"

static inline int cdiv(int a, int b) { return (a + b - 1) / b; }

int main() {
  const int M = 128, N = 64, K = 32;
  float *A, *B, *C;
  cudaMalloc(&A, M * K * sizeof(float));
  cudaMalloc(&B, K * N * sizeof(float));
  cudaMalloc(&C, M * N * sizeof(float));
  const int BM = 32, BN = 32, BK = 4, TM = 8;
  static_assert(BM * BK == BN * BM / TM, "one load a thread");
  gemm_1d<BM, BN, BK, TM><<<dim3(cdiv(N, BN), cdiv(M, BM)), BM * BN / TM>>>(M, N, K, A, B, C);
  cudaDeviceSynchronize();
}
