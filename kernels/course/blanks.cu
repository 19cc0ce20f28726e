// gemmviz = 1
// title = "Tiled, with blanks to fill in"
// description = """
// The tiled kernel for square matrices as a worksheet with blanks to fill in.
// """
// entry = "tiled_worksheet"
// args  = ["A", "B", "C", "N"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["ceil_div(N, TILE_WIDTH)", "ceil_div(N, TILE_WIDTH)"]
// problem = { M = 4, N = 4, K = 4 }
// [parameters.TILE_WIDTH]
// default = 2
// choices = [2, 3, 4, 8, 12, 16, 32]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M == N and N == K"
// else = "this kernel multiplies only square matrices: M, N and K ({M}, {N}, {K}) must be the same"

extern "C" __global__ void tiled_worksheet(
    const float* Md, const float* Nd, float* Pd, int width)
{
    // Step 1: space for a tile of each matrix
    __shared__ float Mds[/*?*/][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];

    // Step 2: this thread's element, and the number of tiles
    int row = /*?*/;
    int col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    int tiles = /*?*/;

    // Step 3: loop over the pairs of tiles
    float sum = 0.0f;
    for (int m = 0; m < tiles; ++m) {
        // Step 3a: load, then wait
        int k0 = m * TILE_WIDTH;
        Mds[threadIdx.y][threadIdx.x] =
            (row < width && k0 + threadIdx.x < width) ? Md[/*?*/] : 0.0f;
        Nds[threadIdx.y][threadIdx.x] =
            (k0 + threadIdx.y < width && col < width) ? Nd[(k0 + threadIdx.y) * width + col] : 0.0f;
        /*?*/

        // Step 3b: multiply, then wait
        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += /*?*/;
        /*?*/
    }

    // Step 4: write the result
    if (/*?*/)
        Pd[row * width + col] = sum;
}
