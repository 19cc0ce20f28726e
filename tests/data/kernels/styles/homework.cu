// ECE homework 3: tiled matrix multiplication
// Compile: nvcc -o hw3 homework.cu
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <cuda.h>

#define TILE_WIDTH 16

// Compute C = A * B
__global__ void matrixMultiplyShared(float *A, float *B, float *C, int numARows,
                                     int numAColumns, int numBRows,
                                     int numBColumns, int numCRows,
                                     int numCColumns) {
  //@@ Insert code to implement tiled matrix multiplication here
  //@@ You have to use shared memory for this MP
  __shared__ float subTileM[TILE_WIDTH][TILE_WIDTH];
  __shared__ float subTileN[TILE_WIDTH][TILE_WIDTH];

  int bx = blockIdx.x; int by = blockIdx.y;
  int tx = threadIdx.x; int ty = threadIdx.y;

  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;

  for (int m = 0; m < ceil(numAColumns / (float)TILE_WIDTH); ++m) {
    if (Row < numARows && (m * TILE_WIDTH + tx) < numAColumns)
      subTileM[ty][tx] = A[Row * numAColumns + m * TILE_WIDTH + tx];
    else
      subTileM[ty][tx] = 0;
    if (Col < numBColumns && (m * TILE_WIDTH + ty) < numBRows)
      subTileN[ty][tx] = B[(m * TILE_WIDTH + ty) * numBColumns + Col];
    else
      subTileN[ty][tx] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WIDTH; ++k)
      Pvalue += subTileM[ty][k] * subTileN[k][tx];
    __syncthreads();
  }
  if (Row < numCRows && Col < numCColumns)
    C[Row * numCColumns + Col] = Pvalue;
}

int main(int argc, char **argv) {
  float *hostA; float *hostB; float *hostC;
  float *deviceA; float *deviceB; float *deviceC;
  int numARows = 65, numAColumns = 33;
  int numBRows = 33, numBColumns = 45;
  int numCRows = numARows;
  int numCColumns = numBColumns;
  struct timeval begin, end;

  hostA = (float *)malloc(numARows * numAColumns * sizeof(float));
  hostB = (float *)malloc(numBRows * numBColumns * sizeof(float));
  hostC = (float *)malloc(numCRows * numCColumns * sizeof(float));
  for (int i = 0; i < numARows * numAColumns; i++) hostA[i] = rand() / (float)RAND_MAX;
  for (int i = 0; i < numBRows * numBColumns; i++) hostB[i] = rand() / (float)RAND_MAX;

  //@@ Allocate GPU memory here
  cudaMalloc((void **)&deviceA, numARows * numAColumns * sizeof(float));
  cudaMalloc((void **)&deviceB, numBRows * numBColumns * sizeof(float));
  cudaMalloc((void **)&deviceC, numCRows * numCColumns * sizeof(float));

  //@@ Copy memory to the GPU here
  cudaMemcpy(deviceA, hostA, numARows * numAColumns * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(deviceB, hostB, numBRows * numBColumns * sizeof(float), cudaMemcpyHostToDevice);

  //@@ Initialize the grid and block dimensions here
  dim3 dimGrid((numCColumns - 1) / TILE_WIDTH + 1, (numCRows - 1) / TILE_WIDTH + 1, 1);
  dim3 dimBlock(TILE_WIDTH, TILE_WIDTH, 1);

  gettimeofday(&begin, NULL);
  //@@ Launch the GPU Kernel here
  matrixMultiplyShared<<<dimGrid, dimBlock>>>(deviceA, deviceB, deviceC, numARows, numAColumns,
                                              numBRows, numBColumns, numCRows, numCColumns);
  cudaDeviceSynchronize();
  gettimeofday(&end, NULL);

  cudaMemcpy(hostC, deviceC, numCRows * numCColumns * sizeof(float), cudaMemcpyDeviceToHost);
  printf("C[0] = %f, %ld us\n", hostC[0], (long)(end.tv_usec - begin.tv_usec));

  cudaFree(deviceA); cudaFree(deviceB); cudaFree(deviceC);
  free(hostA); free(hostB); free(hostC);
  return 0;
}
