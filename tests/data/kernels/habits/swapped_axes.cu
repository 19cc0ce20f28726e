#include <cuda_runtime.h>
// x goes down the rows here, y along the columns.
__global__ void gemm_xy(const float* a, const float* b, float* c, int rows_a, int cols_a, int cols_b)
{
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    const auto j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows_a && j < cols_b) {
        auto sum = 0.0f;
        for (auto k = 0; k < cols_a; ++k) sum += a[i * cols_a + k] * b[k * cols_b + j];
        c[i * cols_b + j] = sum;
    }
}
int main()
{
    auto rows_a = 40, cols_a = 56, cols_b = 72;
    float *a{}, *b{}, *c{};
    cudaMalloc(&a, sizeof(float) * rows_a * cols_a);
    cudaMalloc(&b, sizeof(float) * cols_a * cols_b);
    cudaMalloc(&c, sizeof(float) * rows_a * cols_b);
    auto const threads = dim3{16, 16};
    auto const blocks = dim3{(rows_a + threads.x - 1) / threads.x, (cols_b + threads.y - 1) / threads.y};
    gemm_xy<<<blocks, threads>>>(a, b, c, rows_a, cols_a, cols_b);
}
