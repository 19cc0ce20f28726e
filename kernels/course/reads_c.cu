// gemmviz = 1
// title = "Alpha and beta: a product that reads C"
// description = """
// As in SGEMM, C = alpha · A · B + beta · C, with alpha = 1 and beta = 0. The old C doesn't contribute, but each of its elements is
// read. If C was never written and holds a NaN or an infinity, the result is NaN.
// """
// entry = "reads_c"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK", "BLOCK"]
// grid  = ["ceil_div(N, BLOCK)", "ceil_div(M, BLOCK)"]
// problem = { M = 4, N = 4, K = 4 }
// [parameters.BLOCK]
// default = 2
// choices = [2, 4, 8, 16, 32]
// description = "threads of a block along each axis"
// [[require]]
// that = "BLOCK * BLOCK <= max_threads_per_block"
// else = "a block {BLOCK} wide needs {BLOCK * BLOCK} threads; a block of this device holds at most {max_threads_per_block}"

extern "C" __global__ void reads_c(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
        float value = 0.0f;
        for (int k = 0; k < K; k++)
            value += A[row * K + k] * B[k * N + col];
        C[row * N + col] = 1.0f * value + 0.0f * C[row * N + col];
    }
}
