#include <cuda_runtime.h>

__global__ void gemm_ex(const float *A, const float *B, float *C, int n)
{
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n || c >= n) return;
    float s = 0;
    for (int k = 0; k < n; ++k) s += A[r * n + k] * B[k * n + c];
    C[r * n + c] = s;
}

void run(const float *A, const float *B, float *C, int n)
{
    cudaLaunchConfig_t config = {0};
    config.gridDim = dim3((n + 15) / 16, (n + 15) / 16);
    config.blockDim = dim3(16, 16);
    config.dynamicSmemBytes = 0;
    cudaLaunchKernelEx(&config, gemm_ex, A, B, C, n);
}
