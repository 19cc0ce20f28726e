// gemmviz = 1
// title = "Transposition through a tile of shared memory, with or without padding"
// description = """
// A block reads a tile row by row and writes it column by column, so both sides of global memory are rows. The stride has moved into
// shared memory: a warp reads a column of the tile. With rows of 32, a column lies in one bank, and the read takes 32 wavefronts. With
// PAD = 1 the rows are 33 long, and the same column covers all 32 banks: one wavefront.
// """
// entry = "transpose_tiled"
// args  = ["in", "out", "rows", "columns"]
// block = ["TILE", "TILE"]
// grid  = ["ceil_div(columns, TILE)", "ceil_div(rows, TILE)"]
// problem = { kind = "transpose", rows = 32, columns = 64 }
// [parameters.TILE]
// default = 32
// choices = [4, 8, 16, 32]
// description = "rows and columns of a tile, and of the block"
// [parameters.PAD]
// default = 0
// choices = [0, 1, 2, 4]
// description = "unused elements at the end of each row of the tile"

extern "C" __global__ void transpose_tiled(const float* in, float* out, int rows, int columns)
{
    __shared__ float tile[TILE][TILE + PAD];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE + y;   // the element of in that this thread reads
    const int col = blockIdx.x * TILE + x;

    if (row < rows && col < columns)
        tile[y][x] = in[row * columns + col];
    __syncthreads();   // no thread reads the tile before all of it is loaded

    const int out_row = blockIdx.x * TILE + y;   // the element of out that this thread writes
    const int out_col = blockIdx.y * TILE + x;

    if (out_row < columns && out_col < rows)
        out[out_row * rows + out_col] = tile[x][y];   // x selects the row of the tile: a warp reads a column
}
