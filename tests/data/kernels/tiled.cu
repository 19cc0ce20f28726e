// gemmviz = 1
// title = "Measured on an H200: tiled"
// entry = "tiled"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid = ["ceil_div(N, TILE_WIDTH)", "ceil_div(M, TILE_WIDTH)"]
// [parameters.TILE_WIDTH]
// default = 16

// Each block walks along K in tiles that it keeps in shared memory; edges are padded with zeros.
extern "C" __global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tileA[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileB[TILE_WIDTH][TILE_WIDTH];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * TILE_WIDTH + y;
    int j = blockIdx.x * TILE_WIDTH + x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_WIDTH) {
        tileA[y][x] = (i < M && k0 + x < K) ? A[i * K + k0 + x] : 0.0f;
        tileB[y][x] = (k0 + y < K && j < N) ? B[(k0 + y) * N + j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; ++k)
            sum += tileA[y][k] * tileB[k][x];
        __syncthreads();
    }
    if (i < M && j < N)
        C[i * N + j] = sum;
}
