//// matmul_naive  problem: gemm  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N, $K
// Each thread computes one element of C
__global__ void matmul_naive(float *A, float *B, float *C, int M, int N, int K) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < M && col < N) {
        float sum = 0.0f;
        for (int i = 0; i < K; i++) {
            sum += A[row * K + i] * B[i * N + col];
        }
        C[row * N + col] = sum;
    }
}
//// mat_mult_square  problem: square  block: 32, 32  grid: CEIL($N, 32), CEIL($N, 32)  args: $A, $B, $C, $N
__global__ void mat_mult_square(const int *a, const int *b, int *c, int n) {
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n || q >= n) return;
    int tmp = 0;
    for (int k = 0; k < n; ++k)
        tmp += a[r * n + k] * b[k * n + q];
    c[r * n + q] = tmp;
}
//// gpu_matrix_mult  problem: gemm  block: BLOCK_SIZE, BLOCK_SIZE  grid: CEIL($N, BLOCK_SIZE), CEIL($M, BLOCK_SIZE)  args: $A, $B, $C, $M, $K, $N
#define BLOCK_SIZE 16

/* a is m x n, b is n x k, c is m x k */
__global__ void gpu_matrix_mult(int *a, int *b, int *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    if( col < k && row < m)
    {
        for(int i = 0; i < n; i++)
        {
            sum += a[row * n + i] * b[i * k + col];
        }
        c[row * k + col] = sum;
    }
}
//// gpu_square_tiles  problem: square  block: BLOCK_SIZE, BLOCK_SIZE  grid: CEIL($N, BLOCK_SIZE), CEIL($N, BLOCK_SIZE)  args: $A, $B, $C, $N
#define BLOCK_SIZE 16

__global__ void gpu_square_tiles(int *d_a, int *d_b, int *d_result, int n)
{
    __shared__ int tile_a[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ int tile_b[BLOCK_SIZE][BLOCK_SIZE];

    int row = blockIdx.y * BLOCK_SIZE + threadIdx.y;
    int col = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    int tmp = 0;
    int idx;

    for (int sub = 0; sub < (n + BLOCK_SIZE - 1) / BLOCK_SIZE; ++sub)
    {
        idx = row * n + sub * BLOCK_SIZE + threadIdx.x;
        if (row < n && sub * BLOCK_SIZE + threadIdx.x < n)
            tile_a[threadIdx.y][threadIdx.x] = d_a[idx];
        else
            tile_a[threadIdx.y][threadIdx.x] = 0;

        idx = (sub * BLOCK_SIZE + threadIdx.y) * n + col;
        if (col < n && sub * BLOCK_SIZE + threadIdx.y < n)
            tile_b[threadIdx.y][threadIdx.x] = d_b[idx];
        else
            tile_b[threadIdx.y][threadIdx.x] = 0;
        __syncthreads();

        for (int k = 0; k < BLOCK_SIZE; ++k)
        {
            tmp += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < n && col < n)
    {
        d_result[row * n + col] = tmp;
    }
}
//// vecAddKernel  problem: vecadd  block: 256  grid: CEIL($n, 256)  args: $A, $B, $C, $n
__global__ void vecAddKernel(float *a, float *b, float *c, int n)
{
    // Get our global thread ID
    int id = blockIdx.x*blockDim.x+threadIdx.x;

    // Make sure we do not go out of bounds
    if (id < n)
        c[id] = a[id] + b[id];
}
//// matrixTransposeNaive  problem: transpose  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $X, $Y, $M, $N
__global__ void matrixTransposeNaive(const float *in, float *out, int rows, int cols)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < cols && y < rows)
        out[x * rows + y] = in[y * cols + x];
}
//// linear_id_mm  problem: gemm  block: THREADS  grid: CEIL($M * $N, THREADS)  args: $A, $B, $C, $M, $N, $K
#define THREADS 128

__global__ void linear_id_mm(double *A, double *B, double *C, int rowsA, int colsB, int colsA) {
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < rowsA * colsB) {
        int i = tid / colsB;
        int j = tid % colsB;
        double dot = 0;
        for (int l = 0; l < colsA; l++) dot += A[i * colsA + l] * B[l * colsB + j];
        C[tid] = dot;
    }
}
//// one_row_per_thread  problem: gemm  block: 64  grid: CEIL($M, 64)  args: $A, $B, $C, $M, $N, $K
__global__ void one_row_per_thread(float *M_d, float *N_d, float *P_d, int h, int w, int inner)
{
    int row = threadIdx.x + blockDim.x * blockIdx.x;
    if (row < h)
    {
        for (int col = 0; col < w; ++col)
        {
            float pvalue = 0;
            for (int k = 0; k < inner; ++k)
                pvalue += M_d[row * inner + k] * N_d[k * w + col];
            P_d[row * w + col] = pvalue;
        }
    }
}
//// one_col_per_thread  problem: gemm  block: 128  grid: CEIL($N, 128)  args: $A, $B, $C, $M, $N, $K
__global__ void one_col_per_thread(const float *A, const float *B, float *C, int nRows, int nCols, int nInner)
{
    int c = blockDim.x * blockIdx.x + threadIdx.x;
    if (c >= nCols) return;
    for (int r = 0; r < nRows; r++) {
        C[r * nCols + c] = 0.0f;
        for (int k = 0; k < nInner; k++)
            C[r * nCols + c] += A[r * nInner + k] * B[k * nCols + c];
    }
}
