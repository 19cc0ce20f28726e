#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
#define OFFSET(row, col, ld) ((row) * (ld) + (col))
#define CP16(dst, src) (*reinterpret_cast<float4 *>(&(dst)) = *reinterpret_cast<const float4 *>(&(src)))
#define FOR(i, n) _Pragma("unroll") for (int i = 0; i < (n); ++i)
#define BM 64
#define BN 32
#define BK 32
#define THREADS 128
#define FRAG_A wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major>
#define FRAG_B wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major>
#define FRAG_C wmma::fragment<wmma::accumulator, 16, 16, 16, float>

__global__ void hgemm_macro(half *__restrict__ a, half *__restrict__ b, float *__restrict__ c, const int M, const int N, const int K) {
    __shared__ half s_a[BM][BK + 8];
    __shared__ half s_b[BK][BN + 8];
    const int bx = blockIdx.x, by = blockIdx.y, tid = threadIdx.x, wid = tid >> 5;
    FRAG_A frag_a[2];
    FRAG_B frag_b[2][2];
    FRAG_C frag_c[2];
    FOR(i, 2) wmma::fill_fragment(frag_c[i], 0.0f);

    for (int bk = 0; bk < DIV_UP(K, BK); bk++) {
        FOR(i, 2) {
            const int row = (tid + i * THREADS) >> 2, col = (tid & 3) << 3;
            CP16(s_a[row][col], a[OFFSET(by * BM + row, bk * BK + col, K)]);
        }
        { const int row = tid >> 2, col = (tid & 3) << 3; CP16(s_b[row][col], b[OFFSET(bk * BK + row, bx * BN + col, N)]); }
        __syncthreads();
        FOR(k, 2) wmma::load_matrix_sync(frag_a[k], &s_a[wid * 16][k * 16], BK + 8);
        FOR(k, 2) FOR(j, 2) wmma::load_matrix_sync(frag_b[k][j], &s_b[k * 16][j * 16], BN + 8);
        FOR(k, 2) FOR(j, 2) wmma::mma_sync(frag_c[j], frag_a[k], frag_b[k][j], frag_c[j]);
        __syncthreads();
    }
    FOR(j, 2) wmma::store_matrix_sync(&c[OFFSET(by * BM + wid * 16, bx * BN + j * 16, N)], frag_c[j], N, wmma::mem_row_major);
}

void myHGEMM(half *a, half *b, float *c, int M, int N, int K) {
    dim3 blockDim(THREADS);
    dim3 gridDim(DIV_UP(N, BN), DIV_UP(M, BM));
    hgemm_macro<<<gridDim, blockDim>>>(a, b, c, M, N, K);
}
