// gemmviz = 1
// title = "Pipelined: tiles are copied to shared memory asynchronously"
// description = """
// The double-buffered kernel with asynchronous copies (cp.async): the hardware copies from global to shared memory by itself, past the
// registers. A thread starts the copies of tiles that are needed STAGES - 1 phases later, and waits only for the oldest ones. The
// element-wise copies of A transpose its tile on the way. The sizes must be multiples of the tile.
// """
// entry = "sgemm_pipelined"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH / PER_THREAD", "TILE_WIDTH / PER_THREAD"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// [parameters.TILE_WIDTH]
// default = 32
// choices = [32, 64, 128]
// description = "rows and columns of C that a block computes"
// [parameters.PER_THREAD]
// default = 4
// choices = [4, 8]
// description = "rows and columns of C that a thread computes"
// [parameters.DEPTH]
// default = 8
// choices = [8, 16]
// description = "columns of the tile of A, rows of the tile of B"
// [parameters.STAGES]
// default = 3
// choices = [2, 3]
// description = "tiles of each matrix in shared memory"
// [problem]
// M = 32
// N = 32
// K = 32
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block * PER_THREAD * PER_THREAD"
// else = "such a block has {TILE_WIDTH / PER_THREAD * (TILE_WIDTH / PER_THREAD)} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "TILE_WIDTH % (8 * PER_THREAD) == 0"
// else = "TILE_WIDTH = {TILE_WIDTH} must be a multiple of the {8 * PER_THREAD} rows that a warp computes"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0"
// else = "M and N ({M}, {N}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"
// [[require]]
// that = "K % DEPTH == 0"
// else = "K = {K} must be a multiple of DEPTH = {DEPTH}"
// [[require]]
// that = "4 * STAGES * DEPTH * (2 * TILE_WIDTH + 4) <= shared_per_block"
// else = "such tiles have {4 * STAGES * DEPTH * (2 * TILE_WIDTH + 4)} bytes; the shared memory of a block of this device has at most {shared_per_block}"

#include <cuda_pipeline.h>

extern "C" __global__ void sgemm_pipelined(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[STAGES][DEPTH][TILE_WIDTH + 4];  // padded: the copies transpose A into different banks
    __shared__ float tileB[STAGES][DEPTH][TILE_WIDTH];

    const int across = TILE_WIDTH / PER_THREAD;    // threads of the block along x, and along y
    const int threads = across * across;
    const int thread = threadIdx.y * across + threadIdx.x;
    const int row0 = blockIdx.y * TILE_WIDTH;      // the first row and column of the block's tile of C
    const int col0 = blockIdx.x * TILE_WIDTH;
    const int lane = thread % 32, warp = thread / 32;
    const int y = (warp / (across / 4) * 8 + lane / 4) * PER_THREAD;   // the first of this thread's elements in it
    const int x = (warp % (across / 4) * 4 + lane % 4) * PER_THREAD;   // a warp is 8 rows of 4 threads

    const int ahead = (STAGES - 1) * DEPTH;        // the tiles are copied this far ahead of the computation
    float sum[PER_THREAD][PER_THREAD] = {};
    for (int k0 = 0; k0 < K + ahead; k0 += DEPTH) {
        if (k0 >= ahead) {
            __pipeline_wait_prior(STAGES - 2);     // this thread's copies of the next tiles are complete
            __syncthreads();                       // of all threads, and no thread reads older tiles any more
        }

        // Copy: the threads take one element of A, or four neighbouring ones of B, at a time, in turn.
        float (*nextA)[TILE_WIDTH + 4] = tileA[k0 / DEPTH % STAGES];
        float (*nextB)[TILE_WIDTH] = tileB[k0 / DEPTH % STAGES];
        for (int i = thread; i < TILE_WIDTH * DEPTH && k0 < K; i += threads)
            __pipeline_memcpy_async(&nextA[i % DEPTH][i / DEPTH], &A[(row0 + i / DEPTH) * K + k0 + i % DEPTH], 4);
        for (int i = thread; i < DEPTH * TILE_WIDTH / 4 && k0 < K; i += threads) {
            const int k = i / (TILE_WIDTH / 4), col = i % (TILE_WIDTH / 4) * 4;
            __pipeline_memcpy_async(&nextB[k][col], &B[(k0 + k) * N + col0 + col], 16);
        }
        __pipeline_commit();

        const int stage = (k0 - ahead) / DEPTH % STAGES;
        for (int k = 0; k < DEPTH && k0 >= ahead; ++k) {
            float a[PER_THREAD], b[PER_THREAD];
            for (int i = 0; i < PER_THREAD; i += 4)
                *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&tileA[stage][k][y + i]);
            for (int j = 0; j < PER_THREAD; j += 4)
                *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&tileB[stage][k][x + j]);
            for (int i = 0; i < PER_THREAD; ++i)
                for (int j = 0; j < PER_THREAD; ++j)
                    sum[i][j] += a[i] * b[j];      // all in registers
        }
    }

    for (int i = 0; i < PER_THREAD; ++i)
        for (int j = 0; j < PER_THREAD; j += 4)
            *reinterpret_cast<float4*>(&C[(row0 + y + i) * N + col0 + x + j]) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
