#include <cuda.h>
#include <stdio.h>
#define TILE_WIDTH 16

// Square matrices whose width is a multiple of the tile.
__global__ void MatrixMulKernel(float* d_M, float* d_N, float* d_P, int Width) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x; int by = blockIdx.y;
  int tx = threadIdx.x; int ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int m = 0; m < Width / TILE_WIDTH; ++m) {
    Mds[ty][tx] = d_M[Row * Width + m * TILE_WIDTH + tx];
    Nds[ty][tx] = d_N[(m * TILE_WIDTH + ty) * Width + Col];
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k)
      Pvalue += Mds[ty][k] * Nds[k][tx];
    __syncthreads();
  }
  d_P[Row * Width + Col] = Pvalue;
}

void MatrixMulOnDevice(float* M, float* N, float* P, int Width) {
  int size = Width * Width * sizeof(float);
  float *Md, *Nd, *Pd;
  cudaMalloc((void**)&Md, size);
  cudaMemcpy(Md, M, size, cudaMemcpyHostToDevice);
  cudaMalloc((void**)&Nd, size);
  cudaMemcpy(Nd, N, size, cudaMemcpyHostToDevice);
  cudaMalloc((void**)&Pd, size);
  dim3 dimGrid(Width / TILE_WIDTH, Width / TILE_WIDTH, 1);
  dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);
  MatrixMulKernel<<<dimGrid, dimBlock>>>(Md, Nd, Pd, Width);
  cudaMemcpy(P, Pd, size, cudaMemcpyDeviceToHost);
  cudaFree(Md); cudaFree(Nd); cudaFree(Pd);
}

float hM[64 * 64], hN[64 * 64], hP[64 * 64];

int main() {
  MatrixMulOnDevice(hM, hN, hP, 64);
  return 0;
}
