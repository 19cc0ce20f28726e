// Every thread stores the scale in the same cell, and reads it without a barrier.

__global__ void scale(const float *A, float *C, int n)
{
    __shared__ float factor;
    int t = threadIdx.x;
    factor = 1.0f + A[t];
    C[t] = factor * A[t];
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
    scale<<<1, 64>>>(A, C, n);
    cudaDeviceSynchronize();
}
