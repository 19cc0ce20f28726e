#include <cuda_runtime.h>

__global__ void addMatrices(float *first, float *second, float *total, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) total[y * width + x] = first[y * width + x] + second[y * width + x];
}

void add(float *first, float *second, float *total, int width, int height)
{
    dim3 block(32, 8);
    dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
    addMatrices<<<grid, block>>>(first, second, total, width, height);
}
