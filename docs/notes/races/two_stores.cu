// Each thread stores to its own cell and to the next one, and reads its own cell back.

__global__ void two_stores(const float *A, float *C, int n)
{
    __shared__ float s[65];
    int t = threadIdx.x;
    s[t + 1] = 2.0f * A[t];
    s[t] = A[t];
    C[t] = s[t];
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
    two_stores<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
