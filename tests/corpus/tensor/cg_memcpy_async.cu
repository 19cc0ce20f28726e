#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>

namespace cg = cooperative_groups;
#define T 16

__global__ void MatrixMulAsync(float *C, float *A, float *B, int wA, int wB) {
  __shared__ float As[T][T];
  __shared__ float Bs[T][T];
  cg::thread_block cta = cg::this_thread_block();
  int tx = threadIdx.x, ty = threadIdx.y;
  float Csub = 0;
  for (int t = 0; t < wA / T; ++t) {
    // a row of a tile is copied by the whole block, one after the other
    for (int r = 0; r < T; ++r) {
      cg::memcpy_async(cta, As[r], &A[(blockIdx.y * T + r) * wA + t * T], sizeof(float) * T);
      cg::memcpy_async(cta, Bs[r], &B[(t * T + r) * wB + blockIdx.x * T], sizeof(float) * T);
    }
    cg::wait(cta);
#pragma unroll
    for (int k = 0; k < T; ++k) Csub += As[ty][k] * Bs[k][tx];
    cg::sync(cta);
  }
  C[(blockIdx.y * T + ty) * wB + blockIdx.x * T + tx] = Csub;
}

int main(int argc, char **argv) {
  dim3 dimsA(64, 32), dimsB(32, 64);
  float *d_A, *d_B, *d_C;
  cudaMalloc(reinterpret_cast<void **>(&d_A), sizeof(float) * dimsA.x * dimsA.y);
  cudaMalloc(reinterpret_cast<void **>(&d_B), sizeof(float) * dimsB.x * dimsB.y);
  cudaMalloc(reinterpret_cast<void **>(&d_C), sizeof(float) * dimsB.x * dimsA.y);
  dim3 threads(T, T);
  dim3 grid(dimsB.x / threads.x, dimsA.y / threads.y);
  MatrixMulAsync<<<grid, threads>>>(d_C, d_A, d_B, dimsA.x, dimsB.x);
  cudaDeviceSynchronize();
  return 0;
}
