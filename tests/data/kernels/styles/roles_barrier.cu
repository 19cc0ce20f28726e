// A warp that fills two stages, and warps that compute, with cuda::barrier as the programming guide has it.
#include <cuda_runtime.h>
#include <cuda/barrier>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define TILE 16

using barrier = cuda::barrier<cuda::thread_scope_block>;
__device__ void producer(barrier ready[], barrier filled[], float (*As)[TILE][TILE], float (*Bs)[TILE][TILE], const float* A, const float* B, int N, int row0, int col0) {
  int lane = threadIdx.x % 32;
  for (int t = 0; t < N / TILE; ++t) {
    ready[t % 2].arrive_and_wait();
    for (int i = lane; i < TILE * TILE; i += 32) {
      As[t % 2][i / TILE][i % TILE] = A[(row0 + i / TILE) * N + t * TILE + i % TILE];
      Bs[t % 2][i / TILE][i % TILE] = B[(t * TILE + i / TILE) * N + col0 + i % TILE];
    }
    barrier::arrival_token token = filled[t % 2].arrive();
  }
}
__device__ void consumer(barrier ready[], barrier filled[], float (*As)[TILE][TILE], float (*Bs)[TILE][TILE], float* C, int N, int row0, int col0) {
  barrier::arrival_token token1 = ready[0].arrive();
  barrier::arrival_token token2 = ready[1].arrive();
  int ty = threadIdx.x / TILE, tx = threadIdx.x % TILE;
  float acc = 0;
  for (int t = 0; t < N / TILE; ++t) {
    filled[t % 2].arrive_and_wait();
    for (int k = 0; k < TILE; ++k) acc += As[t % 2][ty][k] * Bs[t % 2][k][tx];
    barrier::arrival_token token = ready[t % 2].arrive();
  }
  C[(row0 + ty) * N + col0 + tx] = acc;
}
__global__ void gemm(const float* A, const float* B, float* C, int N) {
  __shared__ float As[2][TILE][TILE], Bs[2][TILE][TILE];
  __shared__ barrier bar[4];
  auto block = cg::this_thread_block();
  if (block.thread_rank() < 4) init(bar + block.thread_rank(), block.size());
  block.sync();
  if (block.thread_rank() >= TILE * TILE) producer(bar, bar + 2, As, Bs, A, B, N, blockIdx.y * TILE, blockIdx.x * TILE);
  else consumer(bar, bar + 2, As, Bs, C, N, blockIdx.y * TILE, blockIdx.x * TILE);
}

int main() {
  int N = 128;
  size_t bytes = N * N * sizeof(float);
  float *A, *B, *C;
  cudaMalloc(&A, bytes); cudaMalloc(&B, bytes); cudaMalloc(&C, bytes);
  dim3 block(TILE * TILE + 32), grid(N / TILE, N / TILE);
  gemm<<<grid, block>>>(A, B, C, N);
  cudaDeviceSynchronize();
}
