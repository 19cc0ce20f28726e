#include <cuda_runtime.h>
#define MASK_WIDTH 5
#define BLOCK 64
__constant__ float M[MASK_WIDTH];

__global__ void convolution_1D(const float *N, float *P, int Width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= Width) return;
    float value = 0;
    int start = i - MASK_WIDTH / 2;
    for (int j = 0; j < MASK_WIDTH; j++)
        if (start + j >= 0 && start + j < Width)
            value += N[start + j] * M[j];
    P[i] = value;
}

int main()
{
    float mask[MASK_WIDTH] = {1, 2, 3, 2, 1}, *d_N, *d_P;
    int width = 1000;
    cudaMalloc((void **)&d_N, width * sizeof(float));
    cudaMalloc((void **)&d_P, width * sizeof(float));
    cudaMemcpyToSymbol(M, mask, sizeof(mask));
    convolution_1D<<<ceil(width / (float)BLOCK), BLOCK>>>(d_N, d_P, width);
    return 0;
}
