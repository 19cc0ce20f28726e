#include <cuda_fp16.h>
#include <cstdint>

// sm_90: the sums go back to shared memory by stmatrix, and to C as 16-byte rows
__global__ void gemm_stmatrix(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  __shared__ __align__(16) __half a_tile[32][24], b_tile[16][40], c_tile[32][40];
  int const tid = threadIdx.x, lane = tid % 32, wid = tid / 32;
  int const wy = wid / 2 * 16, wx = wid % 2 * 16;
  float acc[2][4] = {};
  for (int kb = 0; kb < K; kb += 16) {
    if (tid < 64) {
      int y = tid / 2, x = tid % 2 * 8;
      *(uint4*)&a_tile[y][x] = *(const uint4*)&A[(blockIdx.y * 32 + y) * K + kb + x];
    } else {
      int y = (tid - 64) / 4, x = tid % 4 * 8;
      *(uint4*)&b_tile[y][x] = *(const uint4*)&B[(kb + y) * N + blockIdx.x * 32 + x];
    }
    __syncthreads();
    uint32_t a[4], b[4];
    uint32_t pa = __cvta_generic_to_shared(&a_tile[wy + lane % 16][lane / 16 * 8]);
    uint32_t pb = __cvta_generic_to_shared(&b_tile[lane % 16][wx + lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(pb));
    for (int j = 0; j < 2; ++j)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * j]), "r"(b[2 * j + 1]));
    __syncthreads();
  }
  uint32_t out[4];
  for (int j = 0; j < 2; ++j)
    for (int h = 0; h < 2; ++h) {
      __half2 both = __floats2half2_rn(acc[j][2 * h], acc[j][2 * h + 1]);
      out[2 * j + h] = *(uint32_t*)&both;
    }
  uint32_t pc = __cvta_generic_to_shared(&c_tile[wy + lane % 16][wx + lane / 16 * 8]);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(pc), "r"(out[0]), "r"(out[1]), "r"(out[2]), "r"(out[3]) : "memory");
  __syncthreads();
  int y = tid / 4, x = tid % 4 * 8;
  *(uint4*)&C[(blockIdx.y * 32 + y) * N + blockIdx.x * 32 + x] = *(uint4*)&c_tile[y][x];
}

void call(const __half* A, const __half* B, __half* C, int M, int N, int K) {
  gemm_stmatrix<<<dim3(N / 32, M / 32), 128>>>(A, B, C, M, N, K);
}
