#include <omp.h>
#include <thrust/host_vector.h>
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <chrono>
#include <iostream>

__global__ void gpu_gemm(const float *a, const float *b, float *c, size_t m, size_t n, size_t k)
{
    size_t i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m || j >= n) return;
    float s = 0;
    for (size_t p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
    c[i * n + j] = s;
}

void cpu_gemm(const float *a, const float *b, float *c, size_t m, size_t n, size_t k)
{
#pragma omp parallel for collapse(2)
    for (size_t i = 0; i < m; ++i)
        for (size_t j = 0; j < n; ++j) {
            float s = 0;
            for (size_t p = 0; p < k; ++p) s += a[i * k + p] * b[p * n + j];
            c[i * n + j] = s;
        }
}

int main()
{
    size_t m = 64, n = 96, k = 32;
    float *a, *b, *c;
    cudaMalloc(&a, m * k * sizeof(float));
    cudaMalloc(&b, k * n * sizeof(float));
    cudaMalloc(&c, m * n * sizeof(float));
    auto begin = std::chrono::high_resolution_clock::now();
    dim3 block(32, 8);
    dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    gpu_gemm<<<grid, block>>>(a, b, c, m, n, k);
    cudaDeviceSynchronize();
    auto end = std::chrono::high_resolution_clock::now();
    std::cout << std::chrono::duration<double>(end - begin).count() << "\n";
    float alpha = 1, beta = 0;
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, n, a, k, &beta, c, n);
    return 0;
}
