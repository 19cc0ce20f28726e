#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// The argument order of BLAS
__global__ void hgemm_ld(int m, int n, int k, float alpha, const half* A, int lda, const half* B, int ldb, float beta, float* C, int ldc)
{
    int row = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
    int col = blockIdx.y * 16;
    if (row >= m || col >= n)
        return;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> ab, c;
    wmma::fill_fragment(ab, 0.0f);
    for (int i = 0; i < k; i += 16)
    {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, A + row * lda + i, lda);
        wmma::load_matrix_sync(b, B + i * ldb + col, ldb);
        wmma::mma_sync(ab, a, b, ab);
    }
    float* dst = C + row * ldc + col;
    wmma::load_matrix_sync(c, dst, ldc, wmma::mem_row_major);
    for (int e = 0; e < c.num_elements; ++e)
        c.x[e] = alpha * ab.x[e] + beta * c.x[e];
    wmma::store_matrix_sync(dst, c, ldc, wmma::mem_row_major);
}

int main()
{
    const int m = 128, n = 64, k = 32;
    half *dA, *dB;
    float *dC;
    cudaMalloc(&dA, m * k * sizeof(half));
    cudaMalloc(&dB, k * n * sizeof(half));
    cudaMalloc(&dC, m * n * sizeof(float));
    dim3 threads(32, 2);
    dim3 blocks(m / 32, n / 16);
    hgemm_ld<<<blocks, threads>>>(m, n, k, 1.0f, dA, k, dB, n, 0.5f, dC, n);
    cudaDeviceSynchronize();
    return 0;
}
