// gemmviz = 1
// title = "Piece 7 of 8: wait until all threads have read the tiles"
// description = """
// The tiled kernel, built up piece by piece: step 7 of 8.
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
        if (row < C_rows && phase * TILE_WIDTH + tx < A_cols)
            sh_A[ty][tx] = d_A[row * A_cols + phase * TILE_WIDTH + tx];
        else
            sh_A[ty][tx] = 0.0f;
        if (phase * TILE_WIDTH + ty < A_cols && col < C_cols)
            sh_B[ty][tx] = d_B[(phase * TILE_WIDTH + ty) * C_cols + col];
        else
            sh_B[ty][tx] = 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE_WIDTH; k++)
            value += sh_A[ty][k] * sh_B[k][tx];
        __syncthreads();
    }
}
