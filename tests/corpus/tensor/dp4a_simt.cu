#include <cuda_runtime.h>
#include <stdint.h>

/* int8 GEMM without tensor cores: four products per __dp4a. B is transposed. */
#define BDIM 16

__global__ void gemm_dp4a(const int8_t *a, const int8_t *bt, int32_t *c, int m, int n, int k)
{
  __shared__ int ta[BDIM][BDIM], tb[BDIM][BDIM + 1];
  int y = threadIdx.y, x = threadIdx.x;
  int row = blockIdx.y * BDIM + y, col = blockIdx.x * BDIM + x;
  int sum = 0;
  const int *a4 = (const int *)a, *b4 = (const int *)bt;
  int k4 = k >> 2;
  for (int t = 0; t < k4; t += BDIM) {
    ta[y][x] = a4[row * k4 + t + x];
    tb[y][x] = b4[(blockIdx.x * BDIM + y) * k4 + t + x];
    __syncthreads();
    for (int i = 0; i < BDIM; i++)
      sum = __dp4a(ta[y][i], tb[x][i], sum);
    __syncthreads();
  }
  c[row * n + col] = sum;
}

void launch_dp4a(const int8_t *a, const int8_t *bt, int32_t *c, int m, int n, int k)
{
  gemm_dp4a<<<dim3(n / BDIM, m / BDIM), dim3(BDIM, BDIM)>>>(a, bt, c, m, n, k);
}
