// gemmviz = 1
// title = "Measured on an H200: tiled_transposed_a"
// entry = "tiled_transposed_a"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// [parameters.TILE_WIDTH]
// default = 32
// [parameters.PAD]
// default = 0

// As tiled, but the tile of A is kept transposed: its stores fall into one bank unless PAD widens the row.
// M, N, K must be multiples of TILE_WIDTH.
extern "C" __global__ void tiled_transposed_a(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH + PAD];
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * TILE_WIDTH + y;
    int j = blockIdx.x * TILE_WIDTH + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_WIDTH) {
        tileA[x][y] = A[i * K + k0 + x];
        tileB[y][x] = B[(k0 + y) * N + j];
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[k][y] * tileB[k][x];
        __syncthreads();
    }
    C[i * N + j] = sum;
}
