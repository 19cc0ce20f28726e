// All threads store to one cell of shared memory that nothing reads.

__global__ void unused(const float *A, float *C, int n)
{
    __shared__ float last;
    int t = threadIdx.x;
    last = A[t];
    C[t] = A[t];
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
    unused<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
