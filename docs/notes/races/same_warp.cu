// Each thread reads the cell that another lane of its warp has stored, without __syncwarp.

__global__ void same_warp(const float *A, float *C, int n)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = A[t];
    C[t] = s[31 - t];
}

int main()
{
    const int n = 32;
    float values[n], *A, *C;
    for (int i = 0; i < n; i++)
        values[i] = i + 1;
    cudaMalloc(&A, n * sizeof(float));
    cudaMalloc(&C, n * sizeof(float));
    cudaMemcpy(A, values, sizeof(values), cudaMemcpyHostToDevice);
    cudaMemset(C, 0, n * sizeof(float));
    same_warp<<<1, 32>>>(A, C, n);
    cudaDeviceSynchronize();
}
