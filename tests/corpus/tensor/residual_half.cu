#include <cuda_fp16.h>
#include <mma.h>

// out = x @ w + residual, all half
__global__ void gemm_residual(const half *x, const half *w, const half *residual, half *out, int rows, int cols, int depth)
{
    using namespace nvcuda;
    const int r = blockIdx.y * 16, c = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> acc, res;
    wmma::fill_fragment(acc, __float2half(0.f));
    for (int d = 0; d < depth; d += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, x + r * depth + d, depth);
        wmma::load_matrix_sync(b, w + d * cols + c, cols);
        wmma::mma_sync(acc, a, b, acc);
    }
    wmma::load_matrix_sync(res, residual + r * cols + c, cols, wmma::mem_row_major);
    for (int i = 0; i < acc.num_elements; ++i) acc.x[i] = __hadd(acc.x[i], res.x[i]);
    wmma::store_matrix_sync(out + r * cols + c, acc, cols, wmma::mem_row_major);
}

void launch(const half *x, const half *w, const half *residual, half *out, int rows, int cols, int depth)
{
    gemm_residual<<<dim3(cols / 16, rows / 16), 32>>>(x, w, residual, out, rows, cols, depth);
}
