// gemmviz = 1
// entry = "staggered"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32", "4"]
// grid  = ["ceil_div(N, 32)", "ceil_div(M, 4)"]
// problem = { M = 8, N = 32, K = 8 }

extern "C" __global__ void staggered(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        int first = col % 8 < K ? col % 8 : 0;
        for (int k = first; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
        for (int k = 0; k < first; ++k) sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
