#include <cstdio>
#include <type_traits>
#include <vector>
#include <cuda_runtime.h>

enum class Layout { RowMajor, ColMajor };

template <typename T, Layout LB, int TILE>
__global__ void matmul(const T* a, const T* b, T* c, int m, int n, int k) {
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  if (row < m && col < n) {
    T sum = 0;
    for (int i = 0; i < k; ++i) {
      if constexpr (LB == Layout::RowMajor)
        sum += a[row * k + i] * b[i * n + col];
      else
        sum += a[row * k + i] * b[col * k + i];
    }
    c[row * n + col] = sum;
  }
}

template <typename T, Layout LB>
void run_matmul(const T* a, const T* b, T* c, int m, int n, int k) {
  constexpr int TILE = std::is_same<T, double>::value ? 8 : 16;
  dim3 block(TILE, TILE);
  dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
  matmul<T, LB, TILE><<<grid, block>>>(a, b, c, m, n, k);
}

template void run_matmul<float, Layout::ColMajor>(const float*, const float*, float*, int, int, int);

int main() {
  const int m = 45, n = 61, k = 37;
  std::vector<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = i % 4;
  for (int i = 0; i < k * n; ++i) b[i] = i % 6;
  float *da, *db, *dc;
  cudaMalloc(&da, m * k * sizeof(float));
  cudaMalloc(&db, k * n * sizeof(float));
  cudaMalloc(&dc, m * n * sizeof(float));
  cudaMemcpy(da, a.data(), m * k * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), k * n * sizeof(float), cudaMemcpyHostToDevice);
  run_matmul<float, Layout::ColMajor>(da, db, dc, m, n, k);
  cudaMemcpy(c.data(), dc, m * n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s = 0;
      for (int p = 0; p < k; ++p) s += a[i * k + p] * b[j * k + p];
      if (s != c[i * n + j]) return 1;
    }
  return 0;
}
