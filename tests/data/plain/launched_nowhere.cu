__global__ void gemm_kernel(const float* __restrict__ X, const float* __restrict__ W, float* __restrict__ Y, int rows, int cols, int inner) {
  int r = blockIdx.y * blockDim.y + threadIdx.y; int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows || c >= cols) return; float acc = 0.f;
  for (int i = 0; i < inner; ++i) acc += X[r * inner + i] * W[i * cols + c];
  Y[r * cols + c] = acc; }
