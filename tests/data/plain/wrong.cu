// A homework with a mistake: the loop stops one term early.
#include <stdio.h>
__global__ void matmul(float* A, float* B, float* C, int width) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < width && col < width) {
        float value = 0;
        for (int k = 0; k < width - 1; ++k) value += A[row * width + k] * B[k * width + col];
        C[row * width + col] = value;
    }
}

void run(float* dA, float* dB, float* dC, int width) {
    dim3 threads(16, 16);
    dim3 blocks((width + 15) / 16, (width + 15) / 16);
    matmul<<<blocks, threads>>>(dA, dB, dC, width);
}
