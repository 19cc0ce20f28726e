#include <cuda_runtime.h>
#include <stdio.h>
#define BS 16
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line, bool abort = true)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        if (abort) exit(code);
    }
}

__global__ void init(float *p, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = value;
}
__global__ void naive(float *A, float *B, float *C, int n)
{
    int r = blockIdx.y * BS + threadIdx.y, c = blockIdx.x * BS + threadIdx.x;
    float s = 0.0;
    if (r < n && c < n) {
        for (int k = 0; k < n; k++) s += A[r * n + k] * B[k * n + c];
        C[r * n + c] = s;
    }
}
__global__ void shared(float *A, float *B, float *C, int n)
{
    __shared__ float sA[BS * BS], sB[BS * BS];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * BS + ty, c = blockIdx.x * BS + tx;
    float s = 0.0;
    for (int t = 0; t < n; t += BS) {
        sA[ty * BS + tx] = r < n && t + tx < n ? A[r * n + t + tx] : 0;
        sB[ty * BS + tx] = c < n && t + ty < n ? B[(t + ty) * n + c] : 0;
        __syncthreads();
        for (int k = 0; k < BS; k++) s += sA[ty * BS + k] * sB[k * BS + tx];
        __syncthreads();
    }
    if (r < n && c < n) C[r * n + c] = s;
}
int main(int argc, char **argv)
{
    int n = 100, which = 1;
    if (argc > 1) which = atoi(argv[1]);
    float *d[3];
    for (int i = 0; i < 3; i++) gpuErrchk(cudaMalloc(&d[i], n * n * sizeof(float)));
    init<<<(n * n + 255) / 256, 256>>>(d[0], 1.0f, n * n);
    init<<<(n * n + 255) / 256, 256>>>(d[1], 2.0f, n * n);
    dim3 b(BS, BS), g((n - 1) / BS + 1, (n - 1) / BS + 1);
    if (which == 0)
        naive<<<g, b>>>(d[0], d[1], d[2], n);
    else if (which == 1)
        shared<<<g, b>>>(d[0], d[1], d[2], n);
    gpuErrchk(cudaPeekAtLastError());
    gpuErrchk(cudaDeviceSynchronize());
    return 0;
}
