#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// out = relu(x * w + bias), x: [M, K], w: [K, N], bias: [N]
__global__ void fused_linear_relu(const half* x, const half* w, const half* bias, half* out, int M, int N, int K) {
  __shared__ float stage[2][16 * 16];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int m = blockIdx.y * 16, n = blockIdx.x * 32 + warp * 16;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::load_matrix_sync(a, x + m * K + k, K);
    wmma::load_matrix_sync(b, w + k * N + n, N);
    wmma::mma_sync(acc, a, b, acc);
  }
  wmma::store_matrix_sync(stage[warp], acc, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    const int r = i / 16, c = i % 16;
    const float v = stage[warp][i] + __half2float(bias[n + c]);
    out[(m + r) * N + n + c] = __float2half(fmaxf(v, 0.0f));
  }
}

void linear_relu(const half* x, const half* w, const half* bias, half* out, int M, int N, int K) {
  fused_linear_relu<<<dim3(N / 32, M / 16), 64>>>(x, w, bias, out, M, N, K);
}
