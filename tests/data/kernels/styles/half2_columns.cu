// Each thread computes two neighbouring columns of C with half2 arithmetic (HFMA2).
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define HALF2(value) (reinterpret_cast<half2*>(&(value))[0])

__global__ void hgemm_half2(half* A, half* B, half* C, const int M, const int N, const int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (row >= M || col >= N) return;

  half2 sum = __float2half2_rn(0.0f);
  for (int k = 0; k < K; ++k) {
    half2 a = __half2half2(A[row * K + k]);
    half2 b = HALF2(B[k * N + col]);
    sum = __hfma2(a, b, sum);
  }
  HALF2(C[row * N + col]) = sum;
}

void launch_hgemm_half2(half* A, half* B, half* C, int M, int N, int K, cudaStream_t stream) {
  dim3 block(16, 8);
  dim3 grid((N / 2 + block.x - 1) / block.x, (M + block.y - 1) / block.y);
  hgemm_half2<<<grid, block, 0, stream>>>(A, B, C, M, N, K);
}

int main() {
  half *A, *B, *C;
  const int M = 64, N = 64, K = 64;
  cudaMalloc(&A, M * K * sizeof(half));
  cudaMalloc(&B, K * N * sizeof(half));
  cudaMalloc(&C, M * N * sizeof(half));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  launch_hgemm_half2(A, B, C, M, N, K, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return 0;
}
