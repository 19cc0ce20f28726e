#include <cstdio>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>

__global__ void row_max(const float* x, float* m, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float v = x[r * cols];
    for (int c = 1; c < cols; ++c) v = fmaxf(v, x[r * cols + c]);
    m[r] = v;
  }
}

__global__ void row_exp_sum(const float* x, const float* m, float* s, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float v = 0;
    for (int c = 0; c < cols; ++c) v += expf(x[r * cols + c] - m[r]);
    s[r] = v;
  }
}

__global__ void normalize(const float* x, const float* m, const float* s, float* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (c < cols) y[r * cols + c] = expf(x[r * cols + c] - m[r]) / s[r];
}

int main() {
  const int rows = 20, cols = 300;
  std::vector<float> x(rows * cols), y(rows * cols);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (i * 37 % 101) / 25.0f;
  float *dx, *dm, *ds, *dy;
  cudaMalloc(&dx, rows * cols * sizeof(float));
  cudaMalloc(&dy, rows * cols * sizeof(float));
  cudaMalloc(&dm, rows * sizeof(float));
  cudaMalloc(&ds, rows * sizeof(float));
  cudaMemcpy(dx, x.data(), rows * cols * sizeof(float), cudaMemcpyHostToDevice);
  int threads = 128, blocks = (rows + threads - 1) / threads;
  row_max<<<blocks, threads>>>(dx, dm, rows, cols);
  row_exp_sum<<<blocks, threads>>>(dx, dm, ds, rows, cols);
  normalize<<<dim3((cols + threads - 1) / threads, rows), threads>>>(dx, dm, ds, dy, rows, cols);
  cudaMemcpy(y.data(), dy, rows * cols * sizeof(float), cudaMemcpyDeviceToHost);
  for (int r = 0; r < rows; ++r) {
    float t = 0;
    for (int c = 0; c < cols; ++c) t += y[r * cols + c];
    if (std::fabs(t - 1) > 1e-4) return 1;
  }
  return 0;
}
