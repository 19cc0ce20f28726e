#include <iostream>
#include <vector>

constexpr int TS = 32;
constexpr int ROWS = 8;  // rows of threads; each copies and computes four elements

// C = A * B with a tile of A that is stored transposed
__global__ void gemm_transposed(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                unsigned M, unsigned N, unsigned K) {
  __shared__ float a[TS][TS + 1];
  __shared__ float b[TS][TS];
  const unsigned col = blockIdx.x * TS + threadIdx.x;
  const unsigned row0 = blockIdx.y * TS;
  float acc[TS / ROWS] = {};
  for (unsigned k0 = 0; k0 < K; k0 += TS) {
    for (unsigned r = threadIdx.y; r < TS; r += ROWS) {
      a[threadIdx.x][r] = row0 + r < M && k0 + threadIdx.x < K ? A[(row0 + r) * K + k0 + threadIdx.x] : 0.f;
      b[r][threadIdx.x] = k0 + r < K && col < N ? B[(k0 + r) * N + col] : 0.f;
    }
    __syncthreads();
    for (unsigned k = 0; k < TS; ++k) {
      for (unsigned i = 0; i < TS / ROWS; ++i) {
        acc[i] += a[k][threadIdx.y + i * ROWS] * b[k][threadIdx.x];
      }
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < TS / ROWS; ++i) {
    const unsigned row = row0 + threadIdx.y + i * ROWS;
    if (row < M && col < N) {
      C[row * N + col] = acc[i];
    }
  }
}

void multiply(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c, unsigned M, unsigned N, unsigned K) {
  float *dA = nullptr, *dB = nullptr, *dC = nullptr;
  cudaMalloc(&dA, a.size() * sizeof(float));
  cudaMalloc(&dB, b.size() * sizeof(float));
  cudaMalloc(&dC, c.size() * sizeof(float));
  cudaMemcpy(dA, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dB, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
  const dim3 block(TS, ROWS);
  const dim3 grid((N + TS - 1) / TS, (M + TS - 1) / TS);
  gemm_transposed<<<grid, block>>>(dA, dB, dC, M, N, K);
  cudaMemcpy(c.data(), dC, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);
}

int main() {
  const unsigned M = 256, N = 128, K = 64;
  std::vector<float> a(M * K, 1.f), b(K * N, 2.f), c(M * N);
  multiply(a, b, c, M, N, K);
  std::cout << c[0] << std::endl;
}
