// gemmviz = 1
// title = "Sequential, summed in double"
// description = """
// The three loops of a CPU program with a sum in double precision: products and sums are rounded to float only once, when the element
// is stored. The same loops with a sum in float round after every addition.
// """
// entry = "gemm_sequential_double"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["1"]
// grid  = ["1"]
// problem = { M = 4, N = 4, K = 4 }

extern "C" __global__ void gemm_sequential_double(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    for (int row = 0; row < M; ++row) {
        for (int col = 0; col < N; ++col) {
            double sum = 0.0;
            for (int k = 0; k < K; ++k) {
                double a = A[row * K + k];
                double b = B[k * N + col];
                sum += a * b;
            }
            C[row * N + col] = sum;
        }
    }
}
