// gemmviz = 1
// entry = "split_k"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32", "4"]
// grid  = ["ceil_div(N, 32)", "ceil_div(M, 4)"]
// problem = { M = 8, N = 32, K = 8 }

extern "C" __global__ void split_k(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float low = 0.0f, high = 0.0f;
    int k = 0;
    while (k < K) {
        if (k < (col & 15)) low += A[row * K + k] * B[k * N + col];
        else high += A[row * K + k] * B[k * N + col];
        ++k;
    }
    C[row * N + col] = low + high;
}
