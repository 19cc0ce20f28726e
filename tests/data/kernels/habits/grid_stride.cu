#include <cuda_runtime.h>

__global__ void gemm_grid_stride(const double* A, const double* B, double* C, size_t M, size_t N, size_t K)
{
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < M * N; at += (size_t)gridDim.x * blockDim.x) {
        size_t i = at / N, j = at % N;
        double sum = 0.0;
        for (size_t k = 0; k < K; ++k)
            sum += A[i * K + k] * B[k * N + j];
        C[at] = sum;
    }
}

int main()
{
    size_t M = 300, N = 200, K = 100;
    double *A, *B, *C;
    cudaMalloc(&A, M * K * sizeof(double));
    cudaMalloc(&B, K * N * sizeof(double));
    cudaMalloc(&C, M * N * sizeof(double));
    gemm_grid_stride<<<32, 128>>>(A, B, C, M, N, K);
    return cudaDeviceSynchronize();
}
