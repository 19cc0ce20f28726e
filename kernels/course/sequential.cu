// gemmviz = 1
// title = "Sequential: one thread does all the work"
// description = """
// The three loops of a CPU program, run by a single thread: every element of C in sequence, and K products for each.
// A grid of threads replaces the two outer loops.
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
