#include <cstdint>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

// int8 x int8 -> int32, B is transposed
__global__ void igemm_nt(const int8_t* A, const int8_t* B, int32_t* C, int M, int N, int K) {
  int m = blockIdx.y * blockDim.y + threadIdx.y;
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (m < M && n < N) {
    int32_t acc = 0;
    for (int k = 0; k < K; ++k) acc += static_cast<int32_t>(A[m * K + k]) * static_cast<int32_t>(B[n * K + k]);
    C[m * N + n] = acc;
  }
}

int main() {
  constexpr int M = 40, N = 56, K = 100;
  std::vector<int8_t> a(M * K), b(N * K);
  std::vector<int32_t> c(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = i % 19 - 9;
  for (int i = 0; i < N * K; ++i) b[i] = i % 13 - 6;
  int8_t *da, *db;
  int32_t* dc;
  cudaMalloc(&da, a.size());
  cudaMalloc(&db, b.size());
  cudaMalloc(&dc, c.size() * sizeof(int32_t));
  cudaMemcpy(da, a.data(), a.size(), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size(), cudaMemcpyHostToDevice);
  const dim3 threads(32, 4);
  const dim3 blocks((N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y);
  igemm_nt<<<blocks, threads>>>(da, db, dc, M, N, K);
  cudaMemcpy(c.data(), dc, c.size() * sizeof(int32_t), cudaMemcpyDeviceToHost);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      int32_t s = 0;
      for (int k = 0; k < K; ++k) s += a[i * K + k] * b[j * K + k];
      if (s != c[i * N + j]) return 1;
    }
  return 0;
}
