// gemmviz = 1
// title = "A block in one dimension"
// description = """
// A block of BLOCK threads in one dimension: each computes the element of C with its own number, counted along the rows.
// """
// entry = "linear_block"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["BLOCK"]
// grid  = ["ceil_div(M * N, BLOCK)"]
// [parameters.BLOCK]
// default = 48
// description = "threads of a block"
// [[require]]
// that = "BLOCK <= max_threads_per_block"
// else = "a block of this device holds at most {max_threads_per_block} threads"

extern "C" __global__ void linear_block(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    const int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= M * N)
        return;
    const int row = number / N;
    const int col = number % N;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[row * K + k] * B[k * N + col];
    C[number] = sum;
}
