#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } } while (0)

constexpr int TILE_M = 64, TILE_N = 64, TILE_K = 128, THREADS = 256;
constexpr size_t SMEM_BYTES = (TILE_M * TILE_K + TILE_K * TILE_N) * sizeof(float);

__global__ void __launch_bounds__(THREADS) big_tiles(const float *A, const float *B, float *C, int M, int N, int K) {
  extern __shared__ float smem[];
  float *sa = smem, *sb = smem + TILE_M * TILE_K;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int m0 = blockIdx.y * TILE_M, n0 = blockIdx.x * TILE_N;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += TILE_K) {
    for (int i = threadIdx.x; i < TILE_M * TILE_K; i += THREADS) sa[i] = A[(m0 + i / TILE_K) * K + k0 + i % TILE_K];
    for (int i = threadIdx.x; i < TILE_K * TILE_N; i += THREADS) sb[i] = B[(k0 + i / TILE_N) * N + n0 + i % TILE_N];
    __syncthreads();
    for (int k = 0; k < TILE_K; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += sa[(ty * 4 + i) * TILE_K + k] * sb[k * TILE_N + tx + j * 16];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) C[(m0 + ty * 4 + i) * N + n0 + tx + j * 16] = acc[i][j];
}

int main() {
  const int M = 128, N = 192, K = 256;
  float *A = new float[M * K], *B = new float[K * N], *C = new float[M * N], *dA, *dB, *dC;
  for (int i = 0; i < M * K; i++) A[i] = i % 3;
  for (int i = 0; i < K * N; i++) B[i] = i % 5;
  CHECK(cudaMalloc(&dA, M * K * sizeof(float)));
  CHECK(cudaMalloc(&dB, K * N * sizeof(float)));
  CHECK(cudaMalloc(&dC, M * N * sizeof(float)));
  CHECK(cudaMemcpy(dA, A, M * K * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dB, B, K * N * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaFuncSetAttribute(big_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM_BYTES));
  big_tiles<<<dim3(N / TILE_N, M / TILE_M), THREADS, SMEM_BYTES>>>(dA, dB, dC, M, N, K);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(C, dC, M * N * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float s = 0;
      for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
      if (s != C[i * N + j]) return 1;
    }
  return 0;
}
