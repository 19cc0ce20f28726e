// gemmviz = 1
// title = "Double buffered: the next tiles load while the block computes"
// description = """
// The warp-tiled kernel with two tiles of each matrix in shared memory. In each phase, a thread first loads its part of the next tiles
// into registers, then computes with the tiles of the phase before, and only then stores what it loaded. The latency of global memory
// passes during the computation, and one barrier for each phase is enough. The sizes must be multiples of the tile.
// """
// entry = "sgemm_double_buffered"
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
// that = "DEPTH * PER_THREAD * PER_THREAD % (4 * TILE_WIDTH) == 0"
// else = "DEPTH = {DEPTH} must be a multiple of {4 * TILE_WIDTH / (PER_THREAD * PER_THREAD)}, so that every thread loads as many elements"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0"
// else = "M and N ({M}, {N}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"
// [[require]]
// that = "K % DEPTH == 0"
// else = "K = {K} must be a multiple of DEPTH = {DEPTH}"

extern "C" __global__ void sgemm_double_buffered(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[2][DEPTH][TILE_WIDTH];  // transposed: a column of A is a row here
    __shared__ float tileB[2][DEPTH][TILE_WIDTH];

    const int across = TILE_WIDTH / PER_THREAD;    // threads of the block along x, and along y
    const int threads = across * across;
    const int thread = threadIdx.y * across + threadIdx.x;
    const int row0 = blockIdx.y * TILE_WIDTH;      // the first row and column of the block's tile of C
    const int col0 = blockIdx.x * TILE_WIDTH;
    const int lane = thread % 32, warp = thread / 32;
    const int y = (warp / (across / 4) * 8 + lane / 4) * PER_THREAD;   // the first of this thread's elements in it
    const int x = (warp % (across / 4) * 4 + lane % 4) * PER_THREAD;   // a warp is 8 rows of 4 threads

    const int loads = TILE_WIDTH * DEPTH / 4 / threads;
    float4 nextA[loads], nextB[loads];             // this thread's part of the next tiles
    float sum[PER_THREAD][PER_THREAD] = {};
    for (int k0 = 0; k0 <= K; k0 += DEPTH) {
        const int stage = k0 / DEPTH % 2;          // of the next tiles; 1 - stage: of the phase before

        // Load the next tiles into registers. Nothing waits for them yet.
        for (int load = 0; load < loads && k0 < K; ++load) {
            const int i = thread + load * threads;
            const int row = i / (DEPTH / 4), k = i % (DEPTH / 4) * 4;
            nextA[load] = *reinterpret_cast<const float4*>(&A[(row0 + row) * K + k0 + k]);
            const int line = i / (TILE_WIDTH / 4), col = i % (TILE_WIDTH / 4) * 4;
            nextB[load] = *reinterpret_cast<const float4*>(&B[(k0 + line) * N + col0 + col]);
        }

        for (int k = 0; k < DEPTH && k0 > 0; ++k) {
            float a[PER_THREAD], b[PER_THREAD];
            for (int i = 0; i < PER_THREAD; i += 4)
                *reinterpret_cast<float4*>(&a[i]) = *reinterpret_cast<const float4*>(&tileA[1 - stage][k][y + i]);
            for (int j = 0; j < PER_THREAD; j += 4)
                *reinterpret_cast<float4*>(&b[j]) = *reinterpret_cast<const float4*>(&tileB[1 - stage][k][x + j]);
            for (int i = 0; i < PER_THREAD; ++i)
                for (int j = 0; j < PER_THREAD; ++j)
                    sum[i][j] += a[i] * b[j];      // all in registers
        }

        // Store the next tiles.
        for (int load = 0; load < loads && k0 < K; ++load) {
            const int i = thread + load * threads;
            const int row = i / (DEPTH / 4), k = i % (DEPTH / 4) * 4;
            tileA[stage][k][row] = nextA[load].x;
            tileA[stage][k + 1][row] = nextA[load].y;
            tileA[stage][k + 2][row] = nextA[load].z;
            tileA[stage][k + 3][row] = nextA[load].w;
            *reinterpret_cast<float4*>(&tileB[stage][i / (TILE_WIDTH / 4)][i % (TILE_WIDTH / 4) * 4]) = nextB[load];
        }
        __syncthreads();   // the only one: no thread writes the tiles that others read
    }

    for (int i = 0; i < PER_THREAD; ++i)
        for (int j = 0; j < PER_THREAD; j += 4)
            *reinterpret_cast<float4*>(&C[(row0 + y + i) * N + col0 + x + j]) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
