#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#define BLOCK 16

__global__ void sgemm_double_async(int m, int n, int k, const float *a, const float *b, float *c)
{
    __shared__ float abuf[2][BLOCK][BLOCK], bbuf[2][BLOCK][BLOCK];
    int x = threadIdx.x, y = threadIdx.y;
    const float *ap = a + (blockIdx.y * BLOCK + y) * k + x;
    const float *bp = b + y * n + blockIdx.x * BLOCK + x;
    float acc = 0.f;
    int cur = 0;

    __pipeline_memcpy_async(&abuf[0][y][x], ap, sizeof(float));
    __pipeline_memcpy_async(&bbuf[0][y][x], bp, sizeof(float));
    __pipeline_commit();

    for (int i = 0; i < k; i += BLOCK) {
        int nxt = cur ^ 1;
        if (i + BLOCK < k) {
            __pipeline_memcpy_async(&abuf[nxt][y][x], ap + i + BLOCK, sizeof(float));
            __pipeline_memcpy_async(&bbuf[nxt][y][x], bp + (i + BLOCK) * n, sizeof(float));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int j = 0; j < BLOCK; ++j) acc = fmaf(abuf[cur][y][j], bbuf[cur][j][x], acc);
        __syncthreads();
        cur = nxt;
    }
    c[(blockIdx.y * BLOCK + y) * n + blockIdx.x * BLOCK + x] = acc;
}

void sgemm(int m, int n, int k, const float *a, const float *b, float *c)
{
    dim3 threads(BLOCK, BLOCK);
    dim3 blocks(n / BLOCK, m / BLOCK);
    sgemm_double_async<<<blocks, threads>>>(m, n, k, a, b, c);
}
