#include <cuda_runtime.h>

struct Relu { __device__ float operator()(float x) const { return x > 0.f ? x : 0.f; } };

template <typename Op>
__global__ void apply(const float* in, float* out, int n, Op op) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = op(in[i]);
}

void relu(const float* in, float* out, int n) {
  const int kThreads = 128;
  apply<Relu><<<(n + kThreads - 1) / kThreads, kThreads>>>(in, out, n, Relu());
}
