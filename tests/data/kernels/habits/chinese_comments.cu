#include <stdio.h>
#include <cuda_runtime.h>

// 矩阵乘法：每个线程计算 C 的一个元素（行优先存储）
const int BLOCK = 16;  // 线程块的边长

__global__ void warmUp(void) {}  // 占位

/* 使用共享内存的矩阵乘法，减少对全局内存的访问 */
__global__ void matMulShared(float *矩阵A, float *B, float *C, int M, int K, int N)
{
    __shared__ float 子块A[BLOCK][BLOCK];   // 存放 A 的子块
    __shared__ float subB[BLOCK][BLOCK];    // 存放 B 的子块
    int 行 = blockIdx.y * BLOCK + threadIdx.y;
    int col = blockIdx.x * BLOCK + threadIdx.x;
    float sum = 0.0f;  // 累加器
    for (int s = 0; s < (K + BLOCK - 1) / BLOCK; ++s) {
        int kx = s * BLOCK + threadIdx.x, ky = s * BLOCK + threadIdx.y;
        子块A[threadIdx.y][threadIdx.x] = (行 < M && kx < K) ? 矩阵A[行 * K + kx] : 0.0f;
        subB[threadIdx.y][threadIdx.x] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();  // 等待全部线程
        for (int k = 0; k < BLOCK; ++k)
            sum += 子块A[threadIdx.y][k] * subB[k][threadIdx.x];
        __syncthreads();
    }
    if (行 < M && col < N)
        C[行 * N + col] = sum;
}

int main()
{
    const int M = 100, K = 70, N = 90;  // 矩阵的大小
    float *dA, *dB, *dC;
    cudaMalloc((void **)&dA, M * K * sizeof(float));
    cudaMalloc((void **)&dB, K * N * sizeof(float));
    cudaMalloc((void **)&dC, M * N * sizeof(float));
    dim3 threads(BLOCK, BLOCK);
    dim3 grid((N - 1) / BLOCK + 1, (M - 1) / BLOCK + 1);
    matMulShared<<<grid, threads>>>(dA, dB, dC, M, K, N);   // 启动核函数
    printf("完成\n");
    return 0;
}
