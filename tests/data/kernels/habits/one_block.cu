#include <stdio.h>
#define N 16

__global__ void single(float A[N][N], float B[N][N], float C[N][N])
{
    int i = threadIdx.y, j = threadIdx.x;
    float s = 0;
    for (int k = 0; k < N; ++k) s += A[i][k] * B[k][j];
    C[i][j] = s;
}

int main()
{
    float (*A)[N], (*B)[N], (*C)[N];
    cudaMalloc((void **)&A, N * N * sizeof(float));
    cudaMalloc((void **)&B, N * N * sizeof(float));
    cudaMalloc((void **)&C, N * N * sizeof(float));
    dim3 threadsPerBlock(N, N);
    single<<<1, threadsPerBlock>>>(A, B, C);
    return 0;
}
