#include <cuda_fp16.h>
#include <cstdint>

namespace ptx {
__device__ __forceinline__ uint32_t smem_u32(const void *p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void cp_async16(uint32_t dst, const void *src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(dst), "l"(src));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n" ::); }
template <int n> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(n)); }
__device__ __forceinline__ void ldsm4(uint32_t (&r)[4], uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
}
__device__ __forceinline__ void ldsm4t(uint32_t (&r)[4], uint32_t a) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
}
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
}  // namespace ptx

constexpr int kBlockM = 32, kBlockN = 64, kBlockK = 64;

// Eight chunks of 16 bytes per row; chunk c of row r lives at c ^ (r & 7).
__device__ __forceinline__ int swz(int row, int chunk) { return row * 64 + ((chunk ^ (row & 7)) << 3); }

__global__ void gemm_swizzled(const half *__restrict__ gA, const half *__restrict__ gB, float *__restrict__ gC, int M, int N, int K) {
  __shared__ alignas(128) half sA[kBlockM * kBlockK];
  __shared__ alignas(128) half sB[kBlockK * kBlockN];
  const int t = threadIdx.x, warp = t >> 5, lane = t & 31;
  const int wm = (warp & 1) * 16, wn = (warp >> 1) * 32;
  gA += blockIdx.y * kBlockM * K;
  gB += blockIdx.x * kBlockN;

  float acc[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += kBlockK) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int id = t + i * 128, r = id >> 3, c = id & 7;
      ptx::cp_async16(ptx::smem_u32(&sA[swz(r, c)]), gA + r * K + k0 + c * 8);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int id = t + i * 128, r = id >> 3, c = id & 7;
      ptx::cp_async16(ptx::smem_u32(&sB[swz(r, c)]), gB + (k0 + r) * N + c * 8);
    }
    ptx::commit();
    ptx::wait<0>();
    __syncthreads();
#pragma unroll
    for (int kk = 0; kk < 4; ++kk) {
      uint32_t a[4], b[4];
      ptx::ldsm4(a, ptx::smem_u32(&sA[swz(wm + (lane & 15), kk * 2 + (lane >> 4))]));
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        ptx::ldsm4t(b, ptx::smem_u32(&sB[swz(kk * 16 + (lane & 15), wn / 8 + j * 2 + (lane >> 4))]));
        ptx::mma(acc[2 * j], a, b[0], b[1]);
        ptx::mma(acc[2 * j + 1], a, b[2], b[3]);
      }
    }
    __syncthreads();
  }
  float *out = gC + (blockIdx.y * kBlockM + wm + lane / 4) * N + blockIdx.x * kBlockN + wn + (lane % 4) * 2;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    *reinterpret_cast<float2 *>(out + j * 8) = make_float2(acc[j][0], acc[j][1]);
    *reinterpret_cast<float2 *>(out + j * 8 + 8 * N) = make_float2(acc[j][2], acc[j][3]);
  }
}

void gemm(const half *A, const half *B, float *C, int M, int N, int K) {
  gemm_swizzled<<<dim3(N / kBlockN, M / kBlockM), 128>>>(A, B, C, M, N, K);
}
