#include <cuda_runtime.h>
#include <cuda_fp16.h>

__global__ void hgemm_accumulate_float(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C,
                                       int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.f;
  for (int k = 0; k < K; ++k) sum += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
  C[row * N + col] = sum;
}

void launch(const half* A, const half* B, float* C, int M, int N, int K) {
  dim3 threads(32, 8);
  dim3 blocks((N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y);
  hgemm_accumulate_float<<<blocks, threads>>>(A, B, C, M, N, K);
}
