#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#define CUDA_OK(x) { cudaError_t err_ = (x); if (err_ != cudaSuccess) { return err_; } }

using namespace nvcuda::wmma;

template <int STAGES_>
struct Config {
    enum : int { Stages = STAGES_, BlockM = 64, BlockN = 32, BlockK = 16, Threads = 256 };
    static constexpr size_t bytes() { return Stages * (BlockM * BlockK + BlockK * BlockN) * sizeof(half); }
};

template <class Cfg>
__global__ void staged(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    extern __shared__ __align__(32) unsigned char raw[];
    half* const as = reinterpret_cast<half*>(raw);
    half* const bs = as + Cfg::Stages * Cfg::BlockM * Cfg::BlockK;
    const int tid = threadIdx.x;
    const int wm = tid / 32 / 2, wn = tid / 32 % 2;

    auto copy = [&](int tile) {
        half* ta = as + tile % Cfg::Stages * Cfg::BlockM * Cfg::BlockK;
        half* tb = bs + tile % Cfg::Stages * Cfg::BlockK * Cfg::BlockN;
        if (tid < 128)
            __pipeline_memcpy_async(ta + tid * 8, a + (blockIdx.y * Cfg::BlockM + tid / 2) * k + tile * Cfg::BlockK + tid % 2 * 8, 16);
        else if (tid < 192)
            __pipeline_memcpy_async(tb + (tid - 128) * 8, b + (tile * Cfg::BlockK + (tid - 128) / 4) * n + blockIdx.x * Cfg::BlockN + tid % 4 * 8, 16);
    };

    const int tiles = k / Cfg::BlockK;
    for (int i = 0; i < Cfg::Stages - 1; ++i) {
        if (i < tiles) copy(i);
        __pipeline_commit();
    }
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.f);
    for (int i = 0; i < tiles; ++i) {
        __pipeline_wait_prior(Cfg::Stages - 2);
        __syncthreads();
        if (i + Cfg::Stages - 1 < tiles) copy(i + Cfg::Stages - 1);
        __pipeline_commit();
        fragment<matrix_a, 16, 16, 16, half, row_major> fa;
        fragment<matrix_b, 16, 16, 16, half, row_major> fb;
        load_matrix_sync(fa, as + (i % Cfg::Stages * Cfg::BlockM + wm * 16) * Cfg::BlockK, Cfg::BlockK);
        load_matrix_sync(fb, bs + i % Cfg::Stages * Cfg::BlockK * Cfg::BlockN + wn * 16, Cfg::BlockN);
        mma_sync(sum, fa, fb, sum);
    }
    store_matrix_sync(c + (blockIdx.y * Cfg::BlockM + wm * 16) * n + blockIdx.x * Cfg::BlockN + wn * 16, sum, n, mem_row_major);
}

cudaError_t gemm(const half* a, const half* b, float* c, int m, int n, int k, cudaStream_t stream)
{
    using C4 = Config<4>;
    auto fn = staged<C4>;
    CUDA_OK(cudaFuncSetAttribute(fn, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)C4::bytes()));
    dim3 grid(n / C4::BlockN, m / C4::BlockM);
    staged<C4><<<grid, C4::Threads, C4::bytes(), stream>>>(a, b, c, m, n, k);
    return cudaGetLastError();
}
