#include <cuda_runtime.h>
#define BINS 64

__global__ void histogram(const unsigned int *values, unsigned int *bins, int n)
{
    __shared__ unsigned int mine[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[values[i] % BINS], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

int main()
{
    const int n = 1 << 14;
    unsigned int *values, *bins;
    cudaMalloc(&values, n * sizeof(unsigned int));
    cudaMalloc(&bins, BINS * sizeof(unsigned int));
    cudaMemset(bins, 0, BINS * sizeof(unsigned int));
    histogram<<<16, 128>>>(values, bins, n);
    return 0;
}
