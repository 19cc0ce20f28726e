#include <mma.h>
using namespace nvcuda;

// Double precision on the tensor cores of an A100: m8n8k4
__global__ void dgemm_wmma(const double* A, const double* B, double* C, int M, int N, int K) {
  int r = blockIdx.y * 8, c = blockIdx.x * 8;
  wmma::fragment<wmma::accumulator, 8, 8, 4, double> acc;
  wmma::fill_fragment(acc, 0.0);
  for (int k = 0; k < K; k += 4) {
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> b;
    wmma::load_matrix_sync(a, A + r * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + c, N);
    wmma::mma_sync(acc, a, b, acc);
  }
  wmma::store_matrix_sync(C + r * N + c, acc, N, wmma::mem_row_major);
}

void launch(const double* A, const double* B, double* C, int M, int N, int K) {
  dgemm_wmma<<<dim3(N / 8, M / 8), 32>>>(A, B, C, M, N, K);
}
