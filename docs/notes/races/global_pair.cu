// Two threads of a block store different values to one element of global memory.

__global__ void global_pair(const float *A, float *C, int n)
{
    int t = threadIdx.x;
    C[t / 2] = A[t];
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
    global_pair<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
