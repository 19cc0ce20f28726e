#include <mma.h>
#include <cuda_fp16.h>

using nvcuda::wmma::fragment;
using nvcuda::wmma::accumulator;
using nvcuda::wmma::matrix_a;
using nvcuda::wmma::matrix_b;
using nvcuda::wmma::row_major;

/// A warp's accumulator with the operations that a GEMM needs.
template <int ROWS, int COLS>
class WarpTile {
public:
    __device__ WarpTile() {
        for (int i = 0; i < kRows; ++i)
            for (int j = 0; j < kCols; ++j) nvcuda::wmma::fill_fragment(acc_[i][j], 0.0f);
    }

    __device__ void accumulate(const half *a, int lda, const half *b, int ldb) {
        fragment<matrix_a, 16, 16, 16, half, row_major> fa[kRows];
        fragment<matrix_b, 16, 16, 16, half, row_major> fb[kCols];
        for (int i = 0; i < kRows; ++i) nvcuda::wmma::load_matrix_sync(fa[i], a + i * 16 * lda, lda);
        for (int j = 0; j < kCols; ++j) nvcuda::wmma::load_matrix_sync(fb[j], b + j * 16, ldb);
        for (int i = 0; i < kRows; ++i)
            for (int j = 0; j < kCols; ++j) nvcuda::wmma::mma_sync(acc_[i][j], fa[i], fb[j], acc_[i][j]);
    }

    __device__ void store(float *c, int ldc) const {
        for (int i = 0; i < kRows; ++i)
            for (int j = 0; j < kCols; ++j)
                nvcuda::wmma::store_matrix_sync(c + i * 16 * ldc + j * 16, acc_[i][j], ldc, nvcuda::wmma::mem_row_major);
    }

private:
    static constexpr int kRows = ROWS / 16;
    static constexpr int kCols = COLS / 16;
    fragment<accumulator, 16, 16, 16, float> acc_[kRows][kCols];
};

template <int ROWS, int COLS>
__global__ void gemm_with_tiles(const half *a, const half *b, float *c, int m, int n, int k) {
    const int row = blockIdx.y * ROWS;
    const int col = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * COLS;
    if (row >= m || col >= n) return;

    WarpTile<ROWS, COLS> tile;
    for (int kk = 0; kk < k; kk += 16) tile.accumulate(a + row * k + kk, k, b + kk * n + col, n);
    tile.store(c + row * n + col, n);
}

void gemm(const half *a, const half *b, float *c, int m, int n, int k) {
    constexpr int rows = 32, cols = 16, warps = 2;
    dim3 grid((n + cols * warps - 1) / (cols * warps), (m + rows - 1) / rows);
    gemm_with_tiles<rows, cols><<<grid, warps * 32>>>(a, b, c, m, n, k);
}
