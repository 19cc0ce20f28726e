#include <stdio.h>
#define N 64
__device__ float dA[N * N], dB[N * N], dC[N * N];

__global__ void mm_symbols()
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < N; k++) s += dA[i * N + k] * dB[k * N + j];
    dC[i * N + j] = s;
}

float A[N * N], B[N * N], C[N * N];

int main()
{
    for (int i = 0; i < N * N; i++) { A[i] = i % 5; B[i] = i % 6; }
    cudaMemcpyToSymbol(dA, A, sizeof(A));
    cudaMemcpyToSymbol(dB, B, sizeof(B));
    dim3 t(16, 16);
    mm_symbols<<<dim3(N / 16, N / 16), t>>>();
    cudaMemcpyFromSymbol(C, dC, sizeof(C));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < N; k++) s += A[i * N + k] * B[k * N + j];
            if (s != C[i * N + j]) return 1;
        }
    return 0;
}
