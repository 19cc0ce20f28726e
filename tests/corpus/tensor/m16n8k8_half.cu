#include <cuda_fp16.h>
#define REG(x) (*reinterpret_cast<unsigned const*>(&(x)))

// Turing's instruction m16n8k8: a warp computes 16 rows x 16 columns with two of them per step
__global__ void turing(half const* __restrict__ A, half const* __restrict__ B, float* __restrict__ C,
                       unsigned M, unsigned N, unsigned K)
{
    unsigned const lane = threadIdx.x, r = lane >> 2, c2 = (lane & 3u) * 2u;
    half const* pa = A + (blockIdx.y * 16u + r) * K + c2;
    float x[2][4]{};
    for (unsigned k = 0u; k < K; k += 8u, pa += 8u) {
        unsigned const a0 = REG(pa[0]), a1 = REG(pa[8u * K]);
        for (int j = 0; j < 2; ++j) {
            half const* pb = B + (k + c2) * N + blockIdx.x * 16u + j * 8 + r;
            half2 const b = __halves2half2(pb[0], pb[N]);
            asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                : "+f"(x[j][0]), "+f"(x[j][1]), "+f"(x[j][2]), "+f"(x[j][3])
                : "r"(a0), "r"(a1), "r"(REG(b)));
        }
    }
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 4; ++i)
            C[(blockIdx.y * 16u + r + i / 2 * 8) * N + blockIdx.x * 16u + j * 8 + c2 + i % 2] = x[j][i];
}

void run(half const* A, half const* B, float* C, unsigned M, unsigned N, unsigned K)
{
    turing<<<dim3{N / 16u, M / 16u}, 32>>>(A, B, C, M, N, K);
}
