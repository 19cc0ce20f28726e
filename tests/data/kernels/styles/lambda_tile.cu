// Modern C++: auto, lambdas for indexing, constexpr, a functor for the epilogue.
#include <cuda_runtime.h>
#include <memory>
#include <vector>

template <typename T, int Size>
struct Tile {
  T data[Size * Size];
  static constexpr int size = Size;
  __device__ T& operator()(int row, int col) { return data[row * Size + col]; }
  __device__ const T& operator()(int row, int col) const { return data[row * Size + col]; }
};

struct Scale {
  float alpha;
  __device__ float operator()(float value) const { return alpha * value; }
};

constexpr int kTile = 16;

template <typename T, typename Epilogue>
__global__ void gemm(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n, int k,
                     Epilogue epilogue) {
  __shared__ Tile<T, kTile> tileA, tileB;

  const auto row = blockIdx.y * kTile + threadIdx.y;
  const auto col = blockIdx.x * kTile + threadIdx.x;
  const auto ty = threadIdx.y, tx = threadIdx.x;

  auto loadA = [&](int k0) -> T { return row < m && k0 + tx < k ? a[row * k + k0 + tx] : T(0); };
  auto loadB = [&](int k0) -> T { return col < n && k0 + ty < k ? b[(k0 + ty) * n + col] : T(0); };

  T accumulator{};
  for (int k0 = 0; k0 < k; k0 += kTile) {
    tileA(ty, tx) = loadA(k0);
    tileB(ty, tx) = loadB(k0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile<T, kTile>::size; ++i) accumulator += tileA(ty, i) * tileB(i, tx);
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = epilogue(accumulator);
}

inline unsigned ceil_div(unsigned a, unsigned b) { return (a + b - 1) / b; }

int main() {
  const int m = 60, n = 72, k = 50;
  std::vector<float> a(m * k, 1.f), b(k * n, 1.f), c(m * n);
  float *da, *db, *dc;
  cudaMalloc(&da, a.size() * sizeof(float));
  cudaMalloc(&db, b.size() * sizeof(float));
  cudaMalloc(&dc, c.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyDefault);
  cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyDefault);
  const dim3 block(kTile, kTile);
  const dim3 grid(ceil_div(n, kTile), ceil_div(m, kTile));
  gemm<float, Scale><<<grid, block>>>(da, db, dc, m, n, k, Scale{1.0f});
  cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDefault);
  return 0;
}
