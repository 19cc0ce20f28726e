// gemmviz = 1
// title = "Grid of threads: one element each"
// description = """
// A grid of threads replaces the two outer loops: each thread computes its row and its column, and the guard excludes threads
// without an element.
// """
// entry = "gemm_one_element"
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

extern "C" __global__ void gemm_one_element(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M && col < N) {
            float sum = 0.0f;
            for (int k = 0; k < K; ++k)
                sum += A[row * K + k] * B[k * N + col];
            C[row * N + col] = sum;
    }
}
