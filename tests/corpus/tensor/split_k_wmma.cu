#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#define SPLIT_K 4

// The k dimension is cut into SPLIT_K slices; every slice adds its part to C.
__global__ void gemm_splitk(const half* A, const half* B, float* C, int M, int N, int K)
{
  namespace w = nvcuda::wmma;
  __shared__ float part[256];
  int chunk = K / SPLIT_K;
  int begin = blockIdx.z * chunk;
  w::fragment<w::accumulator, 16, 16, 16, float> f;
  w::fill_fragment(f, 0.0f);
  for (int k = begin; k < begin + chunk; k += 16)
  {
    w::fragment<w::matrix_a, 16, 16, 16, half, w::row_major> fa;
    w::fragment<w::matrix_b, 16, 16, 16, half, w::row_major> fb;
    w::load_matrix_sync(fa, A + blockIdx.y * 16 * K + k, K);
    w::load_matrix_sync(fb, B + k * N + blockIdx.x * 16, N);
    w::mma_sync(f, fa, fb, f);
  }
  w::store_matrix_sync(part, f, 16, w::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 32)
    atomicAdd(&C[(blockIdx.y * 16 + i / 16) * N + blockIdx.x * 16 + i % 16], part[i]);
}

void run(const half* A, const half* B, float* C, int M, int N, int K)
{
  cudaMemset(C, 0, sizeof(float) * M * N);
  dim3 grid(N / 16, M / 16, SPLIT_K);
  gemm_splitk<<<grid, 32>>>(A, B, C, M, N, K);
}
