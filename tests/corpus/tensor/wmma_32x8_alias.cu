#include <mma.h>
#include <cuda_fp16.h>

namespace {

using FragA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 32, 8, 16, __half, nvcuda::wmma::row_major>;
using FragB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 32, 8, 16, __half, nvcuda::wmma::col_major>;
using FragC = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 32, 8, 16, float>;

struct GemmArgs {
  const __half* a;
  const __half* b;   // transposed: n x k
  float* c;
  int m, n, k;
};

}  // namespace

__global__ void tall_gemm(const __half* a, const __half* b, float* c, int m, int n, int k) {
  const auto row = 32u * blockIdx.x;
  const auto col = 8u * (blockIdx.y * 4u + threadIdx.x / 32u);
  FragC acc;
  nvcuda::wmma::fill_fragment(acc, 0.0f);
  FragA fa;
  FragB fb;
  auto step = 0;
  while (step < k) {
    nvcuda::wmma::load_matrix_sync(fa, a + row * k + step, k);
    nvcuda::wmma::load_matrix_sync(fb, b + col * k + step, k);
    nvcuda::wmma::mma_sync(acc, fa, fb, acc);
    step += 16;
  }
  nvcuda::wmma::store_matrix_sync(c + row * n + col, acc, n, nvcuda::wmma::mem_row_major);
}

void run_gemm(const GemmArgs& args, cudaStream_t stream = nullptr) {
  const dim3 grid(args.m / 32, args.n / 32);
  tall_gemm<<<grid, 128, 0, stream>>>(args.a, args.b, args.c, args.m, args.n, args.k);
}
