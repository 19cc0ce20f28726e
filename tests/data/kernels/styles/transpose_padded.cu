// Matrix transpose with a padded tile: the +1 keeps columns free of bank conflicts.
// Each block of 32x8 threads moves a 32x32 tile.
#include <cuda_runtime.h>
#include <stdio.h>

const int TILE_DIM = 32;
const int BLOCK_ROWS = 8;

__global__ void transposeNoBankConflicts(float *odata, const float *idata, int width, int height)
{
  __shared__ float tile[TILE_DIM][TILE_DIM+1];

  int x = blockIdx.x * TILE_DIM + threadIdx.x;
  int y = blockIdx.y * TILE_DIM + threadIdx.y;

  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < width && y + j < height)
      tile[threadIdx.y+j][threadIdx.x] = idata[(y+j)*width + x];

  __syncthreads();

  x = blockIdx.y * TILE_DIM + threadIdx.x;  // transpose block offset
  y = blockIdx.x * TILE_DIM + threadIdx.y;

  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
    if (x < height && y + j < width)
      odata[(y+j)*height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char **argv)
{
  const int nx = 100;
  const int ny = 72;
  const int mem_size = nx*ny*sizeof(float);

  dim3 dimGrid((nx + TILE_DIM - 1)/TILE_DIM, (ny + TILE_DIM - 1)/TILE_DIM, 1);
  dim3 dimBlock(TILE_DIM, BLOCK_ROWS, 1);

  float *d_idata, *d_odata;
  cudaMalloc(&d_idata, mem_size);
  cudaMalloc(&d_odata, mem_size);
  transposeNoBankConflicts<<<dimGrid, dimBlock>>>(d_odata, d_idata, nx, ny);
  cudaDeviceSynchronize();
  printf("done\n");
  return 0;
}
