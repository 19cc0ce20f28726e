// gemmviz = 1
// title = "Many blocks: one tile of P each"
// description = """
// The lecture's second kernel: a grid of (WIDTH / TILE_WIDTH)² blocks, each of which computes one tile of the product with one
// thread per element. It still reads everything from global memory, and it has no guard.
// """
// entry = "many_blocks"
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

extern "C" __global__ void many_blocks(
    const float* Md, const float* Nd, float* Pd, int Width)
{
    int Row = blockIdx.y * TILE_WIDTH + threadIdx.y;   // of Pd and Md
    int Col = blockIdx.x * TILE_WIDTH + threadIdx.x;   // of Pd and Nd

    float Pvalue = 0.0f;
    for (int k = 0; k < Width; ++k)
        Pvalue += Md[Row * Width + k] * Nd[k * Width + Col];
    Pd[Row * Width + Col] = Pvalue;
}
