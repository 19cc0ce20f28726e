#include <cuda_runtime.h>
#define IDX2C(i, j, ld) (((j) * (ld)) + (i))

// All matrices are stored by columns, as the library of the vendor has them.
__global__ void gemm_colmajor(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        float t = 0.f;
        for (int p = 0; p < k; p++)
            t += A[IDX2C(i, p, m)] * B[IDX2C(p, j, k)];
        C[IDX2C(i, j, m)] = t;
    }
}

int main()
{
    int m = 64, n = 48, k = 32;
    float *A, *B, *C;
    cudaMalloc((void**)&A, m * k * sizeof(*A));
    cudaMalloc((void**)&B, k * n * sizeof(*B));
    cudaMalloc((void**)&C, m * n * sizeof(*C));
    dim3 b(16, 16);
    dim3 g((m + b.x - 1) / b.x, (n + b.y - 1) / b.y);
    gemm_colmajor<<<g, b>>>(m, n, k, A, B, C);
    cudaDeviceSynchronize();
}
