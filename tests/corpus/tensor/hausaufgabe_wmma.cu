// Uebung 7: Matrixmultiplikation mit Tensor Cores
// Jeder Block hat genau einen Warp und berechnet 16x16 Elemente von C.
#include <cstdio>
#include <cstdlib>
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;

#define N 256

__global__ void matmul(half *a, half *b, float *c, int n)
{
    int zeile = blockIdx.y * 16;
    int spalte = blockIdx.x * 16;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);          // am Anfang alles null

    for (int k = 0; k < n; k = k + 16) {
        wmma::load_matrix_sync(fa, a + zeile * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + spalte, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + zeile * n + spalte, fc, n, wmma::mem_row_major);
}

int main()
{
    half *a, *b;
    float *c;
    cudaMallocManaged(&a, N * N * sizeof(half));
    cudaMallocManaged(&b, N * N * sizeof(half));
    cudaMallocManaged(&c, N * N * sizeof(float));
    for (int i = 0; i < N * N; i++) {
        a[i] = __float2half((float)(rand() % 10) / 10.0f);
        b[i] = __float2half((float)(rand() % 10) / 10.0f);
    }
    dim3 grid(N / 16, N / 16);
    matmul<<<grid, 32>>>(a, b, c, N);
    cudaDeviceSynchronize();
    // Ergebnis pruefen
    float groesster = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float s = 0;
            for (int k = 0; k < N; k++) s += __half2float(a[i * N + k]) * __half2float(b[k * N + j]);
            float d = s - c[i * N + j];
            if (d < 0) d = -d;
            if (d > groesster) groesster = d;
        }
    printf("groesster Fehler: %f\n", groesster);
    cudaFree(a); cudaFree(b); cudaFree(c);
    return 0;
}
