// Five versions of SGEMM; ./sgemm [kernel 0-4] [size]
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <cuda_runtime.h>

#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

__global__ void mysgemm_v1(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
    int gx = blockIdx.x * blockDim.x + threadIdx.x;
    int gy = blockIdx.y * blockDim.y + threadIdx.y;
    if (gx >= N || gy >= M) return;
    float tmp = 0.;
    for (int i = 0; i < K; i++) tmp += A[gy * K + i] * B[i * N + gx];
    C[gy * N + gx] = alpha * tmp + beta * C[gy * N + gx];
}

template <const int BLOCK_SIZE>
__global__ void mysgemm_v2(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
    int bx = blockIdx.x, by = blockIdx.y;
    const int BM = BLOCK_SIZE, BN = BLOCK_SIZE, BK = BLOCK_SIZE;
    int tx = threadIdx.x % BN, ty = threadIdx.x / BN;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    A = &A[by * BM * K];
    B = &B[bx * BN];
    C = &C[by * BM * N + bx * BN];
    float tmp = 0.;
    for (int k = 0; k < K; k += BK) {
        As[ty * BK + tx] = A[ty * K + tx];
        Bs[ty * BN + tx] = B[ty * N + tx];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int i = 0; i < BK; i++) tmp += As[ty * BK + i] * Bs[i * BN + tx];
        __syncthreads();
    }
    C[ty * N + tx] = alpha * tmp + beta * C[ty * N + tx];
}

template <const int BM, const int BN, const int BK, const int TM>
__global__ void mysgemm_v3(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
    int bx = blockIdx.x, by = blockIdx.y;
    const int thread_num = BM * BN / TM;
    int tx = threadIdx.x % BN, ty = threadIdx.x / BN * TM;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    A = &A[by * BM * K];
    B = &B[bx * BN];
    C = &C[by * BM * N + bx * BN];
    int a_tile_row = threadIdx.x / BK, a_tile_col = threadIdx.x % BK, a_tile_stride = thread_num / BK;
    int b_tile_row = threadIdx.x / BN, b_tile_col = threadIdx.x % BN, b_tile_stride = thread_num / BN;
    float tmp[TM + 1] = {0.};
    for (int k = 0; k < K; k += BK) {
        for (int i = 0; i < BM; i += a_tile_stride) As[(a_tile_row + i) * BK + a_tile_col] = A[(a_tile_row + i) * K + a_tile_col];
        for (int i = 0; i < BK; i += b_tile_stride) Bs[(b_tile_row + i) * BN + b_tile_col] = B[(b_tile_row + i) * N + b_tile_col];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int i = 0; i < BK; i++) {
            tmp[TM] = Bs[tx + i * BN];
            for (int j = 0; j < TM; j++) tmp[j] += As[(ty + j) * BK + i] * tmp[TM];
        }
        __syncthreads();
    }
    for (int j = 0; j < TM; j++) C[(ty + j) * N + tx] = alpha * tmp[j] + beta * C[(ty + j) * N + tx];
}

void test_mysgemm_v1(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
    dim3 blockDim(32, 32);
    dim3 gridDim(CEIL_DIV(M, 32), CEIL_DIV(N, 32));
    mysgemm_v1<<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
}

void test_mysgemm_v2(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
    dim3 blockDim(1024);
    dim3 gridDim(CEIL_DIV(M, 32), CEIL_DIV(N, 32));
    mysgemm_v2<32><<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
}

void test_mysgemm_v3(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
    dim3 blockDim(512);
    dim3 gridDim(CEIL_DIV(M, 64), CEIL_DIV(N, 64));
    mysgemm_v3<64, 64, 8, 8><<<gridDim, blockDim>>>(M, N, K, alpha, A, B, beta, C);
}

void test_kernel(int kernel_num, int M, int N, int K, float alpha, float *A, float *B, float beta, float *C) {
    switch (kernel_num) {
        case 0: case 1: test_mysgemm_v1(M, N, K, alpha, A, B, beta, C); break;
        case 2: test_mysgemm_v2(M, N, K, alpha, A, B, beta, C); break;
        case 3: test_mysgemm_v3(M, N, K, alpha, A, B, beta, C); break;
        default: break;
    }
}

int main(int argc, char **argv) {
    int kernel_num = argc > 1 ? atoi(argv[1]) : 3;
    const int size_len = 3;
    int SIZE[size_len] = {64, 128, 192};
    int max_size = SIZE[size_len - 1];
    float *A = (float *)malloc(sizeof(float) * max_size * max_size), *dA;
    float *B = (float *)malloc(sizeof(float) * max_size * max_size), *dB;
    float *C = (float *)malloc(sizeof(float) * max_size * max_size), *dC;
    for (int i = 0; i < max_size * max_size; i++) A[i] = i % 7, B[i] = i % 5, C[i] = 0;
    cudaMalloc((void **)&dA, sizeof(float) * max_size * max_size);
    cudaMalloc((void **)&dB, sizeof(float) * max_size * max_size);
    cudaMalloc((void **)&dC, sizeof(float) * max_size * max_size);
    cudaMemcpy(dA, A, sizeof(float) * max_size * max_size, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B, sizeof(float) * max_size * max_size, cudaMemcpyHostToDevice);
    float alpha = 1.0, beta = 0.;
    for (int s = 0; s < size_len; s++) {
        int M = SIZE[s], N = SIZE[s], K = SIZE[s];
        cudaMemcpy(dC, C, sizeof(float) * max_size * max_size, cudaMemcpyHostToDevice);
        test_kernel(kernel_num, M, N, K, alpha, dA, dB, beta, dC);
        cudaDeviceSynchronize();
        float *R = (float *)malloc(sizeof(float) * M * N);
        cudaMemcpy(R, dC, sizeof(float) * M * N, cudaMemcpyDeviceToHost);
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float t = 0;
                for (int k = 0; k < K; k++) t += A[i * K + k] * B[k * N + j];
                if (fabs(t - R[i * N + j]) > 1e-2) { printf("wrong at size %d\n", M); return 1; }
            }
        free(R);
    }
    return 0;
}
