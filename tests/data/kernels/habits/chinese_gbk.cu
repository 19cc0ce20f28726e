// 矩阵乘法，朴素实现
#include <stdio.h>

__global__ void gpuMatMul(float *A, float *B, float *C, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;  // 行号
    int col = blockIdx.x * blockDim.x + threadIdx.x;  // 列号
    float sum = 0;
    if (row < m && col < k)
    {
        for (int i = 0; i < n; i++)
            sum += A[row * n + i] * B[i * k + col];  // 累加
        C[row * k + col] = sum;
    }
}

int main(int argc, char const *argv[])
{
    int m = 80, n = 70, k = 60;  // 尺寸
    float *A, *B, *C;
    cudaMalloc((void **)&A, sizeof(float) * m * n);
    cudaMalloc((void **)&B, sizeof(float) * n * k);
    cudaMalloc((void **)&C, sizeof(float) * m * k);
    unsigned int rows = (m + 16 - 1) / 16;
    unsigned int cols = (k + 16 - 1) / 16;
    dim3 grid(cols, rows);
    dim3 block(16, 16);
    gpuMatMul<<<grid, block>>>(A, B, C, m, n, k);
    return 0;
}
