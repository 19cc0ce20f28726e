#include <cuda_runtime.h>

__global__ void split_k(const float *A, const float *B, float *C, int M, int N, int K, int chunk)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int first = blockIdx.z * chunk, last = min(first + chunk, K);
    if (row >= M || col >= N) return;
    float s = 0;
    for (int k = first; k < last; ++k) s += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], s);
}

void run(const float *A, const float *B, float *C, int M, int N, int K)
{
    const int chunk = 16;
    cudaMemset(C, 0, M * N * sizeof(float));
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16, (K + chunk - 1) / chunk);
    split_k<<<grid, block>>>(A, B, C, M, N, K, chunk);
}
