// gemmviz = 1
// title = "Matrix-vector multiplication, with blanks to fill in"
// description = """
// A block for each row of A, as a worksheet: its threads go along the row side by side, and a tree adds their sums.
// """
// entry = "row_worksheet"
// args  = ["A", "x", "y", "rows", "columns"]
// block = ["BLOCK"]
// grid  = ["rows"]
// problem = { kind = "matrix_vector", rows = 8, columns = 100 }
// [parameters.BLOCK]
// default = 32
// choices = [32, 64, 128, 256]
// description = "threads of a block"

extern "C" __global__ void row_worksheet(
    const float* A, const float* x, float* y, int rows, int columns)
{
    __shared__ float sums[BLOCK];

    // All threads of a block share one row
    const int row = /*?*/;

    // Where a thread begins, how long it goes on, how far it goes each time
    float sum = 0.0f;
    for (int col = /*?*/; /*?*/; /*?*/)
        sum += /*?*/;
    sums[threadIdx.x] = sum;
    __syncthreads();

    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[row] = sums[0];
}
