// Threads of two blocks add to one element of global memory without an atomic operation.

__global__ void two_blocks(const float *A, float *C, int n)
{
    int i = 32 * blockIdx.x + threadIdx.x;
    C[0] += A[i];
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
    two_blocks<<<2, 32>>>(A, C, n);
    cudaDeviceSynchronize();
}
