#include <cuda_runtime.h>

__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float s = 0;
        for (int k = 0; k < K; ++k) s = fmaf(A[row * K + k], B[k * N + col], s);
        C[row * N + col] = s;
    }
}

cudaError_t run(const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
    dim3 block(32, 4);
    dim3 grid((N + 31) / 32, (M + 3) / 4);
    void *args[] = {&A, &B, &C, &M, &N, &K};
    return cudaLaunchKernel((void *)gemm, grid, block, args, 0, stream);
}
