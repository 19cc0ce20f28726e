// gemmviz = 1
// title = "Tiled, inner loop unrolled"
// description = """
// The same kernel with its inner loop unrolled: TILE_WIDTH multiply-adds in sequence, without a counter.
// """
// entry = "tiled_unrolled"
// args  = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["N / TILE_WIDTH", "M / TILE_WIDTH"]
// [parameters.TILE_WIDTH]
// default = 4
// choices = [4, 8, 12, 16, 32]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "TILE_WIDTH * TILE_WIDTH <= max_threads_per_block"
// else = "a tile {TILE_WIDTH} wide needs {TILE_WIDTH * TILE_WIDTH} threads; a block of this device holds at most {max_threads_per_block}"
// [[require]]
// that = "M % TILE_WIDTH == 0 and N % TILE_WIDTH == 0 and K % TILE_WIDTH == 0"
// else = "this kernel has no guards: M, N and K ({M}, {N}, {K}) must be multiples of TILE_WIDTH = {TILE_WIDTH}"

extern "C" __global__ void tiled_unrolled(
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

        #pragma unroll
        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
