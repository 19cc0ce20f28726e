// gemmviz = 1
// title = "Single block: one block of threads computes all of C"
// description = """
// The first step from a loop on the CPU to a kernel: the two outer loops become threads. Every thread computes one element of C and
// loops over a row of A and a column of B. The number of threads in a block is limited, so C can't be large: at most 32 x 32 if a
// block holds 1024 threads, and 22 x 22 if it holds 512.
// """
// entry = "sgemm_single_block"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["N", "M"]
// grid  = ["1", "1"]
// problem = { M = 8, N = 8, K = 8 }
// [[require]]
// that = "M * N <= max_threads_per_block"
// else = "C has {M * N} elements, one thread each; a block of this device holds at most {max_threads_per_block} threads"

extern "C" __global__ void sgemm_single_block(const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = threadIdx.y;   // the element of C that this thread computes
    const int col = threadIdx.x;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[row * K + k] * B[k * N + col];

    C[row * N + col] = sum;
}
