#include <cuda/pipeline>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Each thread has its own pipeline; three stages of 16-byte copies feed wmma.
__global__ void wmma_thread_pipeline(const half* A, const half* B, float* C, int M, int N, int K)
{
    constexpr int STAGES = 3;
    __shared__ alignas(32) half sA[STAGES][32][16];
    __shared__ alignas(32) half sB[STAGES][16][32];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const int t = threadIdx.x, warp = t / 32;
    const int tiles = K / 16;

    auto produce = [&](int tile) {
        pipe.producer_acquire();
        if (tile < tiles) {
            const int s = tile % STAGES;
            if (t < 64)
                cuda::memcpy_async(&sA[s][t / 2][t % 2 * 8], &A[(blockIdx.y * 32 + t / 2) * K + tile * 16 + t % 2 * 8], cuda::aligned_size_t<16>(16), pipe);
            else
                cuda::memcpy_async(&sB[s][(t - 64) / 4][t % 4 * 8], &B[(tile * 16 + (t - 64) / 4) * N + blockIdx.x * 32 + t % 4 * 8], cuda::aligned_size_t<16>(16), pipe);
        }
        pipe.producer_commit();
    };

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int p = 0; p < STAGES - 1; ++p) produce(p);
    for (int tile = 0; tile < tiles; ++tile) {
        produce(tile + STAGES - 1);
        cuda::pipeline_consumer_wait_prior<STAGES - 1>(pipe);
        __syncthreads();
        const int s = tile % STAGES;
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, &sA[s][warp / 2 * 16][0], 16);
        wmma::load_matrix_sync(b, &sB[s][0][warp % 2 * 16], 32);
        wmma::mma_sync(acc, a, b, acc);
        pipe.consumer_release();
        __syncthreads();
    }
    wmma::store_matrix_sync(&C[(blockIdx.y * 32 + warp / 2 * 16) * N + blockIdx.x * 32 + warp % 2 * 16], acc, N, wmma::mem_row_major);
}

void launch(const half* A, const half* B, float* C, int M, int N, int K)
{
    wmma_thread_pipeline<<<dim3(N / 32, M / 32), 128>>>(A, B, C, M, N, K);
}
