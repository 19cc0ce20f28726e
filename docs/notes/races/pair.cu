// Two threads store to one cell, and each reads it back as if it were its own.

__global__ void pair(const float *A, float *C, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t % 32] = A[t];
    C[t] = s[t % 32];
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
    pair<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
