// gemmviz = 1
// title = "Matrix-vector multiplication: one row for each thread, or one for each block"
// description = """
// y = A x reads each element of A once, so its speed is the speed of reading A. BY_BLOCK = 0: a thread for each row. The loop runs along
// the row, and the threads of a warp read a column of A: 32 sectors for each request. BY_BLOCK = 1: a block for each row. Its threads
// read neighbouring elements of it, 4 sectors for each request, and a tree in shared memory adds their sums.
// """
// entry = "matrix_vector"
// args  = ["A", "x", "y", "rows", "columns"]
// block = ["BLOCK"]
// grid  = ["rows if BY_BLOCK else ceil_div(rows, BLOCK)"]
// problem = { kind = "matrix_vector", rows = 32, columns = 64 }
// [parameters.BLOCK]
// default = 32
// choices = [32, 64, 128, 256]
// description = "threads of a block"
// [parameters.BY_BLOCK]
// default = 0
// choices = [0, 1]
// description = "1: a block computes one row, 0: a thread does"

extern "C" __global__ void matrix_vector(const float* A, const float* x, float* y, int rows, int columns)
{
#if BY_BLOCK
    __shared__ float sums[BLOCK];

    const int row = blockIdx.x;
    float sum = 0.0f;
    for (int col = threadIdx.x; col < columns; col += BLOCK)
        sum += A[row * columns + col] * x[col];   // neighbouring threads read neighbouring elements of the row
    sums[threadIdx.x] = sum;
    __syncthreads();   // the sums of all threads are stored

    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[row] = sums[0];
#else
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int col = 0; col < columns; ++col)
            sum += A[row * columns + col] * x[col];   // neighbouring threads read elements that are a row apart
        y[row] = sum;
    }
#endif
}
