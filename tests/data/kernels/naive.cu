// gemmviz = 1
// title = "Measured on an H200: naive"
// entry = "naive"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK", "BLOCK"]
// grid = ["ceil_div(M, BLOCK)", "ceil_div(N, BLOCK)"]
// [parameters.BLOCK]
// default = 16

// One thread per element of C; neighbouring threads go down a column of C.
extern "C" __global__ void naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sum;
}
