#include <cuda_fp16.h>

// B is row-major in memory, but mma wants it by columns: movmatrix transposes in registers.
__device__ unsigned transpose8x8(unsigned x) {
  unsigned y;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(x));
  return y;
}

__global__ void gemm_movmatrix(const half* A, const half* B, float* C, int M, int N, int K) {
  int lane = threadIdx.x, g = lane / 4, p = lane % 4;
  const unsigned* Aw = reinterpret_cast<const unsigned*>(A);
  const unsigned* Bw = reinterpret_cast<const unsigned*>(B);
  int row = blockIdx.x * 16 + g, colw = blockIdx.y * 4 + p;
  float4 acc = make_float4(0, 0, 0, 0);
  for (int k = 0; k < K; k += 16) {
    unsigned a0 = Aw[(row * K + k) / 2 + p];
    unsigned a1 = Aw[((row + 8) * K + k) / 2 + p];
    unsigned a2 = Aw[(row * K + k + 8) / 2 + p];
    unsigned a3 = Aw[((row + 8) * K + k + 8) / 2 + p];
    unsigned b0 = transpose8x8(Bw[(k + g) * (N / 2) + colw]);
    unsigned b1 = transpose8x8(Bw[(k + 8 + g) * (N / 2) + colw]);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(acc.x), "+f"(acc.y), "+f"(acc.z), "+f"(acc.w) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  float2* out = reinterpret_cast<float2*>(C + row * N) + colw;
  out[0] = make_float2(acc.x, acc.y);
  out[4 * N] = make_float2(acc.z, acc.w);
}

int main() {
  half *A, *B;
  float *C;
  constexpr int m = 64, n = 32, k = 48;
  cudaMalloc(&A, sizeof(half) * m * k);
  cudaMalloc(&B, sizeof(half) * k * n);
  cudaMalloc(&C, sizeof(float) * m * n);
  gemm_movmatrix<<<dim3(m / 16, n / 8), 32>>>(A, B, C, m, n, k);
  cudaDeviceSynchronize();
}
