// Cooperative groups instead of __syncthreads: a block-wide group for the tiles and
// tiles of 8 threads that reduce partial dot products.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int GROUP = 8;    // threads that share one element of C
constexpr int ROWS = 8;
constexpr int COLS = 4;
constexpr int KTILE = 32;

template <typename Group>
__device__ float sum_over(Group tile, float value) {
  for (int offset = tile.size() / 2; offset > 0; offset /= 2)
    value += tile.shfl_down(value, offset);
  return value;
}

__global__ void matmul_groups(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float rowsOfA[ROWS][KTILE];
  __shared__ float columnsOfB[COLS][KTILE];

  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<GROUP> tile = cg::tiled_partition<GROUP>(block);

  const int element = block.thread_rank() / GROUP;   // ROWS * COLS elements of C per block
  const int r = element / COLS, c = element % COLS;
  const int row = blockIdx.y * ROWS + r, col = blockIdx.x * COLS + c;

  float partial = 0.f;
  for (int k0 = 0; k0 < K; k0 += KTILE) {
    for (unsigned i = block.thread_rank(); i < ROWS * KTILE; i += block.size())
      rowsOfA[i / KTILE][i % KTILE] = A[(blockIdx.y * ROWS + i / KTILE) * K + k0 + i % KTILE];
    for (unsigned i = block.thread_rank(); i < COLS * KTILE; i += block.size())
      columnsOfB[i % COLS][i / COLS] = B[(k0 + i / COLS) * N + blockIdx.x * COLS + i % COLS];
    block.sync();
    for (int k = tile.thread_rank(); k < KTILE; k += GROUP)
      partial += rowsOfA[r][k] * columnsOfB[c][k];
    block.sync();
  }
  partial = sum_over(tile, partial);
  if (tile.thread_rank() == 0)
    C[row * N + col] = partial;
}

int main() {
  const int M = 64, N = 64, K = 64;
  float *A, *B, *C;
  cudaMalloc(&A, sizeof(float) * M * K);
  cudaMalloc(&B, sizeof(float) * K * N);
  cudaMalloc(&C, sizeof(float) * M * N);
  dim3 grid{N / COLS, M / ROWS};
  matmul_groups<<<grid, ROWS * COLS * GROUP>>>(A, B, C, M, N, K);
  return cudaDeviceSynchronize();
}
