#include <cuda_fp16.h>

typedef unsigned int u32;

union FragA { u32 reg[4]; half h[8]; };
union FragB { u32 reg[2]; half h[4]; };
struct FragC { float f[4]; };

static __device__ void tensorop(FragC &c, FragA a, FragB b)
{
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %0, %1, %2, %3 }, { %4, %5, %6, %7 }, { %8, %9 }, { %0, %1, %2, %3 };"
      : "+f"(c.f[0]), "+f"(c.f[1]), "+f"(c.f[2]), "+f"(c.f[3])
      : "r"(a.reg[0]), "r"(a.reg[1]), "r"(a.reg[2]), "r"(a.reg[3]), "r"(b.reg[0]), "r"(b.reg[1]));
}

__global__ void gemm_union(const half *A, const half *B, float *C, int M, int N, int K)
{
  const int lane = threadIdx.x & 31;
  const int w    = threadIdx.x >> 5;
  const int row0 = (blockIdx.y * 2 + w) << 4;
  const int col0 = blockIdx.x << 3;
  const int g = lane >> 2, q = (lane & 3) << 1;

  FragC c = { { 0.f, 0.f, 0.f, 0.f } };

  for (int kk = 0; kk < K; kk += 16)
  {
    FragA a;
    FragB b;
    for (int e = 0; e < 8; e++)
    {
      int r = row0 + g + ((e & 2) ? 8 : 0);
      int k = kk + q + (e & 1) + ((e & 4) ? 8 : 0);
      a.h[e] = A[r * K + k];
    }
    for (int e = 0; e < 4; e++)
    {
      int k = kk + q + (e & 1) + ((e & 2) ? 8 : 0);
      b.h[e] = B[k * N + col0 + g];
    }
    tensorop(c, a, b);
  }

  for (int e = 0; e < 4; e++)
    C[(row0 + g + ((e & 2) ? 8 : 0)) * N + col0 + q + (e & 1)] = c.f[e];
}

extern "C" void gemm_union_launch(const half *A, const half *B, float *C, int M, int N, int K)
{
  dim3 g(N / 8, M / 32, 1), b(64, 1, 1);
  gemm_union<<<g, b>>>(A, B, C, M, N, K);
}
