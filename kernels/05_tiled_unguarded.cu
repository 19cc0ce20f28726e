// gemmviz = 1
// title = "Tiled, unguarded: for multiples of the tile width"
// description = """
// The tiled kernel in its simplest form: without guards, loading in each phase is just two loads. The drawback is that M, N and K
// must be multiples of TILE_WIDTH; with other sizes, the last tiles would extend beyond the matrices.
// """
// entry = "sgemm_tiled_unguarded"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// [parameters.TILE_WIDTH]
// default = 4
// choices = [2, 4, 8, 16, 32, 64]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0 and K % TILE_WIDTH == 0"
// else = "this kernel has no guards: M, N and K ({M}, {N}, {K}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"

extern "C" __global__ void sgemm_tiled_unguarded(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE_WIDTH + y;   // the element of C that this thread computes
    const int col = blockIdx.x * TILE_WIDTH + x;

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
