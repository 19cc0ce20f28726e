#include <cstdio>
#include <cuda_runtime.h>

const int kBlock = 128;
const int kGrid = 8;

__global__ void dot(const float* u, const float* v, float* partial, int n) {
  __shared__ float products[kBlock];
  float sum = 0.f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += u[i] * v[i];
  products[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kBlock / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) products[threadIdx.x] += products[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = products[0];
}

int main() {
  int n = 10000;
  float *u, *v, *partial, host[kGrid], sum = 0.f;
  cudaMalloc(&u, n * sizeof(float));
  cudaMalloc(&v, n * sizeof(float));
  cudaMalloc(&partial, kGrid * sizeof(float));
  dot<<<kGrid, kBlock>>>(u, v, partial, n);
  cudaMemcpy(host, partial, sizeof(host), cudaMemcpyDeviceToHost);
  for (float each : host) sum += each;
  printf("%f\n", sum);
}
