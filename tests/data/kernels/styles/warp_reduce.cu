// One warp per element of C: lanes stride over K, then a shuffle reduction.
#include <cuda_runtime.h>
#include <cstdio>

#define WARP_SIZE 32
#define FULL_MASK 0xffffffff

template <typename T>
__inline__ __device__ T warpReduceSum(T val) {
  #pragma unroll
  for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1)
    val += __shfl_xor_sync(FULL_MASK, val, mask);
  return val;
}

__global__ void warp_per_element(const float* A, const float* B, float* C, int M, int N, int K) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  int lane = threadIdx.x & (WARP_SIZE - 1);
  if (warp >= M * N) return;   // whole warps leave
  int row = warp / N;
  int col = warp - row * N;

  float sum = 0.f;
  for (int k = lane; k < K; k += WARP_SIZE)
    sum += __ldg(&A[row * K + k]) * __ldg(&B[k * N + col]);

  sum = warpReduceSum<float>(sum);
  if (lane == 0)
    C[row * N + col] = sum;
}

int main() {
  int M = 32, N = 24, K = 100;
  float *A, *B, *C;
  cudaMalloc(&A, M * K * 4);
  cudaMalloc(&B, K * N * 4);
  cudaMalloc(&C, M * N * 4);
  const int threads = 128;
  const int warps_per_block = threads / WARP_SIZE;
  const int blocks = (M * N + warps_per_block - 1) / warps_per_block;
  warp_per_element<<<blocks, threads>>>(A, B, C, M, N, K);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
