#include <cuda_runtime.h>

// Matrices as views with a stride for rows and one for columns.
__global__ void strided(const float* a, int ars, int acs, const float* b, int brs, int bcs, float* c, int crs, int ccs,
                        int m, int n, int k) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m || j >= n) return;
  float s = 0;
  for (int p = 0; p < k; ++p) s += a[i * ars + p * acs] * b[p * brs + j * bcs];
  c[i * crs + j * ccs] = s;
}

void row_major(const float* a, const float* b, float* c, int m, int n, int k) {
  dim3 t(16, 16), g((n + 15) / 16, (m + 15) / 16);
  strided<<<g, t>>>(a, k, 1, b, n, 1, c, n, 1, m, n, k);
}
