#include <cooperative_groups.h>
#include <cuda/pipeline>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// Two-stage pipeline of the whole block, in the style of the programming guide.
template <int TILE>
__global__ void matmul_pipeline(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ alignas(16) float As[2][TILE][TILE];
  __shared__ alignas(16) float Bs[2][TILE][TILE];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);

  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  const int steps = K / TILE;
  float sum = 0.0f;

  auto fetch = [&](int step) {
    pipe.producer_acquire();
    cuda::memcpy_async(&As[step % 2][threadIdx.y][threadIdx.x], &A[row * K + step * TILE + threadIdx.x], sizeof(float), pipe);
    cuda::memcpy_async(&Bs[step % 2][threadIdx.y][threadIdx.x], &B[(step * TILE + threadIdx.y) * N + col], sizeof(float), pipe);
    pipe.producer_commit();
  };

  fetch(0);
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) fetch(step + 1);
    pipe.consumer_wait();
    block.sync();
    for (int k = 0; k < TILE; ++k) sum += As[step % 2][threadIdx.y][k] * Bs[step % 2][k][threadIdx.x];
    block.sync();
    pipe.consumer_release();
  }
  C[row * N + col] = sum;
}

void run(const float* A, const float* B, float* C, int M, int N, int K) {
  constexpr int tile = 16;
  dim3 block(tile, tile), grid(N / tile, M / tile);
  matmul_pipeline<tile><<<grid, block>>>(A, B, C, M, N, K);
}
