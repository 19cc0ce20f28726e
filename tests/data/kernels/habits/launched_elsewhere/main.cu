#include <cstdio>
#include "matmul.cuh"

int main()
{
    const int n = 64;
    real_t *A, *B, *C;
    cudaMalloc(&A, n * n * sizeof(real_t));
    cudaMalloc(&B, n * n * sizeof(real_t));
    cudaMalloc(&C, n * n * sizeof(real_t));
    dim3 threads(TILE_DIM, TILE_DIM);
    dim3 blocks(n / TILE_DIM, n / TILE_DIM);
    block_mul<<<blocks, threads>>>(A, B, C, n);
    cudaDeviceSynchronize();
    return 0;
}
