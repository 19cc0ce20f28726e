#include <cuda_runtime.h>

// One warp for each row.
__global__ void layernorm(const float* in, float* out, int rows, int cols) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float sum = 0.f, squares = 0.f;
  for (int c = lane; c < cols; c += 32) {
    float v = in[row * cols + c];
    sum += v;
    squares += v * v;
  }
  for (int o = 16; o; o >>= 1) {
    sum += __shfl_xor_sync(~0u, sum, o);
    squares += __shfl_xor_sync(~0u, squares, o);
  }
  float mean = sum / cols, scale = rsqrtf(squares / cols - mean * mean + 1e-5f);
  for (int c = lane; c < cols; c += 32) out[row * cols + c] = (in[row * cols + c] - mean) * scale;
}

void run(const float* in, float* out, int rows, int cols) { layernorm<<<(rows + 3) / 4, dim3(32, 4)>>>(in, out, rows, cols); }
