#include <cuda_runtime.h>
#include <functional>

template <int B>
__global__ void square(const float* a, const float* b, float* c, int n) {
  int r = blockIdx.y * B + threadIdx.y, k0 = blockIdx.x * B + threadIdx.x;
  if (r >= n || k0 >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[r * n + k] * b[k * n + k0];
  c[r * n + k0] = sum;
}

int main() {
  int n = 48;
  float *a, *b, *c;
  cudaMalloc(&a, n * n * 4);
  cudaMalloc(&b, n * n * 4);
  cudaMalloc(&c, n * n * 4);
  auto divide_up = [](int x, int y) { return (x + y - 1) / y; };
  auto go = [&](int size) {
    dim3 block(8, 8);
    square<8><<<dim3(divide_up(size, 8), divide_up(size, 8)), block>>>(a, b, c, size);
  };
  go(n);
  cudaDeviceSynchronize();
}
