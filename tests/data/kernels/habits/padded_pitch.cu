#include <cuda_runtime.h>

__global__ void mm_pitch(const float *A, size_t pa, const float *B, size_t pb, float *C, size_t pc, int n)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    const float *row = (const float *)((const char *)A + i * pa);
    float s = 0;
    for (int k = 0; k < n; k++) s += row[k] * ((const float *)((const char *)B + k * pb))[j];
    ((float *)((char *)C + i * pc))[j] = s;
}

int main()
{
    const int n = 64;
    float *A, *B, *C;
    size_t pa = n * sizeof(float), pb = n * sizeof(float), pc = n * sizeof(float);
    cudaMalloc(&A, n * pa);
    cudaMalloc(&B, n * pb);
    cudaMalloc(&C, n * pc);
    mm_pitch<<<dim3(4, 4), dim3(16, 16)>>>(A, pa, B, pb, C, pc, n);
}
