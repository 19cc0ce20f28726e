// gemmviz = 1
// title = "Flattened loop: one index, row and column computed"
// description = """
// The sequential program with one loop over the elements of C in the place of two: a division by the width gives the row, its remainder
// the column. A thread of a grid finds its element in the same way if it has only one index.
// """
// entry = "gemm_flattened"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["1"]
// grid  = ["1"]
// problem = { M = 4, N = 4, K = 4 }

extern "C" __global__ void gemm_flattened(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    for (int i = 0; i < M * N; ++i) {
        int row = i / N;
        int col = i % N;
        float sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum += A[row * K + k] * B[k * N + col];
        C[i] = sum;
    }
}
