#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define BLOCK 128

// exclusive scan of one block, work-efficient
__global__ void prescan(float *g_odata, float *g_idata, int n)
{
    __shared__ float temp[2 * BLOCK];
    int thid = threadIdx.x;
    int offset = 1;
    temp[2 * thid] = g_idata[2 * thid];
    temp[2 * thid + 1] = g_idata[2 * thid + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) { temp[n - 1] = 0; }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[2 * thid] = temp[2 * thid];
    g_odata[2 * thid + 1] = temp[2 * thid + 1];
}

int main()
{
    const int n = 2 * BLOCK;
    float h[n], r[n], *in, *out;
    for (int i = 0; i < n; i++) h[i] = i % 4;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(h));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    prescan<<<1, BLOCK>>>(out, in, n);
    cudaMemcpy(r, out, sizeof(r), cudaMemcpyDeviceToHost);
    float s = 0;
    for (int i = 0; i < n; i++) {
        if (r[i] != s) return 1;
        s += h[i];
    }
    return 0;
}
