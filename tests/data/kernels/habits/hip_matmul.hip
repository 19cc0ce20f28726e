#include <hip/hip_runtime.h>
#include <iostream>
#include <vector>

#define HIP_CHECK(expression)                                              \
  {                                                                        \
    const hipError_t status = expression;                                  \
    if (status != hipSuccess) {                                            \
      std::cerr << "HIP error " << hipGetErrorString(status) << std::endl; \
      std::exit(1);                                                        \
    }                                                                      \
  }

__global__ void hip_gemm(const float* A, const float* B, float* C, unsigned rows, unsigned cols, unsigned inner) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y >= rows || x >= cols) return;
  float acc = 0;
  for (unsigned t = 0; t < inner; ++t) acc += A[y * inner + t] * B[t * cols + x];
  C[y * cols + x] = acc;
}

int main() {
  constexpr unsigned rows = 128, cols = 96, inner = 64;
  std::vector<float> a(rows * inner, 1), b(inner * cols, 1), c(rows * cols);
  float *da, *db, *dc;
  HIP_CHECK(hipMalloc(&da, a.size() * sizeof(float)));
  HIP_CHECK(hipMalloc(&db, b.size() * sizeof(float)));
  HIP_CHECK(hipMalloc(&dc, c.size() * sizeof(float)));
  HIP_CHECK(hipMemcpy(da, a.data(), a.size() * sizeof(float), hipMemcpyHostToDevice));
  HIP_CHECK(hipMemcpy(db, b.data(), b.size() * sizeof(float), hipMemcpyHostToDevice));
  const dim3 block(16, 16);
  const dim3 grid((cols + 15) / 16, (rows + 15) / 16);
  hipLaunchKernelGGL(hip_gemm, grid, block, 0, 0, da, db, dc, rows, cols, inner);
  HIP_CHECK(hipMemcpy(c.data(), dc, c.size() * sizeof(float), hipMemcpyDeviceToHost));
  HIP_CHECK(hipFree(da));
  HIP_CHECK(hipFree(db));
  HIP_CHECK(hipFree(dc));
  return 0;
}
