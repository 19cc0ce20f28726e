#include <cuda_runtime.h>
#include <stdint.h>

extern __shared__ float pool[];

__global__ void dyn_gemm(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K, int tile)
{
    float* sA = pool;
    float* sB = pool + tile * tile;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int64_t row = (int64_t)blockIdx.y * tile + ty;
    const int64_t col = (int64_t)blockIdx.x * tile + tx;
    float acc = 0.f;
    for (int64_t k0 = 0; k0 < K; k0 += tile) {
        sA[ty * tile + tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.f;
        sB[ty * tile + tx] = (col < N && k0 + ty < K) ? B[(k0 + ty) * N + col] : 0.f;
        __syncthreads();
        for (int k = 0; k < tile; ++k)
            acc += sA[ty * tile + k] * sB[k * tile + tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}

void gemm(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K)
{
    const int tile = 8;
    const size_t bytes = 2 * tile * tile * sizeof(float);
    cudaFuncSetAttribute(dyn_gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    dim3 block(tile, tile), grid((N + tile - 1) / tile, (M + tile - 1) / tile);
    dyn_gemm<<<grid, block, bytes, 0>>>(A, B, C, M, N, K, tile);
}
