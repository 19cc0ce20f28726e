/* C-like: pointers walk, loops are do-while, everything is declared at the top. (コメントは日本語：テンソルコアの行列積) */
#include <cuda_fp16.h>
#include <mma.h>
#define W 32

static __global__ void mm(half *a, half *b, float *c, int m, int n, int k)
{
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major> x;
    nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, half, nvcuda::wmma::row_major> y;
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> z;
    half *pa, *pb, *end;

    pa = a + blockIdx.y * 16 * k;      /* この行から */
    pb = b + blockIdx.x * 16;
    end = pa + k;
    nvcuda::wmma::fill_fragment(z, 0.0f);
    do {
        nvcuda::wmma::load_matrix_sync(x, pa, k);
        nvcuda::wmma::load_matrix_sync(y, pb, n);
        nvcuda::wmma::mma_sync(z, x, y, z);
        pa += 16;
        pb += 16 * n;
    } while (pa < end);
    nvcuda::wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, z, n, nvcuda::wmma::mem_row_major);
}

int main(void)
{
    half *a, *b;
    float *c;
    int m = 64, n = 96, k = 32;

    cudaMalloc((void **)&a, m * k * sizeof(half));
    cudaMalloc((void **)&b, k * n * sizeof(half));
    cudaMalloc((void **)&c, m * n * sizeof(float));
    mm<<<dim3(n / 16, m / 16), W>>>(a, b, c, m, n, k);
    cudaDeviceSynchronize();
    return 0;
}
