#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>

#define LDMATRIX_X4(R0, R1, R2, R3, addr) \
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3) : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr) \
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(addr))
#define HMMA16816(RD0, RD1, RA0, RA1, RA2, RA3, RB0, RB1, RC0, RC1) \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\n" : "=r"(RD0), "=r"(RD1) : "r"(RA0), "r"(RA1), "r"(RA2), "r"(RA3), "r"(RB0), "r"(RB1), "r"(RC0), "r"(RC1))

// 2x2 warps, each m16n16; block tile 32x32x16; A, B and C all row-major half
template <const int MMA_M = 16, const int MMA_N = 8, const int MMA_K = 16, const int A_PAD = 8, const int B_PAD = 8>
__global__ void __launch_bounds__(128)
hgemm_mma_m16n8k16_padded(half *A, half *B, half *C, int M, int N, int K) {
    const int bx = blockIdx.x, by = blockIdx.y;
    const int NUM_K_TILES = (K + MMA_K - 1) / MMA_K;
    constexpr int BM = MMA_M * 2, BN = MMA_N * 4, BK = MMA_K;
    __shared__ half s_a[BM][BK + A_PAD];
    __shared__ half s_b[BK][BN + B_PAD];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int warp_id = tid / 32, lane_id = tid % 32;
    const int warp_m = warp_id % 2, warp_n = warp_id / 2;
    int load_smem_a_m = tid / 4, load_smem_a_k = (tid % 4) * 4;
    int load_smem_b_k = tid / 8, load_smem_b_n = (tid % 8) * 4;

    uint32_t RC[2][2] = {{0, 0}, {0, 0}};
    #pragma unroll
    for (int k = 0; k < NUM_K_TILES; ++k) {
        *(float2 *)(&s_a[load_smem_a_m][load_smem_a_k]) = *(float2 *)(&A[(by * BM + load_smem_a_m) * K + k * BK + load_smem_a_k]);
        *(float2 *)(&s_b[load_smem_b_k][load_smem_b_n]) = *(float2 *)(&B[(k * BK + load_smem_b_k) * N + bx * BN + load_smem_b_n]);
        __syncthreads();

        uint32_t RA[4], RB[2][2];
        uint32_t a_ptr = __cvta_generic_to_shared(&s_a[warp_m * 16 + lane_id % 16][(lane_id / 16) * 8]);
        LDMATRIX_X4(RA[0], RA[1], RA[2], RA[3], a_ptr);
        #pragma unroll
        for (int j = 0; j < 2; ++j) {
            uint32_t b_ptr = __cvta_generic_to_shared(&s_b[lane_id % 16][warp_n * 16 + j * 8]);
            LDMATRIX_X2_T(RB[j][0], RB[j][1], b_ptr);
        }
        #pragma unroll
        for (int j = 0; j < 2; ++j)
            HMMA16816(RC[j][0], RC[j][1], RA[0], RA[1], RA[2], RA[3], RB[j][0], RB[j][1], RC[j][0], RC[j][1]);
        __syncthreads();
    }
    #pragma unroll
    for (int j = 0; j < 2; ++j) {
        int row = by * BM + warp_m * 16 + lane_id / 4, col = bx * BN + warp_n * 16 + j * 8 + (lane_id % 4) * 2;
        *(half2 *)(&C[row * N + col]) = *(half2 *)(&RC[j][0]);
        *(half2 *)(&C[(row + 8) * N + col]) = *(half2 *)(&RC[j][1]);
    }
}

void hgemm(half *a, half *b, half *c, int M, int N, int K) {
    dim3 block(32, 4);
    dim3 grid((N + 31) / 32, (M + 31) / 32);
    hgemm_mma_m16n8k16_padded<16, 8, 16, 8, 8><<<grid, block>>>(a, b, c, M, N, K);
}
