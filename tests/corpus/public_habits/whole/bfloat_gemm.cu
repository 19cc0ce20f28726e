#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#define TILE 16
using bf16 = __nv_bfloat16;

// bf16 in, fp32 out
__global__ void bf16_tiled(const bf16 *a, const bf16 *b, float *c, int M, int N, int K) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < K; t += TILE) {
    as[threadIdx.y][threadIdx.x] = __bfloat162float(a[row * K + t + threadIdx.x]);
    bs[threadIdx.y][threadIdx.x] = __bfloat162float(b[(t + threadIdx.y) * N + col]);
    __syncthreads();
    for (int k = 0; k < TILE; ++k) acc += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[row * N + col] = acc;
}

int main() {
  const int M = 64, N = 96, K = 32;
  bf16 *a = (bf16 *)malloc(M * K * sizeof(bf16)), *b = (bf16 *)malloc(K * N * sizeof(bf16)), *da, *db;
  float *c = (float *)malloc(M * N * sizeof(float)), *dc;
  for (int i = 0; i < M * K; i++) a[i] = __float2bfloat16(i % 7);
  for (int i = 0; i < K * N; i++) b[i] = __float2bfloat16(i % 5);
  cudaMalloc(&da, M * K * sizeof(bf16));
  cudaMalloc(&db, K * N * sizeof(bf16));
  cudaMalloc(&dc, M * N * sizeof(float));
  cudaMemcpy(da, a, M * K * sizeof(bf16), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, K * N * sizeof(bf16), cudaMemcpyHostToDevice);
  bf16_tiled<<<dim3(N / TILE, M / TILE), dim3(TILE, TILE)>>>(da, db, dc, M, N, K);
  cudaMemcpy(c, dc, M * N * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float s = 0;
      for (int k = 0; k < K; k++) s += __bfloat162float(a[i * K + k]) * __bfloat162float(b[k * N + j]);
      if (s != c[i * N + j]) return 1;
    }
  return 0;
}
