#include <cuda_runtime.h>
#define SECTION 128

__global__ void kogge_stone(const float *X, float *Y, int n)
{
    __shared__ float xy[SECTION];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    xy[threadIdx.x] = i < n ? X[i] : 0.f;
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float v = threadIdx.x >= stride ? xy[threadIdx.x - stride] : 0.f;
        __syncthreads();
        xy[threadIdx.x] += v;
    }
    if (i < n) Y[i] = xy[threadIdx.x];
}

void scan(const float *X, float *Y) { kogge_stone<<<1, SECTION>>>(X, Y, SECTION); }
