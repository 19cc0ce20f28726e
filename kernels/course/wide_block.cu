// gemmviz = 1
// title = "Broken: a block that is wider than its tile"
// description = """
// The beginning of the tiled kernel in blocks that are twice as wide as its tiles. Its first assertion stops the run before a
// thread uses an index that its tile doesn't have.
// """
// entry = "phases_by_ceil"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["2 * TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["ceil_div(N, 2 * TILE_WIDTH)", "ceil_div(M, TILE_WIDTH)"]
// problem = { M = 4, N = 4, K = 4 }
// unfinished = true
// [parameters.TILE_WIDTH]
// default = 2
// choices = [2, 3, 4, 8, 12, 16]
// description = "rows and columns of a tile; a block is twice as wide"
// [[require]]
// that = "2 * TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {2 * TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"

extern "C" __global__ void phases_by_ceil(
    float* d_A, float* d_B, float* d_C, int C_rows, int C_cols, int A_cols)
{
    assert(TILE_WIDTH == blockDim.x);
    assert(TILE_WIDTH == blockDim.y);

    const int by = blockIdx.y, bx = blockIdx.x;
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = TILE_WIDTH * by + ty;
    const int col = TILE_WIDTH * bx + tx;

    __shared__ float sh_A[TILE_WIDTH][TILE_WIDTH];
    __shared__ float sh_B[TILE_WIDTH][TILE_WIDTH];

}
