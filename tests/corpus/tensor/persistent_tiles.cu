#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;

// As many blocks as the GPU runs at once; each takes tile after tile.
__global__ void persistent_gemm(const half *A, const half *B, float *C, int M, int N, int K)
{
  const int tiles_n = N / 32, tiles = M / 32 * tiles_n;
  const int w = threadIdx.x / 32;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int m = tile / tiles_n * 32 + w / 2 * 16;
    const int n = tile % tiles_n * 32 + w % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k = 0; k < K; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
      wmma::load_matrix_sync(a, A + m * K + k, K);
      wmma::load_matrix_sync(b, B + k * N + n, N);
      wmma::mma_sync(acc, a, b, acc);
    }
    wmma::store_matrix_sync(C + m * N + n, acc, N, wmma::mem_row_major);
  }
}

int main()
{
  int M = 256, N = 256, K = 128, device = 0, sms = 0;
  half *A, *B;
  float *C;
  cudaMalloc(&A, M * K * sizeof(half));
  cudaMalloc(&B, K * N * sizeof(half));
  cudaMalloc(&C, M * N * sizeof(float));
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  persistent_gemm<<<sms, 128>>>(A, B, C, M, N, K);
  cudaDeviceSynchronize();
  return 0;
}
