// gemmviz = 1
// title = "Register tiled: every thread computes several elements of C"
// description = """
// A block still iterates along K with one tile of A and one of B in shared memory, but each thread now keeps PER_THREAD x PER_THREAD
// elements of C in registers. For each k it reads PER_THREAD elements of a column of the first tile and PER_THREAD elements of a row of
// the second, and computes their outer product: PER_THREAD * PER_THREAD multiplications for 2 * PER_THREAD reads, instead of one for
// two. Shared memory is then no longer the bottleneck. The sizes must be multiples of the tile.
// """
// entry = "sgemm_register_tiled"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH / PER_THREAD", "TILE_WIDTH / PER_THREAD"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// [parameters.TILE_WIDTH]
// default = 8
// choices = [8, 32, 64, 128]
// description = "rows and columns of C that a block computes"
// [parameters.PER_THREAD]
// default = 2
// choices = [2, 4, 8]
// description = "rows and columns of C that a thread computes"
// [parameters.DEPTH]
// default = 4
// choices = [4, 8]
// description = "columns of the tile of A, rows of the tile of B"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block * PER_THREAD * PER_THREAD"
// else = "such a block has {TILE_WIDTH / PER_THREAD * (TILE_WIDTH / PER_THREAD)} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M % TILE_WIDTH == 0"
// else = "M and N must be multiples of TILE_WIDTH = {TILE_WIDTH}"
// [[require]]
// that = "N % TILE_WIDTH == 0"
// else = "M and N must be multiples of TILE_WIDTH = {TILE_WIDTH}"
// [[require]]
// that = "K % DEPTH == 0"
// else = "K must be a multiple of DEPTH = {DEPTH}"

extern "C" __global__ void sgemm_register_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][DEPTH];
    __shared__ float tileB[DEPTH][TILE_WIDTH];

    const int across = TILE_WIDTH / PER_THREAD;    // threads of the block along x, and along y
    const int threads = across * across;
    const int thread = threadIdx.y * across + threadIdx.x;
    const int row0 = blockIdx.y * TILE_WIDTH;      // the first row and column of the block's tile of C
    const int col0 = blockIdx.x * TILE_WIDTH;
    const int y = threadIdx.y * PER_THREAD;        // the first of this thread's elements in it
    const int x = threadIdx.x * PER_THREAD;

    float sum[PER_THREAD][PER_THREAD] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        // Load: the threads take the elements of each tile in turn.
        for (int i = thread; i < TILE_WIDTH * DEPTH; i += threads)
            tileA[i / DEPTH][i % DEPTH] = A[(row0 + i / DEPTH) * K + k0 + i % DEPTH];
        for (int i = thread; i < DEPTH * TILE_WIDTH; i += threads)
            tileB[i / TILE_WIDTH][i % TILE_WIDTH] = B[(k0 + i / TILE_WIDTH) * N + col0 + i % TILE_WIDTH];
        __syncthreads();

        for (int k = 0; k < DEPTH; ++k) {
            float a[PER_THREAD], b[PER_THREAD];
            for (int i = 0; i < PER_THREAD; ++i)
                a[i] = tileA[y + i][k];
            for (int j = 0; j < PER_THREAD; ++j)
                b[j] = tileB[k][x + j];
            for (int i = 0; i < PER_THREAD; ++i)
                for (int j = 0; j < PER_THREAD; ++j)
                    sum[i][j] += a[i] * b[j];      // all in registers
        }
        __syncthreads();
    }

    for (int i = 0; i < PER_THREAD; ++i)
        for (int j = 0; j < PER_THREAD; ++j)
            C[(row0 + y + i) * N + col0 + x + j] = sum[i][j];
}
