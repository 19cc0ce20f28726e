// gemmviz = 1
// title = "Warp tiled: every warp computes a nearly square part of C"
// description = """
// The vectorised kernel with other elements for each thread. In a large block, the threads of a warp were one or two long rows, which
// read a whole row of the tile of B for each k. Here they are 8 rows of 4 threads: the part of C that a warp computes is nearly square,
// so it reads fewer elements of the two tiles, and each serves more of its threads. The sizes must be multiples of the tile.
// """
// entry = "sgemm_warp_tiled"
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
// default = 4
// choices = [4, 8]
// description = "columns of the tile of A, rows of the tile of B"
// [problem]
// M = 32
// N = 32
// K = 8
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

extern "C" __global__ void sgemm_warp_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[DEPTH][TILE_WIDTH];     // transposed: a column of A is a row here
    __shared__ float tileB[DEPTH][TILE_WIDTH];

    const int across = TILE_WIDTH / PER_THREAD;    // threads of the block along x, and along y
    const int threads = across * across;
    const int thread = threadIdx.y * across + threadIdx.x;
    const int row0 = blockIdx.y * TILE_WIDTH;      // the first row and column of the block's tile of C
    const int col0 = blockIdx.x * TILE_WIDTH;
    const int lane = thread % 32, warp = thread / 32;
    const int y = (warp / (across / 4) * 8 + lane / 4) * PER_THREAD;   // the first of this thread's elements in it
    const int x = (warp % (across / 4) * 4 + lane % 4) * PER_THREAD;   // a warp is 8 rows of 4 threads

    float sum[PER_THREAD][PER_THREAD] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        // Load: the threads take four neighbouring elements at a time, in turn.
        for (int i = thread; i < TILE_WIDTH * DEPTH / 4; i += threads) {
            const int row = i / (DEPTH / 4), k = i % (DEPTH / 4) * 4;
            const float4 a = *reinterpret_cast<const float4*>(&A[(row0 + row) * K + k0 + k]);
            tileA[k][row] = a.x;
            tileA[k + 1][row] = a.y;
            tileA[k + 2][row] = a.z;
            tileA[k + 3][row] = a.w;
        }
        for (int i = thread; i < DEPTH * TILE_WIDTH / 4; i += threads) {
            const int k = i / (TILE_WIDTH / 4), col = i % (TILE_WIDTH / 4) * 4;
            const float4 b = *reinterpret_cast<const float4*>(&B[(k0 + k) * N + col0 + col]);
            *reinterpret_cast<float4*>(&tileB[k][col]) = b;
        }
        __syncthreads();

        for (int k = 0; k < DEPTH; ++k) {
            float a[PER_THREAD], b[PER_THREAD];
            for (int i = 0; i < PER_THREAD; i += 4)
                *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&tileA[k][y + i]);
            for (int j = 0; j < PER_THREAD; j += 4)
                *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&tileB[k][x + j]);
            for (int i = 0; i < PER_THREAD; ++i)
                for (int j = 0; j < PER_THREAD; ++j)
                    sum[i][j] += a[i] * b[j];      // all in registers
        }
        __syncthreads();
    }

    for (int i = 0; i < PER_THREAD; ++i)
        for (int j = 0; j < PER_THREAD; j += 4)
            *reinterpret_cast<float4*>(&C[(row0 + y + i) * N + col0 + x + j]) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
