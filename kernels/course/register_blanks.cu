// gemmviz = 1
// title = "Register tiles, with blanks to fill in"
// description = """
// The register-tiled kernel as a worksheet: a thread computes PER_THREAD x PER_THREAD elements of C. The sizes must be multiples of
// the tile.
// """
// entry = "register_worksheet"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH / PER_THREAD", "TILE_WIDTH / PER_THREAD"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// problem = { M = 16, N = 16, K = 16 }
// [parameters.TILE_WIDTH]
// default = 8
// choices = [8, 16, 32]
// description = "rows and columns of C that a block computes, and columns of a tile of A"
// [parameters.PER_THREAD]
// default = 2
// choices = [2, 4, 8]
// description = "rows and columns of C that a thread computes"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0 and K % TILE_WIDTH == 0"
// else = "M, N and K ({M}, {N}, {K}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"

extern "C" __global__ void register_worksheet(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];

    // This thread's elements begin at row y and column x of the tile of C
    const int row0 = blockIdx.y * TILE_WIDTH;
    const int col0 = blockIdx.x * TILE_WIDTH;
    const int y = /*?*/;
    const int x = threadIdx.x * PER_THREAD;

    float sum[PER_THREAD][PER_THREAD] = {};
    for (int k0 = 0; k0 < K; k0 += TILE_WIDTH) {
        // Load: each thread copies as many elements as it computes
        for (int i = 0; i < PER_THREAD; ++i)
            for (int j = 0; j < PER_THREAD; ++j) {
                tileA[y + i][x + j] = A[(row0 + y + i) * K + k0 + x + j];
                tileB[y + i][x + j] = B[(k0 + y + i) * N + col0 + x + j];
            }
        __syncthreads();

        for (int k = 0; k < TILE_WIDTH; ++k) {
            // Read a column of A and a row of B into registers, once for this k
            float a[PER_THREAD], b[PER_THREAD];
            for (int i = 0; i < PER_THREAD; ++i)
                a[i] = /*?*/;
            for (int j = 0; j < PER_THREAD; ++j)
                b[j] = /*?*/;

            // Multiply each with each, from registers alone
            for (int i = 0; i < PER_THREAD; ++i)
                for (int j = 0; j < PER_THREAD; ++j)
                    sum[i][j] += /*?*/;
        }
        /*?*/
    }

    for (int i = 0; i < PER_THREAD; ++i)
        for (int j = 0; j < PER_THREAD; ++j)
            C[/*?*/] = sum[i][j];
}
