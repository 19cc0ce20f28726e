#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

__global__ void mm_pitched(const float* A, size_t pitchA, const float* B, size_t pitchB, float* C, size_t pitchC, int M, int N, int K)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < N && y < M) {
        const float* rowA = (const float*)((const char*)A + y * pitchA);
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            const float* rowB = (const float*)((const char*)B + k * pitchB);
            sum += rowA[k] * rowB[x];
        }
        float* rowC = (float*)((char*)C + y * pitchC);
        rowC[x] = sum;
    }
}

int main()
{
    const int M = 100, N = 130, K = 70;
    std::vector<float> A(M * K), B(K * N), C(M * N);
    for (auto& v : A) v = rand() % 10;
    for (auto& v : B) v = rand() % 10;
    float *dA, *dB, *dC;
    size_t pA, pB, pC;
    cudaMallocPitch(&dA, &pA, K * sizeof(float), M);
    cudaMallocPitch(&dB, &pB, N * sizeof(float), K);
    cudaMallocPitch(&dC, &pC, N * sizeof(float), M);
    cudaMemcpy2D(dA, pA, A.data(), K * sizeof(float), K * sizeof(float), M, cudaMemcpyHostToDevice);
    cudaMemcpy2D(dB, pB, B.data(), N * sizeof(float), N * sizeof(float), K, cudaMemcpyHostToDevice);
    dim3 block(16, 16);
    dim3 grid((N + block.x - 1) / block.x, (M + block.y - 1) / block.y);
    mm_pitched<<<grid, block>>>(dA, pA, dB, pB, dC, pC, M, N, K);
    cudaMemcpy2D(C.data(), N * sizeof(float), dC, pC, N * sizeof(float), M, cudaMemcpyDeviceToHost);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < K; k++) s += A[i * K + k] * B[k * N + j];
            if (s != C[i * N + j]) return 1;
        }
    printf("ok\n");
    return 0;
}
