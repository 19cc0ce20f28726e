#include <cuda_fp16.h>
#include <mma.h>

// Blocks are renumbered in groups of GROUP rows of tiles, so that neighbours share B in the L2 cache.
constexpr int GROUP = 4;

__global__ void gemm_grouped(const half* A, const half* B, float* C, int M, int N, int K) {
  using namespace nvcuda::wmma;
  int num_m = M / 16, num_n = N / 16;
  int pid = blockIdx.x;
  int in_group = GROUP * num_n;
  int group = pid / in_group;
  int first = group * GROUP;
  int size = min(num_m - first, GROUP);
  int pid_m = first + pid % in_group % size;
  int pid_n = pid % in_group / size;

  fragment<accumulator, 16, 16, 16, float> acc;
  fill_fragment(acc, 0.0f);
  for (int k = 0; k < K; k += 16) {
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    load_matrix_sync(a, A + pid_m * 16 * K + k, K);
    load_matrix_sync(b, B + k * N + pid_n * 16, N);
    mma_sync(acc, a, b, acc);
  }
  store_matrix_sync(C + pid_m * 16 * N + pid_n * 16, acc, N, mem_row_major);
}

void launch_grouped(const half* A, const half* B, float* C, int M, int N, int K) {
  int blocks = (M / 16) * (N / 16);
  gemm_grouped<<<blocks, 32>>>(A, B, C, M, N, K);
}
