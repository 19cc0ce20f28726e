#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

struct GemmParams {
  const half* A;
  const half* B;
  float* C;
  int M, N, K;
  int lda, ldb, ldc;
};

__global__ void gemm_struct(const GemmParams p) {
  const int i = blockIdx.y * 16;
  const int j = blockIdx.x * 16;
  if (i >= p.M || j >= p.N) return;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k = 0; k < p.K; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::load_matrix_sync(a, p.A + i * p.lda + k, p.lda);
    wmma::load_matrix_sync(b, p.B + k * p.ldb + j, p.ldb);
    wmma::mma_sync(acc, a, b, acc);
  }
  wmma::store_matrix_sync(p.C + i * p.ldc + j, acc, p.ldc, wmma::mem_row_major);
}

void run(const half* A, const half* B, float* C, int M, int N, int K) {
  GemmParams p{A, B, C, M, N, K, K, N, N};
  gemm_struct<<<dim3((N + 15) / 16, (M + 15) / 16), 32>>>(p);
}
