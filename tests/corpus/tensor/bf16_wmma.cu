#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
typedef __nv_bfloat16 bf16;

// one warp -> 16 x 32 outputs (two accumulators), four warps stacked along m
__global__ void bf16_gemm_kernel(const bf16* x, const bf16* w, float* y, int tokens, int out_features, int in_features) {
  const int warp_id = threadIdx.x / 32;
  const int m0 = (blockIdx.x * 4 + warp_id) * 16, n0 = blockIdx.y * 32;
  if (m0 >= tokens) return;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2];
  wmma::fill_fragment(acc[0], 0.f);
  wmma::fill_fragment(acc[1], 0.f);
  for (int k0 = 0; k0 < in_features; k0 += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> xa;
    wmma::load_matrix_sync(xa, x + m0 * in_features + k0, in_features);
    for (int j = 0; j < 2; ++j) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::col_major> wb;   // weights are [out, in]
      wmma::load_matrix_sync(wb, w + (n0 + j * 16) * in_features + k0, in_features);
      wmma::mma_sync(acc[j], xa, wb, acc[j]);
    }
  }
  for (int j = 0; j < 2; ++j)
    wmma::store_matrix_sync(y + m0 * out_features + n0 + j * 16, acc[j], out_features, wmma::mem_row_major);
}

void linear_forward(const bf16* x, const bf16* w, float* y, int tokens, int out_features, int in_features) {
  dim3 grid((tokens + 63) / 64, out_features / 32);
  bf16_gemm_kernel<<<grid, 128>>>(x, w, y, tokens, out_features, in_features);
}
