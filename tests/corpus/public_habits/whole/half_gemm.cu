#include <cstdio>
#include <vector>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void hgemm_naive(const half *__restrict__ A, const half *__restrict__ B, half *__restrict__ C, int M, int N, int K) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float acc = 0.f;
        for (int k = 0; k < K; ++k) acc += __half2float(A[row * K + k]) * __half2float(B[k * N + col]);
        C[row * N + col] = __float2half(acc);
    }
}

int main() {
    const int M = 48, N = 64, K = 32;
    std::vector<half> A(M * K), B(K * N), C(M * N);
    for (int i = 0; i < M * K; ++i) A[i] = __float2half(float(i % 4));
    for (int i = 0; i < K * N; ++i) B[i] = __float2half(float(i % 3));
    half *dA, *dB, *dC;
    cudaMalloc(&dA, A.size() * sizeof(half));
    cudaMalloc(&dB, B.size() * sizeof(half));
    cudaMalloc(&dC, C.size() * sizeof(half));
    cudaMemcpy(dA, A.data(), A.size() * sizeof(half), cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B.data(), B.size() * sizeof(half), cudaMemcpyHostToDevice);
    dim3 block(16, 16), grid((N + 15) / 16, (M + 15) / 16);
    hgemm_naive<<<grid, block>>>(dA, dB, dC, M, N, K);
    cudaMemcpy(C.data(), dC, C.size() * sizeof(half), cudaMemcpyDeviceToHost);
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += __half2float(A[i * K + k]) * __half2float(B[k * N + j]);
            if (s != __half2float(C[i * N + j])) return 1;
        }
    return 0;
}
