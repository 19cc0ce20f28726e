#include <cuda_runtime.h>
#include <cstdint>

__device__ __forceinline__ uint32_t to_tf32(float x)
{
    uint32_t y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}

/*
 * 32x32 block tile, k step 8.  The tile of A is stored as is, the tile of B as is, both with one float4 of padding.
 */
__global__ void sgemm_tf32(const float *A, const float *B, float *C, int m, int n, int k)
{
    __shared__ float As[32][8 + 4];
    __shared__ float Bs[8][32 + 8];
    const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const int wr = (warp >> 1) * 16, wc = (warp & 1) * 16;
    float c[2][4];
    for (int j = 0; j < 2; j++)
        for (int e = 0; e < 4; e++)
            c[j][e] = 0.0f;

    for (int p = 0; p < k; p += 8) {
        for (int i = tid; i < 256; i += 128) {
            As[i / 8][i % 8] = A[(blockIdx.y * 32 + i / 8) * k + p + i % 8];
            Bs[i / 32][i % 32] = B[(p + i / 32) * n + blockIdx.x * 32 + i % 32];
        }
        __syncthreads();
        uint32_t a0 = to_tf32(As[wr + lane / 4][lane % 4]);
        uint32_t a1 = to_tf32(As[wr + lane / 4 + 8][lane % 4]);
        uint32_t a2 = to_tf32(As[wr + lane / 4][lane % 4 + 4]);
        uint32_t a3 = to_tf32(As[wr + lane / 4 + 8][lane % 4 + 4]);
        for (int j = 0; j < 2; j++) {
            uint32_t b0 = to_tf32(Bs[lane % 4][wc + j * 8 + lane / 4]);
            uint32_t b1 = to_tf32(Bs[lane % 4 + 4][wc + j * 8 + lane / 4]);
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
                         : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
        }
        __syncthreads();
    }

    for (int j = 0; j < 2; j++) {
        const int row = blockIdx.y * 32 + wr + lane / 4, col = blockIdx.x * 32 + wc + j * 8 + lane % 4 * 2;
        C[row * n + col] = c[j][0];
        C[row * n + col + 1] = c[j][1];
        C[(row + 8) * n + col] = c[j][2];
        C[(row + 8) * n + col + 1] = c[j][3];
    }
}

int main(void)
{
    float *A, *B, *C;
    int m = 128, n = 128, k = 64;
    cudaMalloc((void **)&A, sizeof(float) * m * k);
    cudaMalloc((void **)&B, sizeof(float) * k * n);
    cudaMalloc((void **)&C, sizeof(float) * m * n);
    sgemm_tf32<<<dim3(n / 32, m / 32), 128>>>(A, B, C, m, n, k);
    cudaDeviceSynchronize();
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
    return 0;
}
