/*
 * Tiled matrix multiply with the pipeline primitives of cuda_pipeline.h:
 * the next tiles are copied while the current ones are multiplied.
 */
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <iostream>

#define TILE 16

__global__ void MatMulPipelined(float* C, const float* A, const float* B, int wA, int wB) {
  __shared__ float As[2][TILE][TILE];
  __shared__ float Bs[2][TILE][TILE];

  int bx = blockIdx.x, by = blockIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;

  int aBegin = wA * TILE * by;   // first sub-matrix of A processed by the block
  int aEnd = aBegin + wA - 1;    // last one
  int aStep = TILE;
  int bBegin = TILE * bx;
  int bStep = TILE * wB;

  // prologue
  __pipeline_memcpy_async(&As[0][ty][tx], &A[aBegin + wA * ty + tx], sizeof(float));
  __pipeline_memcpy_async(&Bs[0][ty][tx], &B[bBegin + wB * ty + tx], sizeof(float));
  __pipeline_commit();

  float Csub = 0;
  int buf = 0;
  for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
    if (a + aStep <= aEnd) {
      __pipeline_memcpy_async(&As[buf ^ 1][ty][tx], &A[a + aStep + wA * ty + tx], sizeof(float));
      __pipeline_memcpy_async(&Bs[buf ^ 1][ty][tx], &B[b + bStep + wB * ty + tx], sizeof(float));
    }
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();

#pragma unroll
    for (int k = 0; k < TILE; ++k) {
      Csub += As[buf][ty][k] * Bs[buf][k][tx];
    }
    __syncthreads();
    buf ^= 1;
  }

  int c = wB * TILE * by + TILE * bx;
  C[c + wB * ty + tx] = Csub;
}

void ConstantInit(float* data, int size, float val) {
  for (int i = 0; i < size; ++i) {
    data[i] = val;
  }
}

int main(int argc, char** argv) {
  std::cout << "[Matrix Multiply Using cuda_pipeline] - Starting..." << std::endl;
  dim3 dimsA(5 * 2 * TILE, 5 * 2 * TILE, 1);
  dim3 dimsB(5 * 4 * TILE, 5 * 2 * TILE, 1);
  float *d_A, *d_B, *d_C;
  cudaMalloc(reinterpret_cast<void**>(&d_A), sizeof(float) * dimsA.x * dimsA.y);
  cudaMalloc(reinterpret_cast<void**>(&d_B), sizeof(float) * dimsB.x * dimsB.y);
  cudaMalloc(reinterpret_cast<void**>(&d_C), sizeof(float) * dimsB.x * dimsA.y);
  dim3 threads(TILE, TILE);
  dim3 grid(dimsB.x / threads.x, dimsA.y / threads.y);
  MatMulPipelined<<<grid, threads>>>(d_C, d_A, d_B, dimsA.x, dimsB.x);
  cudaDeviceSynchronize();
  std::cout << "done" << std::endl;
}
