#include <cassert>
#include <cstdio>
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

template <const int BM, const int BN, const int BK, const int TM>
__global__ void sgemm1DBlocktiling(int M, int N, int K, const float *A, const float *B, float *C) {
  const int cRow = blockIdx.y;
  const int cCol = blockIdx.x;
  const int threadCol = threadIdx.x % BN;
  const int threadRow = threadIdx.x / BN;

  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];

  const int innerColA = threadIdx.x % BK;
  const int innerRowA = threadIdx.x / BK;
  const int innerColB = threadIdx.x % BN;
  const int innerRowB = threadIdx.x / BN;

  float threadResults[TM] = {0.0};
  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    const int rowA = cRow * BM + innerRowA, colA = bkIdx + innerColA;
    const int rowB = bkIdx + innerRowB, colB = cCol * BN + innerColB;
    As[innerRowA * BK + innerColA] = (rowA < M && colA < K) ? A[rowA * K + colA] : 0.0f;
    Bs[innerRowB * BN + innerColB] = (rowB < K && colB < N) ? B[rowB * N + colB] : 0.0f;
    __syncthreads();

    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      float tmpB = Bs[dotIdx * BN + threadCol];
      for (int resIdx = 0; resIdx < TM; ++resIdx) {
        threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
      }
    }
    __syncthreads();
  }

  for (int resIdx = 0; resIdx < TM; ++resIdx) {
    const int row = cRow * BM + threadRow * TM + resIdx, col = cCol * BN + threadCol;
    if (row < M && col < N) C[row * N + col] = threadResults[resIdx];
  }
}

void runSgemm1DBlocktiling(int M, int N, int K, float *A, float *B, float *C) {
  const int BM = 32;
  const int BN = 32;
  const int BK = 8;
  const int TM = 4;
  dim3 gridDim(CEIL_DIV(N, BN), CEIL_DIV(M, BM));
  dim3 blockDim((BM * BN) / TM);
  sgemm1DBlocktiling<BM, BN, BK, TM><<<gridDim, blockDim>>>(M, N, K, A, B, C);
}

int main() {
  int M = 1024, N = 512, K = 256;
  float *dA, *dB, *dC;
  float *hC = new float[M * N];
  cudaMalloc(&dA, sizeof(float) * M * K);
  cudaMalloc(&dB, sizeof(float) * K * N);
  cudaMalloc(&dC, sizeof(float) * M * N);
  cudaMemset(dA, 0, sizeof(float) * M * K);
  cudaMemset(dB, 0, sizeof(float) * K * N);
  runSgemm1DBlocktiling(M, N, K, dA, dB, dC);
  cudaMemcpy(hC, dC, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
  printf("%f\n", hC[0]);
  delete[] hC;
  return 0;
}
