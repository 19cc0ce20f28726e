#pragma once

template <int BM, int BN, int BK, int TM>
__global__ void gemm_1d(int M, int N, int K, const float *A, const float *B, float *C) {
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  const unsigned cRow = blockIdx.y, cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
  A += cRow * BM * K;
  B += cCol * BN;
  C += cRow * BM * N + cCol * BN;
  const int innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
  const int innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
  float sums[TM] = {0.0f};
  for (int bk = 0; bk < K; bk += BK) {
    As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
    Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (int dot = 0; dot < BK; ++dot) {
      float b = Bs[dot * BN + threadCol];
      for (int i = 0; i < TM; ++i) sums[i] += As[(threadRow * TM + i) * BK + dot] * b;
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i) C[(threadRow * TM + i) * N + threadCol] = sums[i];
}
