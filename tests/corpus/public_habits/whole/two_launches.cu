// C = (A B) computed as transpose of B first, then rows against rows
#include <stdio.h>
#include <stdlib.h>
#define BD 16

__global__ void matmul_transposed(const float *A, const float *Bt, float *C, int M, int N, int K)
{
    int i = blockIdx.y * BD + threadIdx.y;
    int j = blockIdx.x * BD + threadIdx.x;
    if (i < M && j < N) {
        float acc = 0.f;
        for (int k = 0; k < K; k++) acc += A[i * K + k] * Bt[j * K + k];
        C[i * N + j] = acc;
    }
}

__global__ void transpose(const float *in, float *out, int rows, int cols)
{
    int i = blockIdx.y * BD + threadIdx.y;
    int j = blockIdx.x * BD + threadIdx.x;
    if (i < rows && j < cols) out[j * rows + i] = in[i * cols + j];
}

int main(int argc, char **argv)
{
    int M = 50, N = 70, K = 30;
    if (argc == 4) { M = atoi(argv[1]); N = atoi(argv[2]); K = atoi(argv[3]); }
    float *A = (float*)malloc(M*K*4), *B = (float*)malloc(K*N*4), *C = (float*)malloc(M*N*4);
    for (int i = 0; i < M*K; i++) A[i] = rand() % 5;
    for (int i = 0; i < K*N; i++) B[i] = rand() % 5;
    float *dA, *dB, *dBt, *dC;
    cudaMalloc(&dA, M*K*4); cudaMalloc(&dB, K*N*4); cudaMalloc(&dBt, K*N*4); cudaMalloc(&dC, M*N*4);
    cudaMemcpy(dA, A, M*K*4, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B, K*N*4, cudaMemcpyHostToDevice);
    dim3 block(BD, BD);
    transpose<<<dim3((N+BD-1)/BD, (K+BD-1)/BD), block>>>(dB, dBt, K, N);
    matmul_transposed<<<dim3((N+BD-1)/BD, (M+BD-1)/BD), block>>>(dA, dBt, dC, M, N, K);
    cudaMemcpy(C, dC, M*N*4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < K; k++) s += A[i*K+k] * B[k*N+j];
            if (s != C[i*N+j]) return 1;
        }
    return 0;
}
