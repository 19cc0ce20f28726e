#include <cuda_runtime.h>

template <typename T, int BM, int BN, int TM>
__global__ void gemm_rows(const T *A, const T *B, T *C, int M, int N, int K)
{
    int col = blockIdx.x * BN + threadIdx.x;
    int row0 = blockIdx.y * BM + threadIdx.y * TM;
    T acc[TM] = {};
    for (int k = 0; k < K; ++k)
        for (int i = 0; i < TM; ++i)
            if (row0 + i < M && col < N)
                acc[i] += A[(row0 + i) * K + k] * B[k * N + col];
    for (int i = 0; i < TM; ++i)
        if (row0 + i < M && col < N)
            C[(row0 + i) * N + col] = acc[i];
}

template <typename T, int BM, int BN, int TM>
void run(const T *A, const T *B, T *C, int M, int N, int K)
{
    dim3 block(BN, BM / TM);
    dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
    gemm_rows<T, BM, BN, TM><<<grid, block>>>(A, B, C, M, N, K);
}

void gemm_float(const float *A, const float *B, float *C, int M, int N, int K)
{
    run<float, 32, 16, 4>(A, B, C, M, N, K);
}

void gemm_double(const double *A, const double *B, double *C, int M, int N, int K)
{
    run<double, 16, 16, 2>(A, B, C, M, N, K);
}
