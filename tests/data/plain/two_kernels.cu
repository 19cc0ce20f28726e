#include <cuda_runtime.h>
__global__ void fill(float* out, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}

__global__ void by_columns(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += a[p * lda + i] * b[j * ldb + p];
        c[j * ldc + i] = sum;
    }
}

__global__ void transpose(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

void launch(int m, int n, int k, float* a, float* b, float* c) {
    dim3 block(16, 8);
    by_columns<<<dim3((m + 15) / 16, (n + 7) / 8), block>>>(m, n, k, a, m, b, k, c, m);
    transpose<<<dim3((m + 15) / 16, (n + 7) / 8), block>>>(a, c, m, n);
}
