#include "matmul.cuh"

__global__ void block_mul(const real_t *A, const real_t *B, real_t *C, int n)
{
    __shared__ real_t tA[TILE_DIM][TILE_DIM];
    __shared__ real_t tB[TILE_DIM][TILE_DIM];
    int row = blockIdx.y * TILE_DIM + threadIdx.y;
    int col = blockIdx.x * TILE_DIM + threadIdx.x;
    real_t sum = 0;
    for (int t = 0; t < n / TILE_DIM; t++) {
        tA[threadIdx.y][threadIdx.x] = A[row * n + t * TILE_DIM + threadIdx.x];
        tB[threadIdx.y][threadIdx.x] = B[(t * TILE_DIM + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE_DIM; k++)
            sum += tA[threadIdx.y][k] * tB[k][threadIdx.x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
