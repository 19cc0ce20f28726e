// Bulk copies of rows, issued by one thread and counted in bytes by an mbarrier.
#include <cuda_runtime.h>
#define TILE 16

__device__ inline void mbar_wait(unsigned bar, unsigned parity) {
  unsigned done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
  }
}
__global__ void gemm(const float* A, const float* B, float* C, int N) {
  __shared__ alignas(128) float As[2][TILE][TILE];
  __shared__ alignas(128) float Bs[2][TILE][TILE];
  __shared__ alignas(8) unsigned long long full[2];
  int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  unsigned bars = (unsigned)__cvta_generic_to_shared(&full[0]);
  bool leader = tx == 0 && ty == 0;
  if (leader) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bars), "r"(1));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(bars + 8), "r"(1));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  auto load = [&](int t) {
    int s = t & 1;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bars + 8 * s), "r"(2 * TILE * TILE * 4));
    for (int r = 0; r < TILE; ++r) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :: "r"((unsigned)__cvta_generic_to_shared(&As[s][r][0])), "l"(A + (row0 + r) * N + t * TILE), "r"(TILE * 4), "r"(bars + 8 * s) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :: "r"((unsigned)__cvta_generic_to_shared(&Bs[s][r][0])), "l"(B + (t * TILE + r) * N + col0), "r"(TILE * 4), "r"(bars + 8 * s) : "memory");
    }
  };
  float acc = 0;
  if (leader) load(0);
  for (int t = 0; t < N / TILE; ++t) {
    if (leader && t + 1 < N / TILE) load(t + 1);
    mbar_wait(bars + 8 * (t & 1), (t >> 1) & 1);
    for (int k = 0; k < TILE; ++k) acc += As[t & 1][ty][k] * Bs[t & 1][k][tx];
    __syncthreads();
  }
  C[(row0 + ty) * N + col0 + tx] = acc;
}

int main() {
  int N = 128;
  size_t bytes = N * N * sizeof(float);
  float *A, *B, *C;
  cudaMalloc(&A, bytes); cudaMalloc(&B, bytes); cudaMalloc(&C, bytes);
  dim3 block(TILE, TILE), grid(N / TILE, N / TILE);
  gemm<<<grid, block>>>(A, B, C, N);
  cudaDeviceSynchronize();
}
