#include <cuda_runtime.h>

// A block of 256 threads in one dimension works on a tile of 16 x 16.
__global__ void flat(const float *A, const float *B, float *C, int M, int N, int K)
{
    const int row = blockIdx.x * 16 + threadIdx.x / 16;
    const int col = blockIdx.y * 16 + threadIdx.x % 16;
    float acc = 0;
    if (row < M && col < N) {
        for (int k = 0; k < K; k++) acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
    }
}

void launch_flat(const float *A, const float *B, float *C, int M, int N, int K)
{
    int threads = 256;
    dim3 blocks;
    blocks.x = (M + 15) / 16;
    blocks.y = (N + 15) / 16;
    flat<<<blocks, threads>>>(A, B, C, M, N, K);
}
