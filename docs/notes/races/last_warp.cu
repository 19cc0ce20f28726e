// A tree reduction whose last warp adds without __syncwarp.

__global__ void last_warp(const float *A, float *C, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = A[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    if (t == 0)
        C[0] = s[0];
}

int main()
{
    const int n = 64;
    float values[n], *A, *C;
    for (int i = 0; i < n; i++)
        values[i] = i + 1;
    cudaMalloc(&A, n * sizeof(float));
    cudaMalloc(&C, n * sizeof(float));
    cudaMemcpy(A, values, sizeof(values), cudaMemcpyHostToDevice);
    cudaMemset(C, 0, n * sizeof(float));
    last_warp<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
