// Quantised GEMM: int8 inputs, int32 accumulation with dp4a.
// A is row-major (M x K), B is given transposed (N x K), so four values of K are one int.
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

#define TILE 16

__global__ void igemm_dp4a(const int8_t* __restrict__ A, const int8_t* __restrict__ Bt, int32_t* __restrict__ C,
                           int M, int N, int K) {
  __shared__ int tileA[TILE][TILE];
  __shared__ int tileB[TILE][TILE + 1];

  const int* A4 = reinterpret_cast<const int*>(A);
  const int* B4 = reinterpret_cast<const int*>(Bt);
  const int K4 = K / 4;

  int row = blockIdx.y * TILE + threadIdx.y;
  int col = blockIdx.x * TILE + threadIdx.x;
  int bRow = blockIdx.x * TILE + threadIdx.y;
  int32_t acc = 0;

  for (int k0 = 0; k0 < K4; k0 += TILE) {
    int k = k0 + threadIdx.x;
    tileA[threadIdx.y][threadIdx.x] = row < M && k < K4 ? A4[row * K4 + k] : 0;
    tileB[threadIdx.y][threadIdx.x] = bRow < N && k < K4 ? B4[bRow * K4 + k] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) acc = __dp4a(tileA[threadIdx.y][i], tileB[threadIdx.x][i], acc);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

int main() {
  const int M = 64, N = 64, K = 128;
  int8_t *A, *B;
  int32_t* C;
  cudaMalloc(&A, M * K);
  cudaMalloc(&B, N * K);
  cudaMalloc(&C, M * N * sizeof(int32_t));
  dim3 block(TILE, TILE, 1);
  dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, 1);
  igemm_dp4a<<<grid, block>>>(A, B, C, M, N, K);
  cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) printf("%s\n", cudaGetErrorString(status));
  return status;
}
