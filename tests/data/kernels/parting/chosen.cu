// gemmviz = 1
// entry = "chosen"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32", "4"]
// grid  = ["ceil_div(N, 32)", "ceil_div(M, 4)"]
// problem = { M = 8, N = 32, K = 8 }

extern "C" __global__ void chosen(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            switch (col % 3) {
                case 0: sum += A[row * K + k] * B[k * N + col]; break;
                case 1: sum += B[k * N + col] * A[row * K + k]; break;
                default: sum = fmaf(A[row * K + k], B[k * N + col], sum);
            }
        }
        C[row * N + col] = sum;
    }
}
