#include <cuda_runtime.h>
#define STREAMS 4

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}

int main()
{
    cudaStream_t streams[STREAMS];
    const int n = 4096, part = n / STREAMS;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    for (int s = 0; s < STREAMS; ++s) {
        cudaStreamCreate(&streams[s]);
        int offset = s * part;
        saxpy<<<(part + 127) / 128, 128, 0, streams[s]>>>(part, 2.0f, x + offset, y + offset);
    }
}
