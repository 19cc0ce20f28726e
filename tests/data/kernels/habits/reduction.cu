#include <cuda_runtime.h>

__global__ void blockSum(const float *in, float *out, unsigned int n)
{
    extern __shared__ float sdata[];
    unsigned int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
    float v = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n) v += in[i + blockDim.x];
    sdata[t] = v;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) sdata[t] += sdata[t + s];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sdata[0];
}

int main()
{
    unsigned int n = 1 << 12, threads = 128, blocks = (n + threads * 2 - 1) / (threads * 2);
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, blocks * sizeof(float));
    blockSum<<<blocks, threads, threads * sizeof(float)>>>(in, out, n);
    return 0;
}
