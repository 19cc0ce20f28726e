// gemmviz = 1
// title = "Two buffers, with blanks to fill in"
// description = """
// The tiled kernel with two tiles of each matrix, as a worksheet: while the block multiplies one pair of tiles, each thread loads its
// elements of the next pair. The sizes must be multiples of the tile.
// """
// entry = "two_buffers_worksheet"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// problem = { M = 8, N = 8, K = 16 }
// [parameters.TILE_WIDTH]
// default = 4
// choices = [2, 4, 8, 16]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0 and K % TILE_WIDTH == 0"
// else = "M, N and K ({M}, {N}, {K}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"

extern "C" __global__ void two_buffers_worksheet(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[2][TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileB[2][TILE_WIDTH][TILE_WIDTH];

    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    const int col = blockIdx.x * TILE_WIDTH + threadIdx.x;

    // This thread's elements of the first pair of tiles
    float nextA = A[row * K + threadIdx.x];
    float nextB = B[threadIdx.y * N + col];

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_WIDTH) {
        // The stages take turns: 0, 1, 0, 1, ...
        const int stage = /*?*/;
        tileA[stage][threadIdx.y][threadIdx.x] = nextA;
        tileB[stage][threadIdx.y][threadIdx.x] = nextB;
        /*?*/

        // Load the next pair: nothing waits for it yet
        if (/*?*/) {
            nextA = A[row * K + /*?*/];
            nextB = B[(k0 + TILE_WIDTH + threadIdx.y) * N + col];
        }

        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[stage][threadIdx.y][k] * /*?*/;
        /*?*/
    }

    C[row * N + col] = sum;
}
