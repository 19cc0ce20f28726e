// gemmviz = 1
// title = "Naive: neighbouring threads go down a column of C"
// description = """
// With many blocks, C can have any size. But threadIdx.x, which varies fastest within a warp, selects the row. At every step, each
// lane of a warp reads from a different row of A: the addresses are K elements apart, each in a different sector. The warp's
// request moves 32 bytes for every 4 bytes that it uses.
// """
// entry = "sgemm_naive"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK", "BLOCK"]
// grid  = ["ceil_div(M, BLOCK)", "ceil_div(N, BLOCK)"]
// problem = { M = 32, N = 32, K = 32 }
// [parameters.BLOCK]
// default = 32
// choices = [2, 4, 8, 16, 32]
// description = "threads of a block along each axis"
// [[require]]
// that = "BLOCK * BLOCK <= max_threads_per_block"
// else = "a block {BLOCK} wide has {BLOCK * BLOCK} threads; a block of this device holds at most {max_threads_per_block}"

extern "C" __global__ void sgemm_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;   // x selects the row: neighbours are one row of A apart
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N)
        return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[row * K + k] * B[k * N + col];

    C[row * N + col] = sum;
}
