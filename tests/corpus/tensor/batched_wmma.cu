#include <mma.h>
using namespace nvcuda;

__global__ void batched(const half *A, const half *B, float *C, int M, int N, int K, long strideA, long strideB, long strideC)
{
   A += blockIdx.z * strideA;
   B += blockIdx.z * strideB;
   C += blockIdx.z * strideC;
   int r = blockIdx.y * 16, c = blockIdx.x * 16;
   wmma::fragment<wmma::accumulator, 16, 16, 16, float> s;
   wmma::fill_fragment(s, 0.0f);
   for (int k = 0; k < K; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
      wmma::load_matrix_sync(a, A + r * K + k, K);
      wmma::load_matrix_sync(b, B + k * N + c, N);
      wmma::mma_sync(s, a, b, s);
   }
   wmma::store_matrix_sync(C + r * N + c, s, N, wmma::mem_row_major);
}

void gemmStridedBatched(const half *A, const half *B, float *C, int M, int N, int K, int batch)
{
   dim3 grid(N / 16, M / 16, batch);
   batched<<<grid, 32>>>(A, B, C, M, N, K, (long)M * K, (long)K * N, (long)M * N);
}
