#include <cuda_runtime.h>
#include <cstdint>

__global__ void gemm_s8(const int8_t* A, const int8_t* B, int32_t* C, int M, int N, int K) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y >= M || x >= N) return;
  int32_t acc = 0;
  for (int k = 0; k < K; ++k) acc += static_cast<int32_t>(A[y * K + k]) * static_cast<int32_t>(B[k * N + x]);
  C[y * N + x] = acc;
}

void gemm(const int8_t* A, const int8_t* B, int32_t* C, int M, int N, int K) {
  constexpr int kX = 16, kY = 16;
  gemm_s8<<<dim3((N + kX - 1) / kX, (M + kY - 1) / kY), dim3(kX, kY)>>>(A, B, C, M, N, K);
}
