// y[M,N] = x[M,K] @ w[N,K]^T in bfloat16, float accumulation, bfloat16 output
#include <cuda_bf16.h>
#include <cstdint>

using bf16 = __nv_bfloat16;
using bf162 = __nv_bfloat162;

inline __device__ void mma_bf16(float (&acc)[4], uint32_t const (&a)[4], uint32_t const (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
          "r"(b[0]), "r"(b[1]));
}

__global__ void linear_bf16(const bf16* __restrict__ x, const bf16* __restrict__ w, bf16* __restrict__ y, int M, int N, int K) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int m = blockIdx.x * 16;
    const int n = (blockIdx.y * (blockDim.x / 32) + warp) * 8;

    float acc[4] = {0.f, 0.f, 0.f, 0.f};
    for (int k = 0; k < K; k += 16) {
        // two bf16 that are neighbours along k make one register: read them at once
        const uint32_t* xr = reinterpret_cast<const uint32_t*>(x + (m + lane / 4) * K + k);
        const uint32_t* xs = reinterpret_cast<const uint32_t*>(x + (m + lane / 4 + 8) * K + k);
        const uint32_t* wr = reinterpret_cast<const uint32_t*>(w + (n + lane / 4) * K + k);
        const uint32_t a[4] = {xr[lane % 4], xs[lane % 4], xr[lane % 4 + 4], xs[lane % 4 + 4]};
        const uint32_t b[2] = {wr[lane % 4], wr[lane % 4 + 4]};
        mma_bf16(acc, a, b);
    }
    bf162* top = reinterpret_cast<bf162*>(y + (m + lane / 4) * N + n);
    bf162* bottom = reinterpret_cast<bf162*>(y + (m + lane / 4 + 8) * N + n);
    top[lane % 4] = __floats2bfloat162_rn(acc[0], acc[1]);
    bottom[lane % 4] = __floats2bfloat162_rn(acc[2], acc[3]);
}

void forward(const bf16* x, const bf16* w, bf16* y, int M, int N, int K, cudaStream_t stream) {
    const int warps = 4;
    dim3 grid(M / 16, N / (8 * warps));
    linear_bf16<<<grid, 32 * warps, 0, stream>>>(x, w, y, M, N, K);
}
