// scores[b] = Q[b] K[b]^T for each head b; both are [heads, tokens, dim]
#include <cuda_fp16.h>
#include <cstdint>

__global__ void qk_scores(const half* __restrict__ q, const half* __restrict__ k, float* __restrict__ scores,
                          int tokens_q, int tokens_k, int dim) {
  const int head = blockIdx.z;
  const int lane = threadIdx.x, g = lane >> 2, t = lane & 3;
  const half* qh = q + (size_t)head * tokens_q * dim + (blockIdx.y * 16 + g) * dim;
  const half* kh = k + (size_t)head * tokens_k * dim + (blockIdx.x * 8 + g) * dim;
  float s[4] = {0.f, 0.f, 0.f, 0.f};
  for (int d = 0; d < dim; d += 16) {
    uint32_t a0 = *(const uint32_t*)(qh + d + t * 2);
    uint32_t a1 = *(const uint32_t*)(qh + 8 * dim + d + t * 2);
    uint32_t a2 = *(const uint32_t*)(qh + d + 8 + t * 2);
    uint32_t a3 = *(const uint32_t*)(qh + 8 * dim + d + 8 + t * 2);
    uint32_t b0 = *(const uint32_t*)(kh + d + t * 2);
    uint32_t b1 = *(const uint32_t*)(kh + d + 8 + t * 2);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  float* out = scores + (size_t)head * tokens_q * tokens_k + (blockIdx.y * 16 + g) * tokens_k + blockIdx.x * 8 + t * 2;
  out[0] = s[0];
  out[1] = s[1];
  out[8 * tokens_k] = s[2];
  out[8 * tokens_k + 1] = s[3];
}

void scores(const half* q, const half* k, float* out, int heads, int tokens_q, int tokens_k, int dim) {
  qk_scores<<<dim3(tokens_k / 8, tokens_q / 16, heads), 32>>>(q, k, out, tokens_q, tokens_k, dim);
}
