// gemmviz = 1
// title = "Sequential: one thread does it all"
// description = """
// The three loops of a CPU, run by a single thread: every element of C, one after the other, and for each of them K products.
// The two outer loops are what a grid of threads takes over.
// """
// entry = "gemm_sequential"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["1"]
// grid  = ["1"]
// problem = { M = 4, N = 4, K = 4 }

extern "C" __global__ void gemm_sequential(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    for (int row = 0; row < M; ++row) {
        for (int col = 0; col < N; ++col) {
            float sum = 0.0f;
            for (int k = 0; k < K; ++k)
                sum += A[row * K + k] * B[k * N + col];
            C[row * N + col] = sum;
        }
    }
}
