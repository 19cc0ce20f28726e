#include <cuda_runtime.h>

__global__ void jacobi(const float* __restrict__ old_grid, float* __restrict__ new_grid, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1)
        new_grid[y * nx + x] = 0.25f * (old_grid[y * nx + x - 1] + old_grid[y * nx + x + 1] +
                                        old_grid[(y - 1) * nx + x] + old_grid[(y + 1) * nx + x]);
}

void iterate(float* a, float* b, int nx, int ny, int steps)
{
    dim3 block(32, 8), grid((nx + 31) / 32, (ny + 7) / 8);
    for (int s = 0; s < steps; s++) {
        jacobi<<<grid, block>>>(a, b, nx, ny);
        float* t = a; a = b; b = t;
    }
}
