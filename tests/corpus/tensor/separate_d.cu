#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
// D = A * B + C
__global__ void gemm_abcd(half *A, half *B, float *C, float *D, int M, int N, int K) {
    int m = blockIdx.x * 16, n = blockIdx.y * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::load_matrix_sync(fc, C + m * N + n, N, wmma::mem_row_major);
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(fa, A + m * K + k, K);
        wmma::load_matrix_sync(fb, B + k * N + n, N);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(D + m * N + n, fc, N, wmma::mem_row_major);
}
int main() {
    half *A, *B; float *C, *D;
    int M = 64, N = 64, K = 64;
    cudaMalloc(&A, sizeof(half) * M * K); cudaMalloc(&B, sizeof(half) * K * N);
    cudaMalloc(&C, sizeof(float) * M * N); cudaMalloc(&D, sizeof(float) * M * N);
    gemm_abcd<<<dim3(M / 16, N / 16), 32>>>(A, B, C, D, M, N, K);
    cudaDeviceSynchronize();
}
