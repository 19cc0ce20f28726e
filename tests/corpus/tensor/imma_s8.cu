#include <cstdint>
#include <cuda_runtime.h>

// C[int32] = A[int8, row-major] * B[int8, column-major]
struct alignas(16) Vec16 { int8_t v[16]; };

template <int WARPS>
__global__ void imma_gemm(const int8_t* A, const int8_t* B, int* C, int M, int N, int K) {
  __shared__ Vec16 sa[16 * WARPS][2];
  __shared__ Vec16 sb[8][2];
  const int warp = threadIdx.y, lane = threadIdx.x;
  const int tid = warp * 32 + lane;
  int acc[4] = {0, 0, 0, 0};

  for (int k = 0; k < K; k += 32) {
    sa[tid / 2][tid % 2] = *reinterpret_cast<const Vec16*>(A + (blockIdx.y * 16 * WARPS + tid / 2) * K + k + tid % 2 * 16);
    if (tid < 16)
      sb[tid / 2][tid % 2] = *reinterpret_cast<const Vec16*>(B + (blockIdx.x * 8 + tid / 2) * K + k + tid % 2 * 16);
    __syncthreads();

    const int* a_lo = reinterpret_cast<const int*>(&sa[warp * 16 + lane / 4][0]);
    const int* a_hi = reinterpret_cast<const int*>(&sa[warp * 16 + lane / 4 + 8][0]);
    const int* b = reinterpret_cast<const int*>(&sb[lane / 4][0]);
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
        : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3])
        : "r"(a_lo[lane % 4]), "r"(a_hi[lane % 4]), "r"(a_lo[lane % 4 + 4]), "r"(a_hi[lane % 4 + 4]),
          "r"(b[lane % 4]), "r"(b[lane % 4 + 4]));
    __syncthreads();
  }
  int* c = C + (blockIdx.y * 16 * WARPS + warp * 16 + lane / 4) * N + blockIdx.x * 8 + lane % 4 * 2;
  c[0] = acc[0];
  c[1] = acc[1];
  c[8 * N] = acc[2];
  c[8 * N + 1] = acc[3];
}

void run_imma(const int8_t* A, const int8_t* B, int* C, int M, int N, int K) {
  constexpr int kWarps = 2;
  imma_gemm<kWarps><<<dim3(N / 8, M / (16 * kWarps)), dim3(32, kWarps)>>>(A, B, C, M, N, K);
}
