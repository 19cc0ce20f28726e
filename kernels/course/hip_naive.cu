// gemmviz = 1
// title = "HIP: one element per thread, without tiles"
// description = """
// The untiled kernel as in a HIP program. A is M × N and B is N × K, so its N is the K of the other kernels.
// """
// entry = "hip_naive"
// args  = ["A", "B", "C", "M", "K", "N"]
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

extern "C" __global__ void hip_naive(
    const float* A, const float* B, float* C, const int M, const int N, const int K)
{
    const unsigned int row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < K) {
        float sum = 0.0f;
        for (int i = 0; i < N; ++i)
            sum += A[row * N + i] * B[i * K + col];
        C[row * K + col] = sum;
    }
}
