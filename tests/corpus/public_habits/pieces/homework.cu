//// mul_const_n  problem: square_const  block: 16, 16  grid: DIV($N, 16), DIV($N, 16)  fits: 16=16  args: $A, $B, $C  macro: N
__global__ void mul_const_n(int *a, int *b, int *c)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    int k, s = 0;
    for (k = 0; k < N; k++)
        s = s + a[y * N + k] * b[k * N + x];
    c[y * N + x] = s;
}
//// one_block_mm  problem: square_const  sizes: 16, 32, 10, 20  block: $N, $N  grid: 1  args: $A, $B, $C  macro: N
__global__ void one_block_mm(float *da, float *db, float *dc)
{
    int i = threadIdx.y, j = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k++) {
        sum += da[i*N+k] * db[k*N+j];
    }
    dc[i*N+j] = sum;
}
//// block_per_element  problem: square_const  sizes: 64, 100, 33  block: 1  grid: $N, $N  args: $A, $B, $C  macro: N
__global__ void block_per_element(int *a, int *b, int *c)
{
    int row = blockIdx.y;
    int col = blockIdx.x;
    int t = 0;
    for (int k = 0; k < N; k++) t += a[row * N + k] * b[k * N + col];
    c[row * N + col] = t;
}
//// row_block_col_thread  problem: square  sizes: 64, 128, 200, 512  block: $N  grid: $N  args: $A, $B, $C, $N
__global__ void row_block_col_thread(float *A, float *B, float *C, int n)
{
    int i = blockIdx.x;
    int j = threadIdx.x;
    C[i * n + j] = 0;
    for (int k = 0; k < n; k++)
        C[i * n + j] += A[i * n + k] * B[k * n + j];
}
//// thread_rows_stride  problem: square  block: 32, 32  grid: 4, 4  args: $A, $B, $C, $N
__global__ void thread_rows_stride(const float* A, const float* B, float* C, int n)
{
    int sx = blockDim.x * gridDim.x, sy = blockDim.y * gridDim.y;
    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < n; i += sy)
        for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += sx) {
            float s = 0;
            for (int k = 0; k < n; k++) s += A[i * n + k] * B[k * n + j];
            C[i * n + j] = s;
        }
}
//// array_param_mm  problem: square_const  fits: 16=16  block: TILE, TILE  grid: DIV(N, TILE), DIV(N, TILE)  args: (float (*)[N])$A, (float (*)[N])$B, (float (*)[N])$C  macro: N
#define TILE 16
__global__ void array_param_mm(float (*A)[N], float (*B)[N], float (*C)[N])
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int i = blockIdx.y * TILE + threadIdx.y;
    int j = blockIdx.x * TILE + threadIdx.x;
    float c = 0.0;
    for (int m = 0; m < N / TILE; m++) {
        a[threadIdx.y][threadIdx.x] = A[i][m * TILE + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = B[m * TILE + threadIdx.y][j];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            c += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    C[i][j] = c;
}
//// rect_macros  problem: gemm_macro  block: BX, BY  grid: CEIL(COLS_B, BX), CEIL(ROWS_A, BY)  args: $C, $B, $A  macro: ROWS_A COLS_B COLS_A
#define BX 8
#define BY 4
__global__ void rect_macros(long *C, const long *B, const long *A)
{
    const int i = blockIdx.y * BY + threadIdx.y;
    const int j = blockIdx.x * BX + threadIdx.x;
    if (i >= ROWS_A) return;
    if (j >= COLS_B) return;
    long z = 0;
    for (int t = COLS_A - 1; t >= 0; t--)
        z += A[i * COLS_A + t] * B[t * COLS_B + j];
    C[i * COLS_B + j] = z;
}
//// shared_row  problem: square  sizes: 64, 128, 256  block: $N  grid: $N  args: $A, $B, $C, $N  shared: $N * sizeof(float)
__global__ void shared_row(const float *A, const float *B, float *C, int n)
{
    extern __shared__ float row[];
    int i = blockIdx.x, j = threadIdx.x;
    row[j] = A[i * n + j];
    __syncthreads();
    float s = 0.0f;
    for (int k = 0; k < n; k++) s += row[k] * B[k * n + j];
    C[i * n + j] = s;
}
//// add_matrices  problem: matadd  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N
__global__ void add_matrices(int *a, int *b, int *c, int rows, int cols)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows && j < cols) c[i * cols + j] = a[i * cols + j] + b[i * cols + j];
}
//// add_stride  problem: vecadd  block: 128  grid: 16  args: $A, $B, $C, $n
__global__ void add_stride(int *a, int *b, int *c, int n)
{
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    while (tid < n) {
        c[tid] = a[tid] + b[tid];
        tid += blockDim.x * gridDim.x;
    }
}
//// dot_cache  problem: dot  block: threadsPerBlock  grid: 32  args: $n, $X, $Y, $S
const int threadsPerBlock = 256;
__global__ void dot_cache(int n, const float *a, const float *b, float *c)
{
    __shared__ float cache[threadsPerBlock];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
    while (tid < n) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0) atomicAdd(c, cache[0]);
}
