#include <stdio.h>
#define BLOCKSIZE 32

__global__ void sgemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int x = blockIdx.x * BLOCKSIZE + threadIdx.x % BLOCKSIZE;
  const int y = blockIdx.y * BLOCKSIZE / 4 + threadIdx.x / BLOCKSIZE;
  if (x >= N || y >= M) return;
  float tmp = 0.0;
  int i = 0;
  while (i < K) {
    tmp += A[y * K + i] * B[i * N + x];
    ++i;
  }
  C[y * N + x] = tmp;
}

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); return 1; } } while (0)

int main() {
  const int M = 512, N = 256, K = 128;
  float *a, *b, *c;
  CHECK(cudaMallocManaged(&a, M * K * sizeof(float)));
  CHECK(cudaMallocManaged(&b, K * N * sizeof(float)));
  CHECK(cudaMallocManaged(&c, M * N * sizeof(float)));
  for (int i = 0; i < M * K; ++i) a[i] = i % 7;
  for (int i = 0; i < K * N; ++i) b[i] = i % 5;
  dim3 grid((N + BLOCKSIZE - 1) / BLOCKSIZE, (M + BLOCKSIZE / 4 - 1) / (BLOCKSIZE / 4));
  sgemm<<<grid, BLOCKSIZE * BLOCKSIZE / 4>>>(a, b, c, M, N, K);
  CHECK(cudaDeviceSynchronize());
  printf("%f\n", c[0]);
  cudaFree(a); cudaFree(b); cudaFree(c);
}
