// Each thread reads the cell that another warp has stored, without a barrier.

__global__ void neighbour(const float *A, float *C, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = A[t];
    C[t] = s[63 - t];
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
    neighbour<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
