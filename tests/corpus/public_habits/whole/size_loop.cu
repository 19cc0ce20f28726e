#include <chrono>
#include <cstdio>
#include <vector>
#include <cmath>
#include <cuda_runtime.h>

template <int BM, int BN>
__global__ void gemm_block(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.x * BM + threadIdx.x / BN;
  const int col = blockIdx.y * BN + threadIdx.x % BN;
  float acc = 0.0f;
  if (row < M && col < N) {
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
  }
}

template <int BM, int BN>
void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 grid((M + BM - 1) / BM, (N + BN - 1) / BN);
  gemm_block<BM, BN><<<grid, BM * BN>>>(A, B, C, M, N, K);
}

int main() {
  std::vector<int> sizes = {32, 48, 80};
  for (int size : sizes) {
    const int M = size, N = size, K = size;
    std::vector<float> a(M * K, 0.5f), b(K * N), c(M * N);
    for (size_t i = 0; i < b.size(); ++i) b[i] = i % 4;
    float *da, *db, *dc;
    cudaMalloc(&da, a.size() * sizeof(float));
    cudaMalloc(&db, b.size() * sizeof(float));
    cudaMalloc(&dc, c.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
    auto t0 = std::chrono::high_resolution_clock::now();
    gemm<8, 32>(da, db, dc, M, N, K);
    cudaDeviceSynchronize();
    auto t1 = std::chrono::high_resolution_clock::now();
    printf("%d: %f ms\n", size, std::chrono::duration<double, std::milli>(t1 - t0).count());
    cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        float s = 0;
        for (int k = 0; k < K; ++k) s += a[i * K + k] * b[k * N + j];
        if (std::fabs(s - c[i * N + j]) > 1e-3f) return 1;
      }
    cudaFree(da); cudaFree(db); cudaFree(dc);
  }
  return 0;
}
