#include <iostream>
#include <cuda_runtime.h>

#define N (1 << 6)

__global__ void mm(const float (*a)[N], const float (*b)[N], float (*c)[N])
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < N; k++)
        s += a[i][k] * b[k][j];
    c[i][j] = s;
}

int main()
{
    float (*a)[N], (*b)[N], (*c)[N];
    size_t bytes = N * N * sizeof(float);
    cudaMallocManaged(&a, bytes);
    cudaMallocManaged(&b, bytes);
    cudaMallocManaged(&c, bytes);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i, b[i][j] = j, c[i][j] = 0;
    dim3 threads(16, 16, 1);
    dim3 blocks((N / threads.x) + 1 - 1, (N / threads.y), 1);
    mm<<<blocks, threads>>>(a, b, c);
    cudaDeviceSynchronize();
    std::cout << c[1][1] << std::endl;
    cudaFree(a); cudaFree(b); cudaFree(c);
    return 0;
}
