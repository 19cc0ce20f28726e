#include <cuda_runtime.h>

__global__ void batched_gemm(const float *A, const float *B, float *C, int batch, int M, int N, int K)
{
    int b = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch || row >= M || col >= N) return;
    const float *a = A + (size_t)b * M * K;
    const float *w = B + (size_t)b * K * N;
    float acc = 0.f;
    for (int k = 0; k < K; ++k) acc += a[row * K + k] * w[k * N + col];
    C[((size_t)b * M + row) * N + col] = acc;
}

void forward(const float *A, const float *B, float *C, int batch, int M, int N, int K)
{
    dim3 block(16, 8, 1);
    dim3 grid((N + block.x - 1) / block.x, (M + block.y - 1) / block.y, batch);
    batched_gemm<<<grid, block>>>(A, B, C, batch, M, N, K);
}

int main()
{
    float *A, *B, *C;
    cudaMalloc(&A, 1 * 64 * 32 * 4);
    cudaMalloc(&B, 1 * 32 * 48 * 4);
    cudaMalloc(&C, 1 * 64 * 48 * 4);
    forward(A, B, C, 1, 64, 48, 32);
}
