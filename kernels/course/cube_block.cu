// gemmviz = 1
// title = "A block in three dimensions"
// description = """
// A block of 4 × 4 × 2 threads: x selects the column, and y and z together select the row.
// """
// entry = "cube_block"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["4", "4", "DEPTH"]
// grid  = ["ceil_div(N, 4)", "ceil_div(M, 4 * DEPTH)"]
// [parameters.DEPTH]
// default = 2
// choices = [1, 2, 3, 4]
// description = "threads of a block along z"

extern "C" __global__ void cube_block(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    const int row = (blockIdx.y * blockDim.z + threadIdx.z) * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
