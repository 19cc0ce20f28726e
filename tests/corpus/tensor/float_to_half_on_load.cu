#include <cuda_fp16.h>
#include <mma.h>

// Inputs stay float in memory; a block converts its tiles to half while it loads them.
template <int T>
__global__ void mixed(float const* A, float const* B, float* C, int n)
{
    using namespace nvcuda::wmma;
    __shared__ half a[T * T];
    __shared__ half b[T * T];
    auto const warp = threadIdx.x / 32;
    auto const warps_across = T / 16;
    auto const wr = warp / warps_across * 16, wc = warp % warps_across * 16;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    for (int t = 0; t != n / T; ++t) {
        for (int i = threadIdx.x; i < T * T; i += blockDim.x) {
            auto r = i / T, c = i % T;
            a[i] = __float2half_rn(A[(blockIdx.y * T + r) * n + t * T + c]);
            b[i] = __float2half_rn(B[(t * T + r) * n + blockIdx.x * T + c]);
        }
        __syncthreads();
        for (int k = 0; k < T; k += 16) {
            fragment<matrix_a, 16, 16, 16, half, row_major> fa;
            fragment<matrix_b, 16, 16, 16, half, row_major> fb;
            load_matrix_sync(fa, a + wr * T + k, T);
            load_matrix_sync(fb, b + k * T + wc, T);
            mma_sync(sum, fa, fb, sum);
        }
        __syncthreads();
    }
    store_matrix_sync(C + (blockIdx.y * T + wr) * n + blockIdx.x * T + wc, sum, n, mem_row_major);
}

void multiply(float const* A, float const* B, float* C, int n)
{
    dim3 const grid{static_cast<unsigned>(n / 32), static_cast<unsigned>(n / 32)};
    mixed<32><<<grid, 128>>>(A, B, C, n);
}
