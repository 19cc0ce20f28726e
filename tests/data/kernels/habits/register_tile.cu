#include <cuda_runtime.h>

const unsigned RT = 2;  // every thread works on RT x RT elements
const unsigned BT = 8;

__global__ void register_tile(const float *A, const float *B, float *C, unsigned n)
{
    unsigned r0 = (blockIdx.y * BT + threadIdx.y) * RT, c0 = (blockIdx.x * BT + threadIdx.x) * RT;
    float acc[RT][RT] = {{0}};
    for (unsigned k = 0; k < n; ++k)
#pragma unroll
        for (unsigned i = 0; i < RT; ++i)
#pragma unroll
            for (unsigned j = 0; j < RT; ++j)
                acc[i][j] += A[(r0 + i) * n + k] * B[k * n + c0 + j];
    for (unsigned i = 0; i < RT; ++i)
        for (unsigned j = 0; j < RT; ++j) C[(r0 + i) * n + c0 + j] = acc[i][j];
}

void run(const float *A, const float *B, float *C, unsigned n)
{
    const unsigned tile = BT * RT;
    register_tile<<<dim3(n / tile, n / tile), dim3(BT, BT)>>>(A, B, C, n);
}
