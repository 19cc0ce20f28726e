// gemmviz = 1
// title = "Transposition: rows are read, columns are written"
// description = """
// Each thread copies one element. A warp reads a row of in, which is one line, and writes a column of out: 32 elements in 32 different
// sectors, of which it fills 4 bytes each. One of the two sides of a transposition is always strided if each thread moves its own element.
// """
// entry = "transpose_naive"
// args  = ["in", "out", "rows", "columns"]
// block = ["TILE", "TILE"]
// grid  = ["ceil_div(columns, TILE)", "ceil_div(rows, TILE)"]
// problem = { kind = "transpose", rows = 32, columns = 64 }
// [parameters.TILE]
// default = 32
// choices = [4, 8, 16, 32]
// description = "rows and columns of a block"

extern "C" __global__ void transpose_naive(const float* in, float* out, int rows, int columns)
{
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;

    if (row < rows && col < columns)
        out[col * rows + row] = in[row * columns + col];   // neighbouring threads write elements that are a row apart
}
