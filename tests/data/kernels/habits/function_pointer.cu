#include <cuda_runtime.h>
#include <stdio.h>

typedef void (*GemmKernel)(const float *, const float *, float *, int);

__global__ void by_columns(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
}

__global__ void by_rows(const float *a, const float *b, float *c, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
    c[i * n + j] = s;
}

float time_it(GemmKernel kernel, const float *a, const float *b, float *c, int n, const char *name)
{
    cudaEvent_t start, stop;
    float ms = 0;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    cudaEventRecord(start);
    for (int i = 0; i < 10; i++)
        kernel<<<grid, block>>>(a, b, c, n);
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    cudaEventElapsedTime(&ms, start, stop);
    printf("%s: %.3f ms\n", name, ms / 10);
    return ms;
}

int main()
{
    const int n = 128;
    float *a, *b, *c;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    time_it(by_columns, a, b, c, n, "columns");
    time_it(by_rows, a, b, c, n, "rows");
    return 0;
}
