// One dynamic pool of shared memory, cut into two tiles by hand. More than 48 KB need an opt-in.
#include <cuda_runtime.h>
#include <stdio.h>

struct Config {
  static const int BM = 64;
  static const int BN = 64;
  static const int BK = 32;
  static const int TM = 8;
  static const int TN = 4;
  static const int THREADS = (BM / TM) * (BN / TN);
};

template <class Cfg>
__global__ __launch_bounds__(Cfg::THREADS) void gemm_pool(int M, int N, int K, const float* A, const float* B, float* C) {
  extern __shared__ __align__(16) unsigned char pool[];
  float* smemA = reinterpret_cast<float*>(pool);
  float* smemB = reinterpret_cast<float*>(pool + Cfg::BM * Cfg::BK * sizeof(float));

  const int tid = threadIdx.x;
  const int ty = tid / (Cfg::BN / Cfg::TN);
  const int tx = tid % (Cfg::BN / Cfg::TN);
  const int rowBase = blockIdx.y * Cfg::BM;
  const int colBase = blockIdx.x * Cfg::BN;

  float sum[Cfg::TM][Cfg::TN];
#pragma unroll
  for (int i = 0; i < Cfg::TM; i++)
#pragma unroll
    for (int j = 0; j < Cfg::TN; j++) sum[i][j] = 0.0f;

  for (int k0 = 0; k0 < K; k0 += Cfg::BK) {
    for (int i = tid; i < Cfg::BM * Cfg::BK; i += Cfg::THREADS) {
      int r = i / Cfg::BK, k = i % Cfg::BK;
      smemA[i] = (rowBase + r < M && k0 + k < K) ? A[(rowBase + r) * K + k0 + k] : 0.0f;
    }
    for (int i = tid; i < Cfg::BK * Cfg::BN; i += Cfg::THREADS) {
      int k = i / Cfg::BN, c = i % Cfg::BN;
      smemB[i] = (colBase + c < N && k0 + k < K) ? B[(k0 + k) * N + colBase + c] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < Cfg::BK; k++) {
      float fragment[Cfg::TN];
#pragma unroll
      for (int j = 0; j < Cfg::TN; j++) fragment[j] = smemB[k * Cfg::BN + tx + j * (Cfg::BN / Cfg::TN)];
#pragma unroll
      for (int i = 0; i < Cfg::TM; i++) {
        float a = smemA[(ty * Cfg::TM + i) * Cfg::BK + k];
#pragma unroll
        for (int j = 0; j < Cfg::TN; j++) sum[i][j] = fmaf(a, fragment[j], sum[i][j]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < Cfg::TM; i++)
#pragma unroll
    for (int j = 0; j < Cfg::TN; j++) {
      int row = rowBase + ty * Cfg::TM + i, col = colBase + tx + j * (Cfg::BN / Cfg::TN);
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
}

int main() {
  const int M = 200, N = 150, K = 100;
  float *A, *B, *C;
  cudaMalloc(&A, M * K * sizeof(float));
  cudaMalloc(&B, K * N * sizeof(float));
  cudaMalloc(&C, M * N * sizeof(float));
  size_t smem = (Config::BM * Config::BK + Config::BK * Config::BN) * sizeof(float);
  cudaFuncSetAttribute(gemm_pool<Config>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)smem);
  dim3 grid((N + Config::BN - 1) / Config::BN, (M + Config::BM - 1) / Config::BM);
  gemm_pool<Config><<<grid, Config::THREADS, smem>>>(M, N, K, A, B, C);
  printf("%d\n", (int)cudaDeviceSynchronize());
}
