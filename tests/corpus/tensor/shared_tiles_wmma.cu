#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace wm = nvcuda::wmma;

constexpr int BM = 32, BN = 32, BK = 16;
constexpr int PAD = 8;

// 4 warps; warp w owns rows (w/2)*16 and columns (w%2)*16 of the block tile
__global__ __launch_bounds__(128) void hgemm_smem(const __half* __restrict__ A, const __half* __restrict__ B,
                                                  float* __restrict__ C, const int M, const int N, const int K)
{
    __shared__ __half As[BM][BK + PAD];
    __shared__ __half Bs[BK][BN + PAD];

    const int tid  = threadIdx.x;
    const int warp = tid >> 5;
    const int wy = warp >> 1, wx = warp & 1;

    wm::fragment<wm::accumulator, 16, 16, 16, float> acc;
    wm::fill_fragment(acc, 0.f);

    for (int bk = 0; bk < K; bk += BK)
    {
        if (tid < 64)
        {
            const int r = tid / 2, c = (tid % 2) * 8;
            *reinterpret_cast<int4*>(&As[r][c]) = *reinterpret_cast<const int4*>(A + (size_t)(blockIdx.y * BM + r) * K + bk + c);
        }
        else
        {
            const int t = tid - 64;
            const int r = t / 4, c = (t % 4) * 8;
            *reinterpret_cast<int4*>(&Bs[r][c]) = *reinterpret_cast<const int4*>(B + (size_t)(bk + r) * N + blockIdx.x * BN + c);
        }
        __syncthreads();

        wm::fragment<wm::matrix_a, 16, 16, 16, __half, wm::row_major> fa;
        wm::fragment<wm::matrix_b, 16, 16, 16, __half, wm::row_major> fb;
        wm::load_matrix_sync(fa, &As[wy * 16][0], BK + PAD);
        wm::load_matrix_sync(fb, &Bs[0][wx * 16], BN + PAD);
        wm::mma_sync(acc, fa, fb, acc);
        __syncthreads();
    }
    float* out = C + (size_t)(blockIdx.y * BM + wy * 16) * N + blockIdx.x * BN + wx * 16;
    wm::store_matrix_sync(out, acc, N, wm::mem_row_major);
}

extern "C" cudaError_t launch_hgemm_smem(const __half* A, const __half* B, float* C, int M, int N, int K, cudaStream_t stream)
{
    if (M % BM || N % BN || K % BK) return cudaErrorInvalidValue;
    hgemm_smem<<<dim3(N / BN, M / BM), 128, 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}
