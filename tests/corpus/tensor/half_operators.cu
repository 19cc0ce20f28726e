#include <cuda_fp16.h>
#include <cuda_bf16.h>

template <class T, class Acc>
__global__ void simple(const T* a, const T* b, T* c, unsigned m, unsigned n, unsigned k)
{
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m or col >= n) return;
    Acc sum = Acc(0.0f);
    for (unsigned i{}; i < k; ++i)
        sum += static_cast<Acc>(a[row * k + i] * b[i * n + col]);
    c[row * n + col] = static_cast<T>(sum);
}

int main()
{
    unsigned m = 40, n = 24, k = 16;
    __half *a, *b, *c;
    cudaMalloc(&a, sizeof(*a) * m * k);
    cudaMalloc(&b, sizeof(*b) * k * n);
    cudaMalloc(&c, sizeof(*c) * m * n);
    dim3 block{16, 8}, grid{(n + block.x - 1) / block.x, (m + block.y - 1) / block.y};
    simple<__half, float><<<grid, block>>>(a, b, c, m, n, k);
    cudaDeviceSynchronize();
}
