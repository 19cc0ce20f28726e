// Copies that arrive at an mbarrier of their stage, in PTX.
#include <cuda_runtime.h>
#define TILE 16

__device__ inline void mbar_init(unsigned bar, unsigned count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(bar), "r"(count)); }
__device__ inline void mbar_wait(unsigned bar, unsigned parity) {
  asm volatile("{\n.reg .pred p;\nWAIT_LOOP:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@p bra DONE;\nbra WAIT_LOOP;\nDONE:\n}\n" :: "r"(bar), "r"(parity) : "memory");
}
__device__ inline void cp4(unsigned dst, const float* src) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(dst), "l"(src)); }
__global__ void gemm(const float* A, const float* B, float* C, int N) {
  __shared__ float As[2][TILE][TILE], Bs[2][TILE][TILE];
  __shared__ unsigned long long full[2];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  unsigned bars = (unsigned)__cvta_generic_to_shared(full);
  if (tx == 0 && ty == 0) { mbar_init(bars, TILE * TILE); mbar_init(bars + 8, TILE * TILE); }
  __syncthreads();
  auto load = [&](int t) {
    int s = t % 2;
    cp4((unsigned)__cvta_generic_to_shared(&As[s][ty][tx]), &A[row * N + t * TILE + tx]);
    cp4((unsigned)__cvta_generic_to_shared(&Bs[s][ty][tx]), &B[(t * TILE + ty) * N + col]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(bars + 8 * s));
  };
  float acc = 0;
  load(0);
  for (int t = 0; t < N / TILE; ++t) {
    if (t + 1 < N / TILE) load(t + 1);
    mbar_wait(bars + 8 * (t % 2), (t / 2) & 1);
    for (int k = 0; k < TILE; ++k) acc += As[t % 2][ty][k] * Bs[t % 2][k][tx];
    __syncthreads();
  }
  C[row * N + col] = acc;
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
