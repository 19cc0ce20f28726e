// HGEMM: half inputs, float accumulation, half output.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdio.h>

#define TILE_SIZE 16

__global__ void hgemm_tiled(const half *a, const half *b, half *c, int m, int n, int k) {
    __shared__ half s_a[TILE_SIZE][TILE_SIZE];
    __shared__ half s_b[TILE_SIZE][TILE_SIZE + 2];  // + 2: no bank conflicts

    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float acc = 0.0f;

    for (int t = 0; t < (k + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int ak = t * TILE_SIZE + threadIdx.x;
        int bk = t * TILE_SIZE + threadIdx.y;
        s_a[threadIdx.y][threadIdx.x] = (row < m && ak < k) ? a[row * k + ak] : __float2half(0.0f);
        s_b[threadIdx.y][threadIdx.x] = (bk < k && col < n) ? b[bk * n + col] : __float2half(0.0f);
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; i++)
            acc += __half2float(s_a[threadIdx.y][i]) * __half2float(s_b[i][threadIdx.x]);
        __syncthreads();
    }

    if (row < m && col < n)
        c[row * n + col] = __float2half(acc);
}

int main(void) {
    int m = 512, n = 512, k = 512;
    half *a, *b, *c;
    cudaMalloc((void **)&a, m * k * sizeof(half));
    cudaMalloc((void **)&b, k * n * sizeof(half));
    cudaMalloc((void **)&c, m * n * sizeof(half));
    dim3 threads(TILE_SIZE, TILE_SIZE);
    dim3 blocks((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    hgemm_tiled<<<blocks, threads>>>(a, b, c, m, n, k);
    cudaDeviceSynchronize();
    cudaFree(a); cudaFree(b); cudaFree(c);
    return 0;
}
