// gemmviz = 1
// title = "Measured on an H200: coalesced"
// entry = "coalesced"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK", "BLOCK"]
// grid = ["ceil_div(N, BLOCK)", "ceil_div(M, BLOCK)"]
// [parameters.BLOCK]
// default = 16

// One thread per element of C; neighbouring threads go along a row of C.
extern "C" __global__ void coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sum;
}
