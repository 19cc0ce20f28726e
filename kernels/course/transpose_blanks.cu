// gemmviz = 1
// title = "Transposition, with blanks to fill in"
// description = """
// The transposition through a tile as a worksheet: rows are read and written, and no column of the tile lies in one bank.
// """
// entry = "transpose_worksheet"
// args  = ["in", "out", "rows", "columns"]
// block = ["TILE", "TILE"]
// grid  = ["ceil_div(columns, TILE)", "ceil_div(rows, TILE)"]
// problem = { kind = "transpose", rows = 32, columns = 64 }
// [parameters.TILE]
// default = 32
// choices = [4, 8, 16, 32]
// description = "rows and columns of a tile, and of the block"

extern "C" __global__ void transpose_worksheet(
    const float* in, float* out, int rows, int columns)
{
    // The cells of a column are in different banks
    __shared__ float tile[TILE][/*?*/];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;
    const int col = blockIdx.x * TILE + x;
    if (row < rows && col < columns)
        tile[y][x] = in[row * columns + col];
    /*?*/

    // Where this thread writes: its neighbours write along the same row
    const int out_row = /*?*/;
    const int out_col = /*?*/;
    if (/*?*/)
        out[out_row * rows + out_col] = /*?*/;
}
