//// double_buffered  problem: gemm  fits: 16=16  block: 16, 16  grid: DIV($N, 16), DIV($M, 16)  args: $A, $B, $C, $M, $N, $K
__global__ void double_buffered(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[2][16][16];
  __shared__ float Bs[2][16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
  int write = 0;
  As[write][ty][tx] = A[row * K + tx];
  Bs[write][ty][tx] = B[ty * N + col];
  __syncthreads();
  float acc = 0.f;
  for (int k0 = 16; k0 < K; k0 += 16) {
    int read = write;
    write ^= 1;
    As[write][ty][tx] = A[row * K + k0 + tx];
    Bs[write][ty][tx] = B[(k0 + ty) * N + col];
#pragma unroll
    for (int k = 0; k < 16; k++) acc += As[read][ty][k] * Bs[read][k][tx];
    __syncthreads();
  }
#pragma unroll
  for (int k = 0; k < 16; k++) acc += As[write][ty][k] * Bs[write][k][tx];
  C[row * N + col] = acc;
}
//// prefetch_registers  problem: square  fits: 32=32  block: 32, 32  grid: DIV($N, 32), DIV($N, 32)  args: $A, $B, $C, $N
#define T 32
__global__ void prefetch_registers(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[T][T];
    __shared__ float b[T][T];
    const int r = blockIdx.y * T + threadIdx.y;
    const int c = blockIdx.x * T + threadIdx.x;
    float ra = A[r * n + threadIdx.x];
    float rb = B[threadIdx.y * n + c];
    float s = 0;
    for (int t = 0; t < n / T; t++) {
        a[threadIdx.y][threadIdx.x] = ra;
        b[threadIdx.y][threadIdx.x] = rb;
        __syncthreads();
        if (t + 1 < n / T) {
            ra = A[r * n + (t + 1) * T + threadIdx.x];
            rb = B[((t + 1) * T + threadIdx.y) * n + c];
        }
        for (int k = 0; k < T; k++)
            s += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    C[r * n + c] = s;
}
#undef T
//// more_work_per_thread  problem: gemm_col  fits: 32=32  block: TS, TS / WPT  grid: DIV($M, TS), DIV($N, TS)  args: $M, $N, $K, $A, $B, $C
#define TS 32                        // The square-root of the 2D tile-size
#define WPT 8                        // The amount of work-per-thread
#define RTS (TS/WPT)                 // The reduced tile-size

__global__ void more_work_per_thread(const int M, const int N, const int K,
                                     const float* A, const float* B, float* C) {
    const int row = threadIdx.x;                     // Local row ID (max: TS)
    const int col = threadIdx.y;                     // Local col ID (max: TS/WPT == RTS)
    const int globalRow = TS*blockIdx.x + row;
    const int globalCol = TS*blockIdx.y + col;
    __shared__ float Asub[TS][TS];
    __shared__ float Bsub[TS][TS];

    float acc[WPT];
    for (int w=0; w<WPT; w++) {
        acc[w] = 0.0f;
    }
    const int numTiles = K/TS;
    for (int t=0; t<numTiles; t++) {
        for (int w=0; w<WPT; w++) {
            const int tiledRow = TS*t + row;
            const int tiledCol = TS*t + col;
            Asub[col + w*RTS][row] = A[(tiledCol + w*RTS)*M + globalRow];
            Bsub[col + w*RTS][row] = B[(globalCol + w*RTS)*K + tiledRow];
        }
        __syncthreads();
        for (int k=0; k<TS; k++) {
            for (int w=0; w<WPT; w++) {
                acc[w] += Asub[k][row] * Bsub[col + w*RTS][k];
            }
        }
        __syncthreads();
    }
    for (int w=0; w<WPT; w++) {
        C[(globalCol + w*RTS)*M + globalRow] = acc[w];
    }
}
//// two_by_two  problem: gemm  fits: 32=32  block: 16, 16  grid: DIV($N, 32), DIV($M, 32)  args: $A, $B, $C, $M, $N, $K
__global__ void two_by_two(float *a, float *b, float *c, int M, int N, int K)
{
    __shared__ float sa[32 * 16];
    __shared__ float sb[16 * 32];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 32, col = blockIdx.x * 32;
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    for (int t = 0; t < K; t += 16) {
        sa[y * 16 + x]        = a[(row + y) * K + t + x];
        sa[(y + 16) * 16 + x] = a[(row + y + 16) * K + t + x];
        sb[y * 32 + x]        = b[(t + y) * N + col + x];
        sb[y * 32 + x + 16]   = b[(t + y) * N + col + x + 16];
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            float a0 = sa[y * 16 + k], a1 = sa[(y + 16) * 16 + k];
            float b0 = sb[k * 32 + x], b1 = sb[k * 32 + x + 16];
            c00 += a0 * b0; c01 += a0 * b1;
            c10 += a1 * b0; c11 += a1 * b1;
        }
        __syncthreads();
    }
    c[(row + y) * N + col + x] = c00;
    c[(row + y) * N + col + x + 16] = c01;
    c[(row + y + 16) * N + col + x] = c10;
    c[(row + y + 16) * N + col + x + 16] = c11;
}
//// float4_tile  problem: gemm  fits: 64=64  block: 16, 16  grid: DIV($N, 64), DIV($M, 64)  args: $A, $B, $C, $M, $N, $K
#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4*>(&(pointer))[0])
#define OFFSET(row, col, ld) ((row) * (ld) + (col))

__global__ void float4_tile(float * __restrict__ A, float * __restrict__ B, float * __restrict__ C,
    const int M, const int N, const int K) {
    const int BM = 64, BN = 64, BK = 16;
    __shared__ float As[16][64];
    __shared__ float Bs[16][64];
    float accum[4][4] = {0};
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int A_ROW = tid / 4, A_COL = tid % 4 * 4;
    const int B_ROW = tid / 16, B_COL = tid % 16 * 4;
    const int by = blockIdx.y, bx = blockIdx.x;
    #pragma unroll
    for (int tile = 0; tile < K; tile += BK) {
        float4 ldg = FETCH_FLOAT4(A[OFFSET(BM * by + A_ROW, A_COL + tile, K)]);
        As[A_COL][A_ROW] = ldg.x;
        As[A_COL + 1][A_ROW] = ldg.y;
        As[A_COL + 2][A_ROW] = ldg.z;
        As[A_COL + 3][A_ROW] = ldg.w;
        FETCH_FLOAT4(Bs[B_ROW][B_COL]) = FETCH_FLOAT4(B[OFFSET(tile + B_ROW, B_COL + BN * bx, N)]);
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; k++) {
            float4 fa = FETCH_FLOAT4(As[k][threadIdx.y * 4]);
            float4 fb = FETCH_FLOAT4(Bs[k][threadIdx.x * 4]);
            float ra[4] = {fa.x, fa.y, fa.z, fa.w};
            float rb[4] = {fb.x, fb.y, fb.z, fb.w};
            #pragma unroll
            for (int i = 0; i < 4; ++i)
                #pragma unroll
                for (int j = 0; j < 4; ++j)
                    accum[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
        float4 v = make_float4(accum[i][0], accum[i][1], accum[i][2], accum[i][3]);
        FETCH_FLOAT4(C[OFFSET(BM * by + threadIdx.y * 4 + i, BN * bx + threadIdx.x * 4, N)]) = v;
    }
}
//// warp_per_element  problem: gemm  block: 32, 4  grid: $N, CEIL($M, 4)  args: $A, $B, $C, $M, $N, $K
__inline__ __device__ float warpReduceSum(float val) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    val += __shfl_down_sync(0xffffffff, val, offset);
  return val;
}

__global__ void warp_per_element(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x;
  if (row < M) {
    float sum = 0;
    for (int k = threadIdx.x; k < K; k += warpSize) sum += A[row * K + k] * B[k * N + col];
    sum = warpReduceSum(sum);
    if (threadIdx.x == 0) C[row * N + col] = sum;
  }
}
//// outer_product_stripes  problem: gemm  fits: 64=64  block: 64  grid: DIV($N, 64), DIV($M, 16)  args: $A, $B, $C, $M, $N, $K
// every thread keeps a column of 16 results, A goes through shared memory
__global__ void outer_product_stripes(const float *A, const float *B, float *C, int hA, int wB, int wA)
{
    __shared__ float as[16][16];
    float cv[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const float *bp = B + blockIdx.x * 64 + threadIdx.x;
    for (int a = 0; a < wA; a += 16) {
        for (int i = 0; i < 4; i++) {
            int id = i * 64 + threadIdx.x;
            as[id % 16][id / 16] = A[(blockIdx.y * 16 + id / 16) * wA + a + id % 16];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            float bv = bp[0];
            bp += wB;
            for (int i = 0; i < 16; i++) cv[i] += as[k][i] * bv;
        }
        __syncthreads();
    }
    float *cp = C + blockIdx.y * 16 * wB + blockIdx.x * 64 + threadIdx.x;
    for (int i = 0; i < 16; i++, cp += wB) *cp = cv[i];
}
//// rect_tile  problem: gemm  block: 32, 8  grid: CEIL($N, 32), CEIL($M, 32)  args: $A, $B, $C, $M, $N, $K
__global__ void rect_tile(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K)
{
    __shared__ float sA[32][32 + 1];
    __shared__ float sB[32][32 + 1];
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum[4] = {0.f, 0.f, 0.f, 0.f};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int i = 0; i < 32; i += 8) {
            int row = blockIdx.y * 32 + threadIdx.y + i;
            int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y + i;
            sA[threadIdx.y + i][threadIdx.x] = (row < M && ka < K) ? __ldg(&A[row * K + ka]) : 0.f;
            sB[threadIdx.y + i][threadIdx.x] = (kb < K && col < N) ? __ldg(&B[kb * N + col]) : 0.f;
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float b = sB[k][threadIdx.x];
            for (int j = 0; j < 4; ++j) sum[j] += sA[threadIdx.y + 8 * j][k] * b;
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) {
        int row = blockIdx.y * 32 + threadIdx.y + 8 * j;
        if (row < M && col < N) C[row * N + col] = sum[j];
    }
}
//// swizzled_blocks  problem: gemm  fits: 32=32  block: 256  grid: DIV($M, 32) * DIV($N, 32)  args: $A, $B, $C, $M, $N, $K
__global__ void swizzled_blocks(const float* A, const float* B, float* C, int M, int N, int K) {
  const int GROUP_M = 2;
  const int num_m = M / 32, num_n = N / 32;
  const int pid = blockIdx.x;
  const int width = GROUP_M * num_n;
  const int group = pid / width;
  const int group_size = min(num_m - group * GROUP_M, GROUP_M);
  const int pid_m = group * GROUP_M + (pid % group_size);
  const int pid_n = (pid % width) / group_size;

  __shared__ float sa[32][32];
  __shared__ float sb[32][32];
  const int c = threadIdx.x % 32, r = threadIdx.x / 32;
  float acc[4] = {0.f};
  for (int k = 0; k < K; k += 32) {
    for (int i = r; i < 32; i += 8) {
      sa[i][c] = A[(pid_m * 32 + i) * K + k + c];
      sb[i][c] = B[(k + i) * N + pid_n * 32 + c];
    }
    __syncthreads();
    for (int kk = 0; kk < 32; ++kk)
      for (int i = 0; i < 4; ++i) acc[i] += sa[r + i * 8][kk] * sb[kk][c];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) C[(pid_m * 32 + r + i * 8) * N + pid_n * 32 + c] = acc[i];
}
//// persistent_tiles  problem: gemm  block: 16, 16  grid: 8  args: $A, $B, $C, $M, $N, $K
__global__ void persistent_tiles(const float* A, const float* B, float* C, int M, int N, int K) {
  int tiles_n = (N + 15) / 16, tiles = tiles_n * ((M + 15) / 16);
  __shared__ float a[16][17], b[16][17];
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int row = tile / tiles_n * 16 + threadIdx.y, col = tile % tiles_n * 16 + threadIdx.x;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 16) {
      int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
      a[threadIdx.y][threadIdx.x] = row < M && ka < K ? A[(size_t)row * K + ka] : 0.f;
      b[threadIdx.y][threadIdx.x] = col < N && kb < K ? B[(size_t)kb * N + col] : 0.f;
      __syncthreads();
      for (int k = 0; k < 16; ++k) acc += a[threadIdx.y][k] * b[k][threadIdx.x];
      __syncthreads();
    }
    if (row < M && col < N) C[(size_t)row * N + col] = acc;
  }
}
//// dynamic_tiles  problem: gemm  fits: 16=16  block: 16, 16  grid: DIV($N, 16), DIV($M, 16)  args: $A, $B, $C, $M, $N, $K, 16  shared: 2 * 16 * 16 * sizeof(float)
__global__ void dynamic_tiles(const float* A, const float* B, float* C, int M, int N, int K, int tile)
{
    extern __shared__ float smem[];
    float* tA = smem;
    float* tB = &smem[tile * tile];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * tile + ty;
    int col = blockIdx.x * tile + tx;
    float value = 0;
    for (int t = 0; t < K / tile; ++t) {
        tA[ty * tile + tx] = A[row * K + (t * tile + tx)];
        tB[ty * tile + tx] = B[(t * tile + ty) * N + col];
        __syncthreads();
        for (int i = 0; i < tile; ++i) value += tA[ty * tile + i] * tB[i * tile + tx];
        __syncthreads();
    }
    C[row * N + col] = value;
}
//// four_columns  problem: gemm  fits: 64=64  block: 16, 16  grid: DIV($N, 64), DIV($M, 16)  args: (const float4*)$A, (const float4*)$B, (float4*)$C, $M, $N, $K
__global__ void four_columns(const float4 *A4, const float4 *B4, float4 *C4, int M, int N, int K)
{
    int c4 = blockIdx.x * blockDim.x + threadIdx.x;
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    float4 s = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int k = 0; k < K / 4; k++) {
        float4 a = A4[r * (K / 4) + k];
        float4 b0 = B4[(4 * k + 0) * (N / 4) + c4];
        float4 b1 = B4[(4 * k + 1) * (N / 4) + c4];
        float4 b2 = B4[(4 * k + 2) * (N / 4) + c4];
        float4 b3 = B4[(4 * k + 3) * (N / 4) + c4];
        s.x += a.x * b0.x + a.y * b1.x + a.z * b2.x + a.w * b3.x;
        s.y += a.x * b0.y + a.y * b1.y + a.z * b2.y + a.w * b3.y;
        s.z += a.x * b0.z + a.y * b1.z + a.z * b2.z + a.w * b3.z;
        s.w += a.x * b0.w + a.y * b1.w + a.z * b2.w + a.w * b3.w;
    }
    C4[r * (N / 4) + c4] = s;
}
//// skinny_tile  problem: gemm  block: 128  grid: CEIL($N, 128), CEIL($M, 4)  args: $A, $B, $C, $M, $N, $K
__global__ void __launch_bounds__(128) skinny_tile(const float* A, const float* B, float* C, unsigned M, unsigned N, unsigned K) {
  __shared__ float rows[4][128];
  const unsigned col = blockIdx.x * 128u + threadIdx.x;
  const unsigned row0 = blockIdx.y * 4u;
  float acc0 = 0.f, acc1 = 0.f, acc2 = 0.f, acc3 = 0.f;
  for (unsigned base = 0; base < K; base += 128u) {
    const unsigned k = base + threadIdx.x;
#pragma unroll
    for (unsigned i = 0; i < 4u; ++i) rows[i][threadIdx.x] = (k < K && row0 + i < M) ? A[(row0 + i) * K + k] : 0.f;
    __syncthreads();
    const unsigned stop = min(128u, K - base);
    if (col < N) {
      for (unsigned j = 0; j < stop; ++j) {
        const float b = B[(base + j) * N + col];
        acc0 += rows[0][j] * b;
        acc1 += rows[1][j] * b;
        acc2 += rows[2][j] * b;
        acc3 += rows[3][j] * b;
      }
    }
    __syncthreads();
  }
  if (col < N) {
    if (row0 < M) C[row0 * N + col] = acc0;
    if (row0 + 1 < M) C[(row0 + 1) * N + col] = acc1;
    if (row0 + 2 < M) C[(row0 + 2) * N + col] = acc2;
    if (row0 + 3 < M) C[(row0 + 3) * N + col] = acc3;
  }
}
//// kahan_mm  problem: gemm  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N, $K
__global__ void kahan_mm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0.0f, comp = 0.0f;
    int k = 0;
    while (k < K) {
      float y = A[row * K + k] * B[k * N + col] - comp;
      float t = sum + y;
      comp = (t - sum) - y;
      sum = t;
      k++;
    }
    C[row * N + col] = sum;
  }
}
//// unrolled_k  problem: gemm  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N, $K
__global__ void unrolled_k(const int* A, const int* B, int* C, int M, int N, int K) {
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i < M && j < N) {
    int s0 = 0, s1 = 0, s2 = 0, s3 = 0, k;
    for (k = 0; k + 3 < K; k += 4) {
      s0 += A[i * K + k] * B[k * N + j];
      s1 += A[i * K + k + 1] * B[(k + 1) * N + j];
      s2 += A[i * K + k + 2] * B[(k + 2) * N + j];
      s3 += A[i * K + k + 3] * B[(k + 3) * N + j];
    }
    for (; k < K; k++) s0 += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s0 + s1 + s2 + s3;
  }
}
