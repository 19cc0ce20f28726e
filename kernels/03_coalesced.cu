// gemmviz = 1
// title = "Coalesced: neighbouring threads go along a row of C"
// description = """
// The naive kernel with x and y swapped; nothing else changes. Now the lanes of a warp share a row of A, so all of them read the
// same element (one sector for the whole warp). They read neighbouring elements of B, which fill the sectors that they touch.
// """
// entry = "sgemm_coalesced"
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

extern "C" __global__ void sgemm_coalesced(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;   // x selects the column: neighbours read neighbouring elements of B
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N)
        return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[row * K + k] * B[k * N + col];

    C[row * N + col] = sum;
}
