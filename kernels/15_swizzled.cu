// gemmviz = 1
// title = "Swizzled: no two rows of a matrix share banks"
// description = """
// The kernel of matrix instructions with another order of the elements in the tiles. A row of a tile is cut into chunks of 16 bytes, and
// the number of a chunk is combined (XOR) with the number of its row. The eight rows that ldmatrix reads at once then lie in different
// banks, and so do the rows that copies write, without the space that padding takes. The sizes must be multiples of the tile.
// """
// entry = "hgemm_swizzled"
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

__device__ unsigned in_shared(const void* pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Where a row of a tile holds the eight elements from column `col` on: rows that one ldmatrix reads use different banks.
__device__ int swizzled(int row, int col, int width)
{
    const int chunks = width < 64 ? width / 8 : 8;   // of 16 bytes; 8 of them are all 32 banks
    return col ^ (row / (8 / chunks) % chunks * 8);
}

// Four matrices of 8 x 8 elements. Each lane points to one row, and gets two elements of each matrix.
__device__ void load_matrices(unsigned (&r)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}

__device__ void load_transposed(unsigned (&r)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}

// sum (16 x 8) += a (16 x 16) * b (16 x 8)
__device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void hgemm_swizzled(const half* A, const half* B, float* C, int M, int N, int K)
{
    __shared__ __align__(32) half tileA[STAGES][TILE_WIDTH][DEPTH];
    __shared__ __align__(32) half tileB[STAGES][DEPTH][TILE_WIDTH];

    const int across = TILE_WIDTH / PER_WARP;      // warps of the block along x, and along y
    const int threads = 32 * across * across;
    const int thread = threadIdx.y * 32 + threadIdx.x;
    const int row0 = blockIdx.y * TILE_WIDTH;      // the first row and column of the block's tile of C
    const int col0 = blockIdx.x * TILE_WIDTH;
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int y = warp / across * PER_WARP;        // the first of this warp's elements in it
    const int x = warp % across * PER_WARP;

    const int ahead = (STAGES - 1) * DEPTH;        // the tiles are copied this far ahead of the computation
    float sum[PER_WARP / 16][PER_WARP / 8][4] = {};
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
            __pipeline_memcpy_async(&nextA[row][swizzled(row, k, DEPTH)], &A[(row0 + row) * K + k0 + k], 16);
        }
        for (int i = thread; i < DEPTH * TILE_WIDTH / 8 && k0 < K; i += threads) {
            const int k = i / (TILE_WIDTH / 8), col = i % (TILE_WIDTH / 8) * 8;
            __pipeline_memcpy_async(&nextB[k][swizzled(k, col, TILE_WIDTH)], &B[(k0 + k) * N + col0 + col], 16);
        }
        __pipeline_commit();

        const int stage = (k0 - ahead) / DEPTH % STAGES;
        for (int k = 0; k < DEPTH && k0 >= ahead; k += 16) {
            unsigned a[PER_WARP / 16][4], b[PER_WARP / 16][4];
            for (int i = 0; i < PER_WARP / 16; ++i) {
                const int row = y + i * 16 + lane % 16;
                load_matrices(a[i], in_shared(&tileA[stage][row][swizzled(row, k + lane / 16 * 8, DEPTH)]));
            }
            for (int j = 0; j < PER_WARP / 16; ++j) {
                const int row = k + lane % 16;
                load_transposed(b[j], in_shared(&tileB[stage][row][swizzled(row, x + j * 16 + lane / 16 * 8, TILE_WIDTH)]));
            }
            for (int i = 0; i < PER_WARP / 16; ++i)
                for (int j = 0; j < PER_WARP / 8; ++j)
                    multiply_add(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
    }

    for (int i = 0; i < PER_WARP / 16; ++i)
        for (int j = 0; j < PER_WARP / 8; ++j) {
            float* c = &C[(row0 + y + i * 16 + lane / 4) * N + col0 + x + j * 8 + lane % 4 * 2];
            *reinterpret_cast<float2*>(c) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(c + 8 * N) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
