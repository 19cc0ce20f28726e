// Kernel 2: global memory coalescing
// Same as the naive kernel, but consecutive threads now work on consecutive columns of C.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

#define cudaCheck(err) (cudaCheckImpl(err, __FILE__, __LINE__))
void cudaCheckImpl(cudaError_t error, const char *file, int line) {
  if (error != cudaSuccess) {
    printf("[CUDA ERROR] at file %s:%d:\n%s\n", file, line, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
  }
}

template <const uint BLOCKSIZE>
__global__ void sgemm_global_mem_coalesce(int M, int N, int K, float alpha,
                                          const float *A, const float *B,
                                          float beta, float *C) {
  const int cRow = blockIdx.x * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
  const int cCol = blockIdx.y * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);

  // if statement is necessary to make things work under tile quantization
  if (cRow < M && cCol < N) {
    float tmp = 0.0;
    for (int i = 0; i < K; ++i) {
      tmp += A[cRow * K + i] * B[i * N + cCol];
    }
    C[cRow * N + cCol] = alpha * tmp + beta * C[cRow * N + cCol];
  }
}

void run_sgemm_coalesce(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
  dim3 gridDim(CEIL_DIV(M, 32), CEIL_DIV(N, 32));
  dim3 blockDim(32 * 32);
  sgemm_global_mem_coalesce<32><<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv) {
  int m = argc > 1 ? atoi(argv[1]) : 256, n = m, k = m;
  float alpha = 0.5f, beta = 3.0f;  // GEMM input parameters, C=α*AB+β*C
  float *dA, *dB, *dC;
  cudaCheck(cudaMalloc((void **)&dA, sizeof(float) * m * k));
  cudaCheck(cudaMalloc((void **)&dB, sizeof(float) * k * n));
  cudaCheck(cudaMalloc((void **)&dC, sizeof(float) * m * n));
  run_sgemm_coalesce(m, n, k, alpha, dA, dB, beta, dC);
  cudaCheck(cudaGetLastError());
  cudaCheck(cudaDeviceSynchronize());
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
  return 0;
}
