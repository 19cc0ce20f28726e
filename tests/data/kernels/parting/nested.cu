// gemmviz = 1
// entry = "nested"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32", "4"]
// grid  = ["ceil_div(N, 32)", "ceil_div(M, 4)"]
// problem = { M = 8, N = 32, K = 8 }

extern "C" __global__ void nested(const float* A, const float* B, float* C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M) {
        if (col < N) {
            float sum = 0.0f;
            for (int k = 0; k < K; ++k) {
                float a = A[row * K + k];
                if (col % 4 < 2) {
                    if (col % 2) sum += a * B[k * N + col];
                    else sum = fmaf(B[k * N + col], a, sum);
                } else {
                    sum += B[k * N + col] * a;
                }
            }
            C[row * N + col] = sum;
        }
    }
}
