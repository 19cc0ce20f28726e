// A warp that fills two stages, and warps that compute; they meet at numbered barriers.
#include <cuda_runtime.h>
#define TILE 16

__global__ void gemm(const float* A, const float* B, float* C, int N) {
  constexpr int STAGES = 2;
  __shared__ float As[STAGES][TILE][TILE], Bs[STAGES][TILE][TILE];
  int tid = threadIdx.x, tiles = N / TILE;
  int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;

  auto sync = [](int id) { asm volatile("bar.sync %0, %1;" :: "r"(id), "n"(TILE * TILE + 32) : "memory"); };
  auto arrive = [](int id) { asm volatile("bar.arrive %0, %1;" :: "r"(id), "n"(TILE * TILE + 32) : "memory"); };
  if (tid >= TILE * TILE) {
    int lane = tid % 32;
    for (int t = 0; t < tiles; ++t) {
      int s = t % STAGES;
      if (t >= STAGES) sync(3 + s);
      for (int i = lane; i < TILE * TILE; i += 32) {
        As[s][i / TILE][i % TILE] = A[(row0 + i / TILE) * N + t * TILE + i % TILE];
        Bs[s][i / TILE][i % TILE] = B[(t * TILE + i / TILE) * N + col0 + i % TILE];
      }
      arrive(1 + s);
    }
  } else {
    int ty = tid / TILE, tx = tid % TILE;
    float acc = 0;
    for (int t = 0; t < tiles; ++t) {
      int s = t % STAGES;
      sync(1 + s);
      for (int k = 0; k < TILE; ++k) acc += As[s][ty][k] * Bs[s][k][tx];
      if (t + STAGES < tiles) arrive(3 + s);
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
