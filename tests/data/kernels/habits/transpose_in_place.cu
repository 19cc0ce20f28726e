#include <cuda_runtime.h>
#define TILE 16

__global__ void transposeInPlace(float *matrix, int n)
{
    int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (row < n && col < row) {
        float upper = matrix[col * n + row];
        matrix[col * n + row] = matrix[row * n + col];
        matrix[row * n + col] = upper;
    }
}

int main()
{
    int n = 200;
    float *matrix;
    cudaMalloc(&matrix, n * n * sizeof(float));
    transposeInPlace<<<dim3((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), dim3(TILE, TILE)>>>(matrix, n);
}
