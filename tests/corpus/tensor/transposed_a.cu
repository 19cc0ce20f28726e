#include <cuda_fp16.h>
#include <cuda_runtime.h>

// C = A^T B where A is stored k x m: ldmatrix.trans turns the tiles of A, too.
__global__ void gemm_tn(const __half *At, const __half *B, float *C, int m, int n, int k)
{
  __shared__ __align__(16) __half sA[16][40], sB[16][40];
  const unsigned lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
  const unsigned wm = (warp & 1u) * 16u, wn = (warp >> 1) * 16u;
  float acc[2][4] = {{0.f, 0.f, 0.f, 0.f}, {0.f, 0.f, 0.f, 0.f}};

  for (int k0 = 0; k0 < k; k0 += 16)
  {
    const unsigned r = (threadIdx.x & 63u) / 4u, c = (threadIdx.x & 3u) * 8u;
    if (threadIdx.x < 64u)
      *(uint4 *)&sA[r][c] = *(const uint4 *)&At[(k0 + r) * m + blockIdx.y * 32 + c];
    else
      *(uint4 *)&sB[r][c] = *(const uint4 *)&B[(k0 + r) * n + blockIdx.x * 32 + c];
    __syncthreads();

    unsigned a[4], b[4];
    // matrices in the order (m, k), (m + 8, k), (m, k + 8), (m + 8, k + 8), each stored k x m
    const void *pa = &sA[(lane >> 4) * 8u + (lane & 7u)][wm + ((lane >> 3) & 1u) * 8u];
    const void *pb = &sB[lane & 15u][wn + (lane >> 4) * 8u];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"((unsigned)__cvta_generic_to_shared(pa)));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"((unsigned)__cvta_generic_to_shared(pb)));
    for (int j = 0; j < 2; j++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                   : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[j * 2]), "r"(b[j * 2 + 1]));
    __syncthreads();
  }
  float *p = C + (blockIdx.y * 32 + wm + lane / 4) * n + blockIdx.x * 32 + wn + lane % 4 * 2;
  for (int j = 0; j < 2; j++, p += 8)
  {
    p[0] = acc[j][0];
    p[1] = acc[j][1];
    p[8 * n] = acc[j][2];
    p[8 * n + 1] = acc[j][3];
  }
}

void launch_tn(const __half *At, const __half *B, float *C, int m, int n, int k)
{
  gemm_tn<<<dim3(n / 32, m / 32), 128>>>(At, B, C, m, n, k);
}
