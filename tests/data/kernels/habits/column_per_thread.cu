#include <stdio.h>
#include <stdlib.h>

extern "C" {
__global__ void col_kernel(const float *A, const float *B, float *C, const unsigned n)
{
    const unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned i, k;
    if (j >= n) return;
    for (i = 0; i < n; ++i) {
        float s = 0.0f;
        for (k = 0; k < n; ++k) s += A[i * n + k] * B[k * n + j];
        C[i * n + j] = s;
    }
}
}

static unsigned pick(unsigned n) { return n < 64 ? n : 64; }

int main(int argc, char *argv[])
{
    unsigned n = 96;
    float *A, *B, *C;
    if (argc > 1) n = (unsigned)strtoul(argv[1], NULL, 10);
    cudaMalloc((void **)&A, n * n * sizeof *A);
    cudaMalloc((void **)&B, n * n * sizeof *B);
    cudaMalloc((void **)&C, n * n * sizeof *C);
    col_kernel<<<(n + pick(n) - 1) / pick(n), pick(n)>>>(A, B, C, n);
    return 0;
}
