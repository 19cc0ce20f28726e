#include <cuda_runtime.h>
static int iDivUp(int a, int b) { return (a % b != 0) ? (a / b + 1) : (a / b); }

__global__ void gemm_ld(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta,
                        float *c, int ldc)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && col < n) {
        float acc = 0.f;
        for (int p = 0; p < k; ++p) acc += a[row * lda + p] * b[p * ldb + col];
        c[row * ldc + col] = alpha * acc + (beta == 0.f ? 0.f : beta * c[row * ldc + col]);
    }
}

int main()
{
    int m = 64, n = 64, k = 64, lda = k, ldb = n, ldc = n;
    float alpha = 1.0f, beta = 0.0f, *a, *b, *c;
    cudaMalloc(&a, m * lda * sizeof(float));
    cudaMalloc(&b, k * ldb * sizeof(float));
    cudaMalloc(&c, m * ldc * sizeof(float));
    gemm_ld<<<dim3(iDivUp(n, 32), iDivUp(m, 8)), dim3(32, 8)>>>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
