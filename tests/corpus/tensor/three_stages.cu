#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>

#define CP_ASYNC_CG(dst, src, bytes) asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(dst), "l"(src), "n"(bytes))
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))
#define LDMATRIX_X4(R0, R1, R2, R3, addr) asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3) : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr) asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(addr))
#define HMMA16816(RD0, RD1, RA0, RA1, RA2, RA3, RB0, RB1, RC0, RC1) asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};\n" : "=r"(RD0), "=r"(RD1) : "r"(RA0), "r"(RA1), "r"(RA2), "r"(RA3), "r"(RB0), "r"(RB1), "r"(RC0), "r"(RC1))

template <const int K_STAGE = 3, const int OFFSET = 8>
__global__ void hgemm_stages(half *A, half *B, half *C, int M, int N, int K) {
  constexpr int BM = 32, BN = 32, BK = 16;
  extern __shared__ half smem[];
  half *s_a = smem;
  half *s_b = smem + K_STAGE * BM * (BK + OFFSET);
  constexpr int s_a_stage_offset = BM * (BK + OFFSET);
  constexpr int s_b_stage_offset = BK * (BN + OFFSET);
  const int NUM_K_TILES = K / BK;
  const int tid = threadIdx.x;
  const int warp_id = tid / 32, lane_id = tid % 32;
  const int warp_m = warp_id / 2, warp_n = warp_id % 2;
  // the lower 64 threads copy A, the upper 64 copy B
  const bool is_a = tid < 64;
  const int t = tid % 64;
  const int la_m = t / 2, la_k = (t % 2) * 8;
  const int lb_k = t / 4, lb_n = (t % 4) * 8;
  uint32_t smem_a_base_ptr = __cvta_generic_to_shared(s_a);
  uint32_t smem_b_base_ptr = __cvta_generic_to_shared(s_b);
  uint32_t RC[2][2] = {};

#pragma unroll
  for (int k = 0; k < (K_STAGE - 1); ++k) {
    if (is_a) {
      CP_ASYNC_CG(smem_a_base_ptr + (k * s_a_stage_offset + la_m * (BK + OFFSET) + la_k) * (uint32_t)sizeof(half), &A[(blockIdx.y * BM + la_m) * K + k * BK + la_k], 16);
    } else {
      CP_ASYNC_CG(smem_b_base_ptr + (k * s_b_stage_offset + lb_k * (BN + OFFSET) + lb_n) * (uint32_t)sizeof(half), &B[(k * BK + lb_k) * N + blockIdx.x * BN + lb_n], 16);
    }
    CP_ASYNC_COMMIT_GROUP();
  }
  for (int k = 0; k < NUM_K_TILES; ++k) {
    CP_ASYNC_WAIT_GROUP(K_STAGE - 2);
    __syncthreads();
    const int next = k + K_STAGE - 1, slot = next % K_STAGE, now = k % K_STAGE;
    if (next < NUM_K_TILES) {
      if (is_a) {
        CP_ASYNC_CG(smem_a_base_ptr + (slot * s_a_stage_offset + la_m * (BK + OFFSET) + la_k) * (uint32_t)sizeof(half), &A[(blockIdx.y * BM + la_m) * K + next * BK + la_k], 16);
      } else {
        CP_ASYNC_CG(smem_b_base_ptr + (slot * s_b_stage_offset + lb_k * (BN + OFFSET) + lb_n) * (uint32_t)sizeof(half), &B[(next * BK + lb_k) * N + blockIdx.x * BN + lb_n], 16);
      }
    }
    CP_ASYNC_COMMIT_GROUP();
    uint32_t RA[4], RB[2];
    LDMATRIX_X4(RA[0], RA[1], RA[2], RA[3], smem_a_base_ptr + (now * s_a_stage_offset + (warp_m * 16 + lane_id % 16) * (BK + OFFSET) + (lane_id / 16) * 8) * (uint32_t)sizeof(half));
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      LDMATRIX_X2_T(RB[0], RB[1], smem_b_base_ptr + (now * s_b_stage_offset + (lane_id % 16) * (BN + OFFSET) + warp_n * 16 + j * 8) * (uint32_t)sizeof(half));
      HMMA16816(RC[j][0], RC[j][1], RA[0], RA[1], RA[2], RA[3], RB[0], RB[1], RC[j][0], RC[j][1]);
    }
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    half *out = C + (blockIdx.y * BM + warp_m * 16 + lane_id / 4) * N + blockIdx.x * BN + warp_n * 16 + j * 8 + (lane_id % 4) * 2;
    reinterpret_cast<uint32_t *>(out)[0] = RC[j][0];
    reinterpret_cast<uint32_t *>(out + 8 * N)[0] = RC[j][1];
  }
}

void launch(half *a, half *b, half *c, int M, int N, int K) {
  constexpr int stages = 3;
  const int smem_size = stages * (32 * (16 + 8) + 16 * (32 + 8)) * sizeof(half);
  cudaFuncSetAttribute(hgemm_stages<stages, 8>, cudaFuncAttributeMaxDynamicSharedMemorySize, smem_size);
  dim3 grid(N / 32, M / 32);
  hgemm_stages<stages, 8><<<grid, 128, smem_size>>>(a, b, c, M, N, K);
}
