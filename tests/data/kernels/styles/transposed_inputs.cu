// C = A^T * B with A stored K x M (a "TN" multiply), 2x2 elements per thread.
#include <cuda_runtime.h>

#define BM 32
#define BN 32
#define BK 8

extern "C" __global__ void sgemm_tn(const float *A, int lda, const float *B, int ldb, float *C, int ldc,
                                    int M, int N, int K)
{
    __shared__ float As[BK][BM], Bs[BK][BN];
    const int tx = threadIdx.x, ty = threadIdx.y;      // 16 x 16 threads
    const int tid = ty * 16 + tx;
    const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;

    for (int k0 = 0; k0 < K; k0 += BK) {
        // 256 threads, 256 elements of each tile
        int kk = tid >> 5, mm = tid & 31;
        As[kk][mm] = (m0 + mm < M && k0 + kk < K) ? A[(size_t)(k0 + kk) * lda + m0 + mm] : 0.f;
        Bs[kk][mm] = (n0 + mm < N && k0 + kk < K) ? B[(size_t)(k0 + kk) * ldb + n0 + mm] : 0.f;
        __syncthreads();
        for (int k = 0; k < BK; ++k) {
            float a0 = As[k][ty], a1 = As[k][ty + 16];
            float b0 = Bs[k][tx], b1 = Bs[k][tx + 16];
            c00 += a0 * b0; c01 += a0 * b1;
            c10 += a1 * b0; c11 += a1 * b1;
        }
        __syncthreads();
    }

    int r0 = m0 + ty, r1 = r0 + 16, s0 = n0 + tx, s1 = s0 + 16;
    if (r0 < M && s0 < N) C[(size_t)r0 * ldc + s0] = c00;
    if (r0 < M && s1 < N) C[(size_t)r0 * ldc + s1] = c01;
    if (r1 < M && s0 < N) C[(size_t)r1 * ldc + s0] = c10;
    if (r1 < M && s1 < N) C[(size_t)r1 * ldc + s1] = c11;
}

int main(int argc, char *argv[])
{
    int M = 70, N = 50, K = 40;
    float *A, *B, *C;
    cudaMalloc((void **)&A, K * M * sizeof(float));
    cudaMalloc((void **)&B, K * N * sizeof(float));
    cudaMalloc((void **)&C, M * N * sizeof(float));
    dim3 block(16, 16);
    dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
    sgemm_tn<<<grid, block>>>(A, M, B, N, C, N, M, N, K);
    cudaDeviceSynchronize();
    return 0;
}
