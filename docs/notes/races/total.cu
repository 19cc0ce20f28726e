// All threads add to one cell of shared memory without an atomic operation.

__global__ void total(const float *A, float *C, int n)
{
    __shared__ float sum;
    int t = threadIdx.x;
    if (t == 0)
        sum = 0.0f;
    __syncthreads();
    sum += A[t];
    __syncthreads();
    C[t] = sum;
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
    total<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
