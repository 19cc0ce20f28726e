// gemmviz = 1
// title = "Tiled, without the order of its blocks"
// description = """
// The number of a block is mapped to its tile in groups of GROUP rows. Two blanks say which tile of the group it is.
// """
// entry = "blank_order"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["N / TILE_WIDTH * (M / TILE_WIDTH)"]
// [parameters.TILE_WIDTH]
// default = 4
// choices = [2, 4, 8, 16, 32, 64]
// description = "rows and columns of a tile, and of the block"
// [parameters.GROUP]
// default = 4
// choices = [1, 2, 4, 8, 16]
// description = "rows of blocks in a group"
// [problem]
// M = 64
// N = 64
// K = 8
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0 and K % TILE_WIDTH == 0"
// else = "this kernel has no guards: M, N and K ({M}, {N}, {K}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"
// [[require]]
// that = "M % (TILE_WIDTH * GROUP) == 0"
// else = "M = {M} must be a multiple of the {TILE_WIDTH * GROUP} rows of a group"

extern "C" __global__ void blank_order(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int across = N / TILE_WIDTH;             // tiles in a row of C
    const int group = blockIdx.x / (GROUP * across), place = blockIdx.x % (GROUP * across);
    // The row of tiles, so that neighbouring blocks go down a column of the group
    const int tile_row = group * GROUP + /*?*/;
    // The column of tiles
    const int tile_col = /*?*/;
    const int row = tile_row * TILE_WIDTH + y;     // the element of C that this thread computes
    const int col = tile_col * TILE_WIDTH + x;

    float sum = 0.0f;
    for (int phase = 0; phase < K / TILE_WIDTH; ++phase) {
        const int k0 = phase * TILE_WIDTH;

        tileA[y][x] = A[row * K + k0 + x];
        tileB[y][x] = B[(k0 + y) * N + col];
        __syncthreads();   // no thread reads a tile before all of it is loaded

        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[y][k] * tileB[k][x];
        __syncthreads();   // no thread overwrites a tile that another one still reads
    }

    C[row * N + col] = sum;
}
