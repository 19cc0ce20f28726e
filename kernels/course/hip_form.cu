// gemmviz = 1
// title = "HIP: unsigned indices, different names"
// description = """
// The tiled kernel as in a HIP program: the same language, unsigned indices, and different dimensions. A is M × N and B is N × K, so its
// N is the K of the other kernels.
// """
// entry = "hip_form"
// args  = ["A", "B", "C", "M", "K", "N"]
// block = ["BLOCK_DIM", "BLOCK_DIM"]
// grid  = ["ceil_div(N, BLOCK_DIM)", "ceil_div(M, BLOCK_DIM)"]
// [parameters.BLOCK_DIM]
// default = 4
// choices = [2, 4, 8, 16, 32]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "BLOCK_DIM * BLOCK_DIM <= max_threads_per_block"
// else = "a tile {BLOCK_DIM} wide needs {BLOCK_DIM * BLOCK_DIM} threads; a block of this device holds at most {max_threads_per_block}"

extern "C" __global__ void hip_form(
    const float* A, const float* B, float* C, const int M, const int N, const int K)
{
    const unsigned int row = blockIdx.y * BLOCK_DIM + threadIdx.y;
    const unsigned int col = blockIdx.x * BLOCK_DIM + threadIdx.x;
    const unsigned int steps = (N + BLOCK_DIM - 1) / BLOCK_DIM;   // A is M x N, B is N x K here
    float sum = 0.0f;

    __shared__ float shared_A[BLOCK_DIM][BLOCK_DIM];
    __shared__ float shared_B[BLOCK_DIM][BLOCK_DIM];

    for (unsigned int step = 0; step < steps; step++) {
        const unsigned int a_col = step * BLOCK_DIM + threadIdx.x;
        const unsigned int b_row = step * BLOCK_DIM + threadIdx.y;
        shared_A[threadIdx.y][threadIdx.x] = (row < M && a_col < N) ? A[row * N + a_col] : 0.0f;
        shared_B[threadIdx.y][threadIdx.x] = (b_row < N && col < K) ? B[b_row * K + col] : 0.0f;
        __syncthreads();

        for (unsigned int i = 0; i < BLOCK_DIM; i++)
            sum += shared_A[threadIdx.y][i] * shared_B[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < K)
        C[row * K + col] = sum;
}
