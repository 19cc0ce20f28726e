#include <cstdio>
#include <cstdlib>
#include "cuda_runtime.h"

template <int TS>
__global__ void gemmTile(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float sa[TS][TS];
    __shared__ float sb[TS][TS + 1];
    int r = blockIdx.y * TS + threadIdx.y, c = blockIdx.x * TS + threadIdx.x;
    float sum = 0.f;
    for (int k0 = 0; k0 < K; k0 += TS) {
        sa[threadIdx.y][threadIdx.x] = (r < M && k0 + threadIdx.x < K) ? A[r * K + k0 + threadIdx.x] : 0.f;
        sb[threadIdx.y][threadIdx.x] = (k0 + threadIdx.y < K && c < N) ? B[(k0 + threadIdx.y) * N + c] : 0.f;
        __syncthreads();
        for (int k = 0; k < TS; ++k)
            sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
        __syncthreads();
    }
    if (r < M && c < N)
        C[r * N + c] = sum;
}

void launch(int tile, const float *A, const float *B, float *C, int M, int N, int K)
{
    dim3 block(tile, tile);
    dim3 grid((N + tile - 1) / tile, (M + tile - 1) / tile);
    switch (tile) {
    case 4:
        gemmTile<4><<<grid, block>>>(A, B, C, M, N, K);
        break;
    case 8:
        gemmTile<8><<<grid, block>>>(A, B, C, M, N, K);
        break;
    case 16:
        gemmTile<16><<<grid, block>>>(A, B, C, M, N, K);
        break;
    default:
        fprintf(stderr, "no kernel for tile %d\n", tile);
        exit(1);
    }
}

int main(int argc, char *argv[])
{
    int tile = 8;
    if (argc > 1)
        tile = atoi(argv[1]);
    const int M = 96, N = 64, K = 80;
    float *A, *B, *C;
    cudaMalloc(&A, sizeof(float) * M * K);
    cudaMalloc(&B, sizeof(float) * K * N);
    cudaMalloc(&C, sizeof(float) * M * N);
    launch(tile, A, B, C, M, N, K);
    cudaDeviceSynchronize();
    return 0;
}
