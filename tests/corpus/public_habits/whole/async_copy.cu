#include <cstdio>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#define TS 16

__global__ void mm_async(const float *A, const float *B, float *C, int n) {
  __shared__ float a[TS][TS];
  __shared__ float b[TS][TS];
  int row = blockIdx.y * TS + threadIdx.y, col = blockIdx.x * TS + threadIdx.x;
  float s = 0;
  for (int t = 0; t < n; t += TS) {
    __pipeline_memcpy_async(&a[threadIdx.y][threadIdx.x], &A[row * n + t + threadIdx.x], sizeof(float));
    __pipeline_memcpy_async(&b[threadIdx.y][threadIdx.x], &B[(t + threadIdx.y) * n + col], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int k = 0; k < TS; k++) s += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = s;
}

int main() {
  const int n = 96;
  static float A[n * n], B[n * n], C[n * n];
  for (int i = 0; i < n * n; i++) A[i] = i % 3, B[i] = i % 7;
  float *dA, *dB, *dC;
  cudaMalloc(&dA, sizeof(A)); cudaMalloc(&dB, sizeof(B)); cudaMalloc(&dC, sizeof(C));
  cudaMemcpy(dA, A, sizeof(A), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, B, sizeof(B), cudaMemcpyHostToDevice);
  dim3 threads(TS, TS), blocks(n / TS, n / TS);
  mm_async<<<blocks, threads>>>(dA, dB, dC, n);
  cudaMemcpy(C, dC, sizeof(C), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < n; k++) s += A[i * n + k] * B[k * n + j];
      if (s != C[i * n + j]) return 1;
    }
  return 0;
}
