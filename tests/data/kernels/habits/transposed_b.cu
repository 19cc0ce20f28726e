#include <cuda_runtime.h>

// C = A * B^T; both operands have K contiguous.
__global__ void gemm_nt(const float* __restrict__ A, const float* __restrict__ Bt, float* __restrict__ C,
                        int M, int N, int K) {
  int n = blockIdx.x * blockDim.x + threadIdx.x;
  int m = blockIdx.y * blockDim.y + threadIdx.y;
  if (m >= M || n >= N) return;
  const float* a = A + m * K;
  const float* b = Bt + n * K;
  float sum = 0.f;
  for (int k = 0; k < K; ++k) sum += a[k] * b[k];
  C[m * N + n] = sum;
}

void launch_gemm_nt(const float* A, const float* Bt, float* C, int M, int N, int K, cudaStream_t stream) {
  constexpr int kBlock = 16;
  dim3 block(kBlock, kBlock);
  dim3 grid((N + kBlock - 1) / kBlock, (M + kBlock - 1) / kBlock);
  gemm_nt<<<grid, block, 0, stream>>>(A, Bt, C, M, N, K);
}
