#include <cuda_runtime.h>
#include <cstdio>
using namespace std;
using Real = double;
enum { kTile = 16 };

__global__ void dgemm(const Real* a, const Real* b, Real* c, int n) {
  __shared__ Real ta[kTile][kTile];
  __shared__ Real tb[kTile][kTile];
  int i = blockIdx.y * kTile + threadIdx.y, j = blockIdx.x * kTile + threadIdx.x;
  Real acc = 0.0;
  for (int t = 0; t < n / kTile; ++t) {
    ta[threadIdx.y][threadIdx.x] = a[i * n + (t * kTile + threadIdx.x)];
    tb[threadIdx.y][threadIdx.x] = b[(t * kTile + threadIdx.y) * n + j];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) acc += ta[threadIdx.y][k] * tb[k][threadIdx.x];
    __syncthreads();
  }
  c[i * n + j] = acc;
}

int main() {
  for (int n = 32; n <= 256; n *= 2) {
    Real *a, *b, *c;
    size_t bytes = sizeof(Real) * n * n;
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&c, bytes);
    dgemm<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(a, b, c, n);
    cudaDeviceSynchronize();
    printf("n = %d done\n", n);
    cudaFree(a); cudaFree(b); cudaFree(c);
  }
}
