#include <stdio.h>
#include <stdlib.h>
#define MASK_WIDTH 7
#define RADIUS (MASK_WIDTH / 2)
#define TILE 128
__constant__ float c_mask[MASK_WIDTH];

__global__ void tiled_conv1d(const float *in, float *out, int n)
{
    __shared__ float tile[TILE + MASK_WIDTH - 1];
    int start = blockIdx.x * TILE - RADIUS;
    for (int i = threadIdx.x; i < TILE + MASK_WIDTH - 1; i += blockDim.x) {
        int g = start + i;
        tile[i] = (g >= 0 && g < n) ? in[g] : 0.0f;
    }
    __syncthreads();
    int o = blockIdx.x * TILE + threadIdx.x;
    if (o < n) {
        float s = 0;
        for (int j = 0; j < MASK_WIDTH; j++) s += tile[threadIdx.x + j] * c_mask[j];
        out[o] = s;
    }
}

int main()
{
    int n = 1000;
    float mask[MASK_WIDTH] = {1, 2, 3, 4, 3, 2, 1};
    float *in = (float *)malloc(n * sizeof(float)), *out = (float *)malloc(n * sizeof(float)), *d_in, *d_out;
    for (int i = 0; i < n; i++) in[i] = i % 10;
    cudaMalloc(&d_in, n * sizeof(float));
    cudaMalloc(&d_out, n * sizeof(float));
    cudaMemcpy(d_in, in, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(c_mask, mask, sizeof(mask));
    tiled_conv1d<<<(n + TILE - 1) / TILE, TILE>>>(d_in, d_out, n);
    cudaMemcpy(out, d_out, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int j = 0; j < MASK_WIDTH; j++) {
            int p = i - RADIUS + j;
            if (p >= 0 && p < n) s += in[p] * mask[j];
        }
        if (s != out[i]) return 1;
    }
    return 0;
}
