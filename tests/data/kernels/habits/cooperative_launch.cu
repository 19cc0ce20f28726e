#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void coop(const float *A, const float *B, float *C, int n)
{
    cg::thread_block block = cg::this_thread_block();
    __shared__ float a[16][16], b[16][16];
    int y = threadIdx.y, x = threadIdx.x, r = blockIdx.y * 16 + y, c = blockIdx.x * 16 + x;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        a[y][x] = A[r * n + t + x];
        b[y][x] = B[(t + y) * n + c];
        block.sync();
        for (int k = 0; k < 16; k++) s += a[y][k] * b[k][x];
        block.sync();
    }
    C[r * n + c] = s;
}

int main()
{
    int n = 32;
    float *A, *B, *C;
    cudaMalloc(&A, n * n * 4);
    cudaMalloc(&B, n * n * 4);
    cudaMalloc(&C, n * n * 4);
    void *params[4] = {&A, &B, &C, &n};
    cudaLaunchCooperativeKernel((const void *)coop, dim3(n / 16, n / 16), dim3(16, 16), params);
}
