#include <cuda_runtime.h>
#ifndef TILE
#define TILE 8
#endif
#ifndef SIZE
#define SIZE 64
#endif

__global__ void kernel(float *x, float *y, float *z)
{
    __shared__ float xs[TILE][TILE], ys[TILE][TILE];
    int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    float s = 0;
    for (int t = 0; t < SIZE; t += TILE) {
        xs[threadIdx.y][threadIdx.x] = x[r * SIZE + t + threadIdx.x];
        ys[threadIdx.y][threadIdx.x] = y[(t + threadIdx.y) * SIZE + c];
        __syncthreads();
        for (int k = 0; k < TILE; k++) s += xs[threadIdx.y][k] * ys[k][threadIdx.x];
        __syncthreads();
    }
    z[r * SIZE + c] = s;
}

int main()
{
    float *x, *y, *z;
    cudaMalloc(&x, SIZE * SIZE * sizeof(float));
    cudaMalloc(&y, SIZE * SIZE * sizeof(float));
    cudaMalloc(&z, SIZE * SIZE * sizeof(float));
    dim3 grid(SIZE / TILE, SIZE / TILE), block(TILE, TILE);
    kernel<<<grid, block>>>(x, y, z);
    return 0;
}
