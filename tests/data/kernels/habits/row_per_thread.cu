#include <stdio.h>

// One thread works out a whole row.
__global__ void row_mul(const int *a, const int *b, int *c, const int size)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < size) {
        for (int col = 0; col < size; ++col) {
            int sum = 0;
            for (int k = 0; k < size; ++k)
                sum += a[row * size + k] * b[k * size + col];
            c[row * size + col] = sum;
        }
    }
}

int main(int argc, char **argv)
{
    int size;
    if (argc == 2) {
        size = atoi(argv[1]);
    } else {
        size = 64;
    }
    int *a, *b, *c;
    cudaMalloc(&a, size * size * sizeof(int));
    cudaMalloc(&b, size * size * sizeof(int));
    cudaMalloc(&c, size * size * sizeof(int));
    int threads = 32;
    int blocks = (size + threads - 1) / threads;
    row_mul<<<blocks, threads>>>(a, b, c, size);
    cudaDeviceSynchronize();
    return 0;
}
