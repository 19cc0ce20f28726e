// A thread that issues bulk copies into two stages, and warps that compute; full and empty stages are mbarriers.
#include <cuda_runtime.h>
#define TILE 16

__device__ __forceinline__ unsigned smem(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init_barrier(unsigned long long* bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" :: "r"(smem(bar)), "r"(count)); }
__device__ __forceinline__ void expect_bytes(unsigned long long* bar, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;\n" :: "r"(smem(bar)), "r"(bytes)); }
__device__ __forceinline__ void arrive(unsigned long long* bar, unsigned count = 1) { asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;\n" :: "r"(smem(bar)), "r"(count) : "memory"); }
__device__ __forceinline__ void wait(unsigned long long* bar, int phase) {
  asm volatile("{\n.reg .pred                P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1                       bra.uni DONE;\nbra.uni                   LAB_WAIT;\nDONE:\n}\n" :: "r"(smem(bar)), "r"(phase));
}
__device__ __forceinline__ void bulk(float* dst, const float* src, unsigned bytes, unsigned long long* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(smem(dst)), "l"(src), "r"(bytes), "r"(smem(bar)) : "memory");
}

__global__ void gemm(const float* A, const float* B, float* C, int N) {
  constexpr int STAGES = 2;
  __shared__ alignas(128) float As[STAGES][TILE][TILE], Bs[STAGES][TILE][TILE];
  int tid = threadIdx.x, tiles = N / TILE;
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;

  __shared__ alignas(8) unsigned long long full[STAGES], empty[STAGES];
  if (tid == 0) {
    for (int i = 0; i < STAGES; ++i) { init_barrier(&full[i], 1); init_barrier(&empty[i], TILE * TILE); }
  }
  __syncthreads();
  int wg = tid / 128;
  if (wg == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" :: "n"(24));
    if (tid == 0) {
      int p = 0, s = 0;
      for (int t = 0; t < tiles; ++t, ++s) {
        if (s == STAGES) { s = 0; p ^= 1; }
        wait(&empty[s], p);
        expect_bytes(&full[s], 2 * TILE * TILE * sizeof(float));
        for (int r = 0; r < TILE; ++r) {
          bulk(&As[s][r][0], A + (row0 + r) * N + t * TILE, TILE * 4, &full[s]);
          bulk(&Bs[s][r][0], B + (t * TILE + r) * N + col0, TILE * 4, &full[s]);
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" :: "n"(240));
    for (int i = 0; i < STAGES; ++i) arrive(&empty[i], 1);
    int i = tid - 128, ty = i / TILE, tx = i % TILE;
    float acc = 0;
    int p = 0, s = 0;
    for (int t = 0; t < tiles; ++t, ++s) {
      if (s == STAGES) { s = 0; p ^= 1; }
      wait(&full[s], p);
      for (int k = 0; k < TILE; ++k) acc += As[s][ty][k] * Bs[s][k][tx];
      arrive(&empty[s], 1);
    }
    C[(row0 + ty) * N + col0 + tx] = acc;
  }

}

int main() {
  int N = 128;
  size_t bytes = N * N * sizeof(float);
  float *A, *B, *C;
  cudaMalloc(&A, bytes); cudaMalloc(&B, bytes); cudaMalloc(&C, bytes);
  dim3 block(TILE * TILE + 128), grid(N / TILE, N / TILE);
  gemm<<<grid, block>>>(A, B, C, N);
  cudaDeviceSynchronize();
}
