// gemmviz = 1
// title = "One element for each thread, without its indices"
// description = """
// Two blanks: the column and the row of the element that a thread computes.
// """
// entry = "blank_index"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK", "BLOCK"]
// grid  = ["ceil_div(N, BLOCK)", "ceil_div(M, BLOCK)"]
// problem = { M = 32, N = 32, K = 32 }
// [parameters.BLOCK]
// default = 32
// choices = [2, 4, 8, 16, 32]
// description = "threads of a block along each axis"
// [[require]]
// that = "BLOCK * BLOCK <= max_threads_per_block"
// else = "a block {BLOCK} wide has {BLOCK * BLOCK} threads; a block of this device holds at most {max_threads_per_block}"

extern "C" __global__ void blank_index(const float* A, const float* B, float* C, int M, int N, int K)
{
    // The column of this thread's element
    const int col = /*?*/;
    // Its row
    const int row = /*?*/;
    if (row >= M || col >= N)
        return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[row * K + k] * B[k * N + col];

    C[row * N + col] = sum;
}
