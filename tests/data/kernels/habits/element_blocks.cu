#include <stdio.h>
// One block of one thread for each element, as in a first lesson.
__global__ void one_each(int *a, int *b, int *c, int n)
{
    int row = blockIdx.y, col = blockIdx.x, k, s = 0;
    for (k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
int main()
{
    int n = 16, *a, *b, *c;
    size_t sz = n * n * sizeof(int);
    cudaMalloc((void**)&a, sz); cudaMalloc((void**)&b, sz); cudaMalloc((void**)&c, sz);
    dim3 grid(n, n);
    one_each<<<grid, 1>>>(a, b, c, n);
    cudaDeviceSynchronize();
    return 0;
}
