#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define BLOCK_SIZE 16

// Every thread computes one entry of the product.
__global__ void matmul(float *a, float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float total = 0;
        for (int i = 0; i < k; i++)
            total += a[row * k + i] * b[i * n + col];
        c[row * n + col] = total;
    }
}

int main(int argc, char **argv)
{
    int m = argc > 1 ? atoi(argv[1]) : 256;
    int n = argc > 2 ? atoi(argv[2]) : 128;
    int k = argc > 3 ? atoi(argv[3]) : 64;
    float *h_a = (float *)malloc(m * k * sizeof(float));
    float *h_b = (float *)malloc(k * n * sizeof(float));
    float *h_c = (float *)malloc(m * n * sizeof(float));
    for (int i = 0; i < m * k; i++) h_a[i] = rand() % 10;
    for (int i = 0; i < k * n; i++) h_b[i] = rand() % 10;
    float *d_a, *d_b, *d_c;
    cudaMalloc((void **)&d_a, m * k * sizeof(float));
    cudaMalloc((void **)&d_b, k * n * sizeof(float));
    cudaMalloc((void **)&d_c, m * n * sizeof(float));
    cudaMemcpy(d_a, h_a, m * k * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, h_b, k * n * sizeof(float), cudaMemcpyHostToDevice);
    dim3 threads(BLOCK_SIZE, BLOCK_SIZE);
    dim3 blocks((n + BLOCK_SIZE - 1) / BLOCK_SIZE, (m + BLOCK_SIZE - 1) / BLOCK_SIZE);
    matmul<<<blocks, threads>>>(d_a, d_b, d_c, m, n, k);
    cudaMemcpy(h_c, d_c, m * n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("c[0] = %f\n", h_c[0]);
    cudaFree(d_a); cudaFree(d_b); cudaFree(d_c);
    free(h_a); free(h_b); free(h_c);
    return 0;
}
