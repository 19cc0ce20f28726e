// gemmviz = 1
// title = "Tensor cores: a warp multiplies 16 x 16 matrices"
// description = """
// The pipelined kernel for matrices of half precision, whose products tensor cores compute and add up in single precision. A warp
// computes PER_WARP x PER_WARP elements of C as fragments of 16 x 16 elements, which its lanes hold together: it loads a fragment of
// each tile, and multiplies the two in one step. Which lane holds which element is left to the compiler (wmma). Eight elements of half
// precision are one copy of 16 bytes, and no tile is transposed. The sizes must be multiples of the tile.
// """
// entry = "hgemm_wmma"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["32", "TILE_WIDTH / PER_WARP * (TILE_WIDTH / PER_WARP)"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// [parameters.TILE_WIDTH]
// default = 32
// choices = [32, 64, 128]
// description = "rows and columns of C that a block computes"
// [parameters.PER_WARP]
// default = 16
// choices = [16, 32, 64]
// description = "rows and columns of C that a warp computes"
// [parameters.DEPTH]
// default = 16
// choices = [16, 32]
// description = "columns of the tile of A, rows of the tile of B"
// [parameters.STAGES]
// default = 3
// choices = [2, 3]
// description = "tiles of each matrix in shared memory"
// [problem]
// M = 32
// N = 32
// K = 64
// [[require]]
// that = "TILE_WIDTH % PER_WARP == 0"
// else = "TILE_WIDTH = {TILE_WIDTH} must be a multiple of PER_WARP = {PER_WARP}"
// [[require]]
// that = "32 * TILE_WIDTH * TILE_WIDTH <= max_threads_per_block * PER_WARP * PER_WARP"
// else = "such a block has {32 * (TILE_WIDTH / PER_WARP) * (TILE_WIDTH / PER_WARP)} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0"
// else = "M and N ({M}, {N}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"
// [[require]]
// that = "K % DEPTH == 0"
// else = "K = {K} must be a multiple of DEPTH = {DEPTH}"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void hgemm_wmma(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half tileA[STAGES][TILE_WIDTH][DEPTH];
    __shared__ __align__(32) half tileB[STAGES][DEPTH][TILE_WIDTH];

    const int across = TILE_WIDTH / PER_WARP;      // warps of the block along x, and along y
    const int threads = 32 * across * across;
    const int thread = threadIdx.y * 32 + threadIdx.x;
    const int row0 = blockIdx.y * TILE_WIDTH;      // the first row and column of the block's tile of C
    const int col0 = blockIdx.x * TILE_WIDTH;
    const int warp = threadIdx.y;
    const int y = warp / across * PER_WARP;        // the first of this warp's elements in it
    const int x = warp % across * PER_WARP;

    const int ahead = (STAGES - 1) * DEPTH;        // the tiles are copied this far ahead of the computation
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[PER_WARP / 16][PER_WARP / 16];
    for (int i = 0; i < PER_WARP / 16; ++i)
        for (int j = 0; j < PER_WARP / 16; ++j)
            wmma::fill_fragment(sum[i][j], 0.0f);
    for (int k0 = 0; k0 < K + ahead; k0 += DEPTH) {
        if (k0 >= ahead) {
            __pipeline_wait_prior(STAGES - 2);     // this thread's copies of the next tiles are complete
            __syncthreads();                       // of all threads, and no thread reads older tiles any more
        }

        // Copy: the threads take eight neighbouring elements at a time, in turn.
        half (*nextA)[DEPTH] = tileA[k0 / DEPTH % STAGES];
        half (*nextB)[TILE_WIDTH] = tileB[k0 / DEPTH % STAGES];
        for (int i = thread; i < TILE_WIDTH * DEPTH / 8 && k0 < K; i += threads) {
            const int row = i / (DEPTH / 8), k = i % (DEPTH / 8) * 8;
            __pipeline_memcpy_async(&nextA[row][k], &A[(row0 + row) * K + k0 + k], 16);
        }
        for (int i = thread; i < DEPTH * TILE_WIDTH / 8 && k0 < K; i += threads) {
            const int k = i / (TILE_WIDTH / 8), col = i % (TILE_WIDTH / 8) * 8;
            __pipeline_memcpy_async(&nextB[k][col], &B[(k0 + k) * N + col0 + col], 16);
        }
        __pipeline_commit();

        const int stage = (k0 - ahead) / DEPTH % STAGES;
        for (int k = 0; k < DEPTH && k0 >= ahead; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[PER_WARP / 16];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[PER_WARP / 16];
            for (int i = 0; i < PER_WARP / 16; ++i)
                wmma::load_matrix_sync(a[i], &tileA[stage][y + i * 16][k], DEPTH);
            for (int j = 0; j < PER_WARP / 16; ++j)
                wmma::load_matrix_sync(b[j], &tileB[stage][k][x + j * 16], TILE_WIDTH);
            for (int i = 0; i < PER_WARP / 16; ++i)
                for (int j = 0; j < PER_WARP / 16; ++j)
                    wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);      // 16 x 16 x 16 products in one step
        }
    }

    for (int i = 0; i < PER_WARP / 16; ++i)
        for (int j = 0; j < PER_WARP / 16; ++j)
            wmma::store_matrix_sync(&C[(row0 + y + i * 16) * N + col0 + x + j * 16], sum[i][j], N, wmma::mem_row_major);
}
