// gemmviz = 1
// title = "A grid with one index, with blanks to fill in"
// description = """
// The flattened loop as a kernel: each thread has a number, which gives the row and the column of its element.
// """
// entry = "grid_worksheet"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK"]
// grid  = ["ceil_div(M * N, BLOCK)"]
// problem = { M = 5, N = 7, K = 4 }
// [parameters.BLOCK]
// default = 32
// choices = [32, 64, 128, 256]
// description = "threads of a block"

extern "C" __global__ void grid_worksheet(
    const float* A, const float* B, float* C,
    int M, int N, int K)
{
    // Instead of for (int i = 0; i < M * N; ++i)
    const int i = /*?*/;
    if (/*?*/) {
        const int row = /*?*/;
        const int col = /*?*/;

        float sum = 0.0f;
        for (int k = 0; k < K; ++k)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}
