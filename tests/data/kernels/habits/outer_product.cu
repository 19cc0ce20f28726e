#include <cuda_runtime.h>
constexpr unsigned kB = 8;

// Each step of k adds one outer product of a column of A and a row of B.
__global__ void outer(const float* A, const float* B, float* C, unsigned M, unsigned N, unsigned K) {
  __shared__ float column[kB], line[kB];
  const unsigned i = threadIdx.y, j = threadIdx.x, row = blockIdx.y * kB + i, col = blockIdx.x * kB + j;
  float acc = 0;
  for (unsigned k = 0; k < K; ++k) {
    if (j == 0) column[i] = row < M ? A[row * K + k] : 0.f;
    if (i == 0) line[j] = col < N ? B[k * N + col] : 0.f;
    __syncthreads();
    acc += column[i] * line[j];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

inline unsigned round_up_div(unsigned a, unsigned b) { return a / b + (a % b != 0); }

void launch(const float* A, const float* B, float* C, unsigned M, unsigned N, unsigned K) {
  outer<<<dim3{round_up_div(N, kB), round_up_div(M, kB)}, dim3{kB, kB}>>>(A, B, C, M, N, K);
}
