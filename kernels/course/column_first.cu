// gemmviz = 1
// title = "Tiled, in the notation of slides: Md, Nd, Pd"
// description = """
// The tiled kernel for square matrices with the names of the lecture: Mds and Nds are the tiles of Md and Nd in shared memory, m counts
// the phases, and the sum is Pvalue. Its labels are written column first.
// """
// entry = "column_first"
// args  = ["A", "B", "C", "N"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["N / TILE_WIDTH", "N / TILE_WIDTH"]
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
// [[require]]
// that = "N % TILE_WIDTH == 0"
// else = "this kernel has no guards: N ({N}) must be a multiple of TILE_WIDTH = {TILE_WIDTH}"

extern "C" __global__ void column_first(
    const float* Md, const float* Nd, float* Pd, int Width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];

    int bx = blockIdx.x, by = blockIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE_WIDTH + ty;
    int Col = bx * TILE_WIDTH + tx;

    float Pvalue = 0.0f;
    for (int m = 0; m < Width / TILE_WIDTH; ++m) {
        Mds[ty][tx] = Md[Row * Width + m * TILE_WIDTH + tx];
        Nds[ty][tx] = Nd[Col + (m * TILE_WIDTH + ty) * Width];
        __syncthreads();

        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Mds[ty][k] * Nds[k][tx];
        __syncthreads();
    }
    Pd[Row * Width + Col] = Pvalue;
}
