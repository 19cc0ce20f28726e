// gemmviz = 1
// title = "Broken: no check for the end of the matrix"
// description = """
// The tiled kernel without guards: if the sizes are not multiples of the tile, threads read and write beyond the matrices.
// """
// entry = "no_guard"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["ceil_div(N, TILE_WIDTH)", "ceil_div(M, TILE_WIDTH)"]
// problem = { M = 5, N = 3, K = 7 }
// [parameters.TILE_WIDTH]
// default = 2
// choices = [2, 3, 4, 8, 12, 16, 32]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"

extern "C" __global__ void no_guard(
    const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];
    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    const int col = blockIdx.x * TILE_WIDTH + threadIdx.x;

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_WIDTH) {
        tileA[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        tileB[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
