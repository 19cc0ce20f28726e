#include <cuda_runtime.h>

struct GemmParams {
  const float* a;
  const float* b;
  float* c;
  int m, n, k;
  float scale = 1.0f;
};

__global__ void gemm_params(GemmParams p) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < p.m && j < p.n) {
    float sum = 0;
    for (int l = 0; l < p.k; ++l) sum += p.a[i * p.k + l] * p.b[l * p.n + j];
    p.c[i * p.n + j] = p.scale * sum;
  }
}

void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  GemmParams p;
  p.a = a;
  p.b = b;
  p.c = c;
  p.m = m;
  p.n = n;
  p.k = k;
  dim3 threads(8, 8);
  gemm_params<<<dim3((n + 7) / 8, (m + 7) / 8), threads>>>(p);
}
