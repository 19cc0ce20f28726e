// gemmviz = 1
// title = "Tiled: one shared-memory tile of A and one of B per phase"
// description = """
// A block computes one TILE_WIDTH x TILE_WIDTH tile of C. It iterates along K in phases. In each phase its threads load one tile
// of A and one tile of B into shared memory, one element of each per thread. Then every thread reads a row of the first tile and a
// column of the second. Each element of A and B is loaded from global memory once per block instead of once per thread: TILE_WIDTH
// times less often. Because of the guards, any M, N and K work: elements outside a matrix count as zero.
// """
// entry = "sgemm_tiled"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["ceil_div(N, TILE_WIDTH)", "ceil_div(M, TILE_WIDTH)"]
// [parameters.TILE_WIDTH]
// default = 4
// choices = [2, 4, 8, 16, 32, 64]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"

extern "C" __global__ void sgemm_tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];

    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * TILE_WIDTH + y;   // the element of C that this thread computes
    const int col = blockIdx.x * TILE_WIDTH + x;

    float sum = 0.0f;
    for (int phase = 0; phase < (K + TILE_WIDTH - 1) / TILE_WIDTH; ++phase) {
        const int k0 = phase * TILE_WIDTH;

        // Load: neighbouring threads take neighbouring elements, so a warp's loads are coalesced.
        tileA[y][x] = (row < M && k0 + x < K) ? A[row * K + k0 + x] : 0.0f;
        tileB[y][x] = (k0 + y < K && col < N) ? B[(k0 + y) * N + col] : 0.0f;
        __syncthreads();   // no thread reads a tile before all of it is loaded

        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[y][k] * tileB[k][x];
        __syncthreads();   // no thread overwrites a tile that another one still reads
    }

    if (row < M && col < N)
        C[row * N + col] = sum;
}
