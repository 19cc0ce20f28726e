#include <cuda_runtime.h>

__global__ void gemv(const float *A, const float *x, float *y, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int c = 0; c < cols; c++) s += A[r * cols + c] * x[c];
    y[r] = s;
}

int main(int argc, char **argv)
{
    int rows = (argc > 1) ? atoi(argv[1]) : 200, cols = (argc > 2) ? atoi(argv[2]) : 100;
    float *A, *x, *y;
    cudaMalloc(&A, sizeof(float) * rows * cols);
    cudaMalloc(&x, sizeof(float) * cols);
    cudaMalloc(&y, sizeof(float) * rows);
    gemv<<<(rows + 63) / 64, 64>>>(A, x, y, rows, cols);
}
