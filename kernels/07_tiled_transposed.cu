// gemmviz = 1
// title = "Tiled, A transposed: all stores of a warp hit one bank"
// description = """
// The unguarded kernel with the tile of A stored transposed, as in kernels that later read it along a row. Loads from global memory
// stay coalesced, but neighbouring threads now write elements TILE_WIDTH apart. With rows of 32, all 32 elements are in one bank, and
// the store takes 32 wavefronts instead of one. With PAD = 1, the rows are 33 long, and the same column covers all banks.
// """
// entry = "sgemm_tiled_transposed"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// problem = { M = 64, N = 64, K = 64 }
// [parameters.TILE_WIDTH]
// default = 32
// choices = [2, 4, 8, 16, 32, 64]
// description = "rows and columns of a tile, and of the block"
// [parameters.PAD]
// default = 0
// choices = [0, 1, 2, 4]
// description = "unused elements at the end of each row of A's tile"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0 and K % TILE_WIDTH == 0"
// else = "this kernel has no guards: M, N and K ({M}, {N}, {K}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"

extern "C" __global__ void sgemm_tiled_transposed(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH + PAD];   // tileA[k][row]: transposed
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE_WIDTH + y;   // the element of C that this thread computes
    const int col = blockIdx.x * TILE_WIDTH + x;

    float sum = 0.0f;
    for (int phase = 0; phase < K / TILE_WIDTH; ++phase) {
        const int k0 = phase * TILE_WIDTH;

        tileA[x][y] = A[row * K + k0 + x];   // x selects the row of the tile: a warp's stores go down a column
        tileB[y][x] = B[(k0 + y) * N + col];
        __syncthreads();   // no thread reads a tile before all of it is loaded

        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[k][y] * tileB[k][x];
        __syncthreads();   // no thread overwrites a tile that another one still reads
    }

    C[row * N + col] = sum;
}
