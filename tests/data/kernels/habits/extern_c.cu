#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

__global__ void sgemm_c(int m, int n, int k, const float *a, int lda, const float *b, int ldb, float *c, int ldc)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n)
        return;
    float sum = 0;
    int p;
    for (p = 0; p < k; ++p)
        sum += a[i * lda + p] * b[p * ldb + j];
    c[i * ldc + j] = sum;
}

int run_sgemm(int m, int n, int k, const float *a, const float *b, float *c)
{
    dim3 block, grid;
    block.x = 8;
    block.y = 8;
    block.z = 1;
    grid.x = (m + 7) / 8;
    grid.y = (n + 7) / 8;
    grid.z = 1;
    sgemm_c<<<grid, block>>>(m, n, k, a, k, b, n, c, n);
    return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

#ifdef __cplusplus
}
#endif
