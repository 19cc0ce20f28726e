#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;

// Four warps of a block share one 16x16 tile: each sums a quarter of k, then the parts are added in shared memory.
__global__ void gemm_sliced_k(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ float parts[4][16][16];
    const int slice = threadIdx.x / 32;
    const int row = blockIdx.y * 16, col = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k = slice * 16; k < K; k += 64) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + col, N);
        wmma::mma_sync(acc, a, b, acc);
    }
    wmma::store_matrix_sync(&parts[slice][0][0], acc, 16, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 128) {
        float sum = 0.0f;
        for (int s = 0; s < 4; ++s) sum += parts[s][i / 16][i % 16];
        C[(row + i / 16) * N + col + i % 16] = sum;
    }
}

void launch(const half* A, const half* B, float* C, int M, int N, int K)
{
    gemm_sliced_k<<<dim3(N / 16, M / 16), 128>>>(A, B, C, M, N, K);
}
