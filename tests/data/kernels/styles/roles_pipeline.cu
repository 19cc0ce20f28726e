// A warp that fills and warps that compute as the two roles of a cuda::pipeline.
#include <cuda_runtime.h>
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define TILE 16

__global__ void gemm(const float* A, const float* B, float* C, int N) {
  constexpr int stages = 2;
  __shared__ float As[stages][TILE][TILE], Bs[stages][TILE][TILE];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  int tid = threadIdx.x;
  const auto role = tid >= TILE * TILE ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  if (role == cuda::pipeline_role::producer) {
    for (int t = 0; t < N / TILE; ++t) {
      pipe.producer_acquire();
      for (int i = tid % 32; i < TILE * TILE; i += 32) {
        cuda::memcpy_async(&As[t % stages][i / TILE][i % TILE], &A[(row0 + i / TILE) * N + t * TILE + i % TILE], sizeof(float), pipe);
        cuda::memcpy_async(&Bs[t % stages][i / TILE][i % TILE], &B[(t * TILE + i / TILE) * N + col0 + i % TILE], sizeof(float), pipe);
      }
      pipe.producer_commit();
    }
  } else {
    int ty = tid / TILE, tx = tid % TILE;
    float acc = 0;
    for (int t = 0; t < N / TILE; ++t) {
      pipe.consumer_wait();
      for (int k = 0; k < TILE; ++k) acc += As[t % stages][ty][k] * Bs[t % stages][k][tx];
      pipe.consumer_release();
    }
    C[(row0 + ty) * N + col0 + tx] = acc;
  }
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
