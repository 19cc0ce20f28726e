// gemmviz = 1
// entry = "late_return"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32", "4"]
// grid  = ["ceil_div(N, 32)", "ceil_div(M, 4)"]
// problem = { M = 8, N = 32, K = 8 }

extern "C" __global__ void late_return(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        if (row >= M || col >= N) return;
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}
