// Split-K: blockIdx.z takes a slice of K and adds its partial tile to C with atomicAdd.
// C has to be zero before the launch.
#include <cuda_runtime.h>
#include <stdio.h>

#define TILE 16
#define SPLITS 4

__global__ void matmul_split_k(const float *__restrict__ A, const float *__restrict__ B, float *C,
                               int M, int N, int K)
{
    __shared__ float sA[TILE][TILE];
    __shared__ float sB[TILE][TILE];

    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;

    const int slice = (K + SPLITS - 1) / SPLITS;
    const int kBegin = blockIdx.z * slice;
    const int kEnd = min(kBegin + slice, K);

    float acc = 0.0f;
    for (int k0 = kBegin; k0 < kEnd; k0 += TILE) {
        const int ka = k0 + threadIdx.x;
        const int kb = k0 + threadIdx.y;
        sA[threadIdx.y][threadIdx.x] = (row < M && ka < kEnd) ? A[row * K + ka] : 0.0f;
        sB[threadIdx.y][threadIdx.x] = (col < N && kb < kEnd) ? B[kb * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            acc += sA[threadIdx.y][k] * sB[k][threadIdx.x];
        __syncthreads();
    }

    if (row < M && col < N)
        atomicAdd(&C[row * N + col], acc);
}

int main()
{
    int M = 100, N = 100, K = 400;
    float *A, *B, *C;
    cudaMalloc(&A, M * K * sizeof(float));
    cudaMalloc(&B, K * N * sizeof(float));
    cudaMalloc(&C, M * N * sizeof(float));
    cudaMemset(C, 0, M * N * sizeof(float));
    dim3 block(TILE, TILE);
    dim3 grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, SPLITS);
    matmul_split_k<<<grid, block>>>(A, B, C, M, N, K);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess)
        fprintf(stderr, "launch failed: %s\n", cudaGetErrorString(err));
    cudaDeviceSynchronize();
    return 0;
}
