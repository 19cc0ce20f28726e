// DGEMM with the block size chosen at run time: a switch over template instances.
#include <cuda_runtime.h>
#include <iostream>
#include <string>

#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t status_ = (call);                                                \
    if (status_ != cudaSuccess) {                                                \
      std::cerr << "Error " << cudaGetErrorString(status_) << " in line " << __LINE__ << "\n"; \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

template <typename Real, int BS, int RPT>  // RPT: rows per thread
__global__ void matmul(Real *C, const Real *A, const Real *B, const int n) {
  __shared__ Real As[BS][BS];
  __shared__ Real Bs[BS][BS];

  const int col = blockIdx.x * BS + threadIdx.x;
  const int row = blockIdx.y * BS + threadIdx.y;
  constexpr int STEP = BS / RPT;

  Real sums[RPT] = {};
  for (int t = 0; t < n; t += BS) {
#pragma unroll
    for (int r = 0; r < RPT; ++r) {
      As[threadIdx.y + r * STEP][threadIdx.x] = A[(row + r * STEP) * n + t + threadIdx.x];
      Bs[threadIdx.y + r * STEP][threadIdx.x] = B[(t + threadIdx.y + r * STEP) * n + col];
    }
    __syncthreads();
    for (int k = 0; k < BS; ++k)
#pragma unroll
      for (int r = 0; r < RPT; ++r)
        sums[r] += As[threadIdx.y + r * STEP][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  for (int r = 0; r < RPT; ++r)
    C[(row + r * STEP) * n + col] = sums[r];
}

template <typename Real>
void dispatch(Real *C, const Real *A, const Real *B, int n, int blockSize) {
  dim3 grid(n / blockSize, n / blockSize);
  switch (blockSize) {
    case 8:
      matmul<Real, 8, 2><<<grid, dim3(8, 4)>>>(C, A, B, n);
      break;
    case 16:
      matmul<Real, 16, 4><<<grid, dim3(16, 4)>>>(C, A, B, n);
      break;
    case 32:
      matmul<Real, 32, 4><<<grid, dim3(32, 8)>>>(C, A, B, n);
      break;
    default:
      std::cerr << "unsupported block size\n";
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? std::stoi(argv[1]) : 512;
  int blockSize = argc > 2 ? std::stoi(argv[2]) : 16;
  double *a, *b, *c;
  CHECK(cudaMalloc(&a, sizeof(double) * n * n));
  CHECK(cudaMalloc(&b, sizeof(double) * n * n));
  CHECK(cudaMalloc(&c, sizeof(double) * n * n));
  dispatch<double>(c, a, b, n, blockSize);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
