#include <cuda_runtime.h>
#include <stdint.h>

__device__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void mbar_init(uint64_t* bar, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count));
}
__device__ void mbar_arrive(uint64_t* bar) {
  asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(shared_address(bar)) : "memory");
}
__device__ void mbar_wait(uint64_t* bar, unsigned phase) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "WAIT:\n"
      "mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
      "@p bra DONE;\n"
      "bra WAIT;\n"
      "DONE:\n"
      "}\n" ::"r"(shared_address(bar)), "r"(phase) : "memory");
}

__global__ void gemm_mbarrier(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[16][16], b[16][16];
  __shared__ uint64_t full, empty;
  const int x = threadIdx.x, y = threadIdx.y;
  if (x == 0 && y == 0) {
    mbar_init(&full, 256);
    mbar_init(&empty, 256);
  }
  __syncthreads();
  float sum = 0.f;
  unsigned phase = 0;
  for (int k0 = 0; k0 < K; k0 += 16, phase ^= 1) {
    a[y][x] = A[(blockIdx.y * 16 + y) * K + k0 + x];
    b[y][x] = B[(k0 + y) * N + blockIdx.x * 16 + x];
    mbar_arrive(&full);
    mbar_wait(&full, phase);
    for (int k = 0; k < 16; ++k) sum += a[y][k] * b[k][x];
    mbar_arrive(&empty);
    mbar_wait(&empty, phase);
  }
  C[(blockIdx.y * 16 + y) * N + blockIdx.x * 16 + x] = sum;
}

void run(const float* A, const float* B, float* C, int M, int N, int K) {
  gemm_mbarrier<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
