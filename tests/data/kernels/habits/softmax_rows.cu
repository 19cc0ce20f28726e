#include <cuda_runtime.h>
#include <float.h>
#include <math.h>

// One block for each row; three passes.
__global__ void softmax_forward(const float* x, float* y, int rows, int cols) {
  __shared__ float buffer[128];
  const int row = blockIdx.x, t = threadIdx.x;
  float largest = -FLT_MAX;
  for (int c = t; c < cols; c += blockDim.x) largest = fmaxf(largest, x[row * cols + c]);
  buffer[t] = largest;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) buffer[t] = fmaxf(buffer[t], buffer[t + s]);
    __syncthreads();
  }
  largest = buffer[0];
  __syncthreads();
  float sum = 0.f;
  for (int c = t; c < cols; c += blockDim.x) sum += expf(x[row * cols + c] - largest);
  buffer[t] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) buffer[t] += buffer[t + s];
    __syncthreads();
  }
  sum = buffer[0];
  for (int c = t; c < cols; c += blockDim.x) y[row * cols + c] = expf(x[row * cols + c] - largest) / sum;
}

void softmax(const float* x, float* y, int rows, int cols) { softmax_forward<<<rows, 128>>>(x, y, rows, cols); }
