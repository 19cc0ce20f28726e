// gemmviz = 1
// title = "A declaration for each memory"
// description = """
// The tiled kernel with a variable in each memory: registers, an array of the thread's own, shared, constant and global memory. Each
// thread keeps the products of a phase in its own array before it adds them.
// """
// entry = "qualifiers"
// args  = ["A", "B", "C", "N"]
// block = ["TILE_WIDTH", "TILE_WIDTH"]
// grid  = ["N / TILE_WIDTH", "N / TILE_WIDTH"]
// problem = { M = 4, N = 4, K = 4 }
// [parameters.TILE_WIDTH]
// default = 2
// choices = [2, 4, 8, 16]
// description = "rows and columns of a tile, and of the block"
// [[require]]
// that = "M == N and N == K"
// else = "this kernel multiplies only square matrices: M, N and K ({M}, {N}, {K}) must be the same"
// [[require]]
// that = "N % TILE_WIDTH == 0"
// else = "this kernel has no guards: N ({N}) must be a multiple of TILE_WIDTH = {TILE_WIDTH}"

__constant__ float Scale = 1.0f;
__device__ float Offset = 0.0f;

extern "C" __global__ void qualifiers(
    const float* Md, const float* Nd, float* Pd, int Width)
{
    __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
    float Products[TILE_WIDTH];
    int Row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    int Col = blockIdx.x * TILE_WIDTH + threadIdx.x;

    float Pvalue = 0.0f;
    for (int m = 0; m < Width / TILE_WIDTH; ++m) {
        Mds[threadIdx.y][threadIdx.x] = Md[Row * Width + m * TILE_WIDTH + threadIdx.x];
        Nds[threadIdx.y][threadIdx.x] = Nd[(m * TILE_WIDTH + threadIdx.y) * Width + Col];
        __syncthreads();

        for (int k = 0; k < TILE_WIDTH; ++k)
            Products[k] = Mds[threadIdx.y][k] * Nds[k][threadIdx.x];
        for (int k = 0; k < TILE_WIDTH; ++k)
            Pvalue += Products[k];
        __syncthreads();
    }
    Pd[Row * Width + Col] = Scale * Pvalue + Offset;
}
