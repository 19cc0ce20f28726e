// gemmviz = 1
// title = "Piece 3 of 8: the loop over the phases"
// description = """
// The tiled kernel, built up piece by piece: step 3 of 8.
// """
// entry = "phases_by_ceil"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["ceil_div(N, TILE_WIDTH)", "ceil_div(M, TILE_WIDTH)"]
// problem = { M = 4, N = 4, K = 4 }
// unfinished = true
// [parameters.TILE_WIDTH]
// default = 2
// choices = [2, 3, 4, 8, 12, 16, 32]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"

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

    const int phases = ceil((float)A_cols / TILE_WIDTH);

    float value = 0;
    for (int phase = 0; phase < phases; phase++) {
    }
}
