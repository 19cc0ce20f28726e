#include <cuda_runtime.h>
#define T 8

__global__ void gemm_two_stages(const float *A, const float *B, float *C, int N)
{
    __shared__ float a[2][T][T], b[2][T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x, stage = 0;
    float sum = 0;
    a[0][y][x] = A[row * N + x];
    b[0][y][x] = B[y * N + col];
    __syncthreads();
    for (int k0 = T; k0 <= N; k0 += T) {
        if (k0 < N) {
            a[stage ^ 1][y][x] = A[row * N + k0 + x];
            b[stage ^ 1][y][x] = B[(k0 + y) * N + col];
        }
        for (int k = 0; k < T; ++k)
            sum += a[stage][y][k] * b[stage][k][x];
        __syncthreads();
        stage ^= 1;
    }
    C[row * N + col] = sum;
}

int main(void)
{
    int N = 1 << 8;
    float *A, *B, *C;
    cudaMalloc((void **)&A, sizeof(float) * N * N);
    cudaMalloc((void **)&B, sizeof(float) * N * N);
    cudaMalloc((void **)&C, sizeof(float) * N * N);
    gemm_two_stages<<<dim3(N / T, N / T), dim3(T, T)>>>(A, B, C, N);
    return (int)cudaDeviceSynchronize();
}
