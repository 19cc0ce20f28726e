//// gemm_col_major  problem: gemm_col  block: 16, 16  grid: CEIL($M, 16), CEIL($N, 16)  args: $M, $N, $K, $A, $B, $C
#define IDX2C(i, j, ld) (((j) * (ld)) + (i))

__global__ void gemm_col_major(int m, int n, int k, const float *A, const float *B, float *C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        float s = 0.f;
        for (int l = 0; l < k; l++) s += A[IDX2C(i, l, m)] * B[IDX2C(l, j, k)];
        C[IDX2C(i, j, m)] = s;
    }
}
//// gemm_col_tile  problem: gemm_col  fits: 16=16  block: 256  grid: DIV($M, 16), DIV($N, 16)  args: $A, $B, $C, $M, $N, $K
#define A(i, j) A[(i) + (j) * M]
#define B(i, j) B[(i) + (j) * K]
#define C(i, j) C[(i) + (j) * M]
#define sa(i, j) sa[((i) << 4) + (j)]
#define sb(i, j) sb[((i) << 4) + (j)]

__global__ void gemm_col_tile(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float sa[16 * 16];
    __shared__ float sb[16 * 16];
    int tx = threadIdx.x;
    int bx = blockIdx.x, by = blockIdx.y;
    int row = tx & 15, col = tx >> 4;
    A = &A((bx << 4), 0);
    B = &B(0, (by << 4));
    C = &C((bx << 4), (by << 4));
    float tmp = 0.;
    for (int kk = 0; kk < K; kk += 16) {
        sa(row, col) = A(row, col);
        sb(col, row) = B(row, col);
        A += M << 4;
        B += 16;
        __syncthreads();
        for (int inner = 0; inner < 16; inner++) {
            tmp += sa(row, inner) * sb(col, inner);
        }
        __syncthreads();
    }
    C(row, col) = tmp;
}
#undef A
#undef B
#undef C
//// gemm_nt_naive  problem: gemm_nt  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N, $K
// C = A * B^T, B is N x K
__global__ void gemm_nt_naive(const float* A, const float* B, float* C, int M, int N, int K)
{
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= M || n >= N) return;
    const float* a = A + m * K;
    const float* b = B + n * K;
    float acc = 0.0f;
    for (int k = 0; k < K; k++)
        acc += a[k] * b[k];
    C[m * N + n] = acc;
}
//// gemm_tn_tile  problem: gemm_tn  block: TS, TS  grid: CEIL($N, TS), CEIL($M, TS)  args: $A, $B, $C, $M, $N, $K
#define TS 16
// C = A^T * B, A is K x M
__global__ void gemm_tn_tile(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float As[TS][TS], Bs[TS][TS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int m = blockIdx.y * TS, n = blockIdx.x * TS;
    float acc = 0.0f;
    for (int k = 0; k < K; k += TS) {
        As[ty][tx] = (k + ty < K && m + tx < M) ? A[(k + ty) * M + m + tx] : 0.0f;
        Bs[ty][tx] = (k + ty < K && n + tx < N) ? B[(k + ty) * N + n + tx] : 0.0f;
        __syncthreads();
        for (int e = 0; e < TS; e++) acc += As[e][ty] * Bs[e][tx];
        __syncthreads();
    }
    if (m + ty < M && n + tx < N) C[(m + ty) * N + n + tx] = acc;
}
//// gemm_tt_simple  problem: gemm_tt  block: 32, 8  grid: CEIL($N, 32), CEIL($M, 8)  args: $A, $B, $C, $M, $N, $K
__global__ void gemm_tt_simple(const double* __restrict__ At, const double* __restrict__ Bt, double* __restrict__ C, int M, int N, int K)
{
    const int n = blockIdx.x * 32 + threadIdx.x;
    const int m = blockIdx.y * 8 + threadIdx.y;
    if (n < N && m < M) {
        double r = 0.0;
        for (int k = 0; k < K; ++k) r += At[k * M + m] * Bt[n * K + k];
        C[m * N + n] = r;
    }
}
//// gemm_nt_smem  problem: gemm_nt  fits: 32=32  block: 32, 32  grid: DIV($N, 32), DIV($M, 32)  args: $A, $B, $C, $M, $N, $K
__global__ void gemm_nt_smem(const float *A, const float *Bt, float *C, int M, int N, int K) {
    __shared__ float sA[32][33];
    __shared__ float sB[32][33];
    const int row = blockIdx.y * 32 + threadIdx.y;
    const int brow = blockIdx.x * 32 + threadIdx.y;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        sA[threadIdx.y][threadIdx.x] = A[row * K + k0 + threadIdx.x];
        sB[threadIdx.y][threadIdx.x] = Bt[brow * K + k0 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 32; ++k) acc += sA[threadIdx.y][k] * sB[threadIdx.x][k];
        __syncthreads();
    }
    C[row * N + blockIdx.x * 32 + threadIdx.x] = acc;
}
//// gemm_full_form  problem: gemm_ab  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N, $K, $alpha, $beta
__global__ void gemm_full_form(const float* a, const float* b, float* c, int m, int n, int k, float alpha, float beta)
{
    int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < m && x < n) {
        float acc = 0;
        for (int p = 0; p < k; ++p) acc += a[y * k + p] * b[p * n + x];
        if (beta == 0.f)
            c[y * n + x] = alpha * acc;
        else
            c[y * n + x] = alpha * acc + beta * c[y * n + x];
    }
}
//// bgemm  problem: batched  block: 16, 16, 1  grid: CEIL($N, 16), CEIL($M, 16), $batch  args: $A, $B, $C, $M, $N, $K
__global__ void bgemm(const float* A, const float* B, float* C, int M, int N, int K)
{
    int b = blockIdx.z;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    const float* Ab = A + b * M * K;
    const float* Bb = B + b * K * N;
    float s = 0;
    for (int k = 0; k < K; k++) s += Ab[row * K + k] * Bb[k * N + col];
    C[b * M * N + row * N + col] = s;
}
//// bgemm_strided_tile  problem: batched  block: 8, 8  grid: CEIL($N, 8), CEIL($M, 8), $batch  args: $A, $M * $K, $B, $K * $N, $C, $M * $N, $M, $N, $K
template <int T = 8>
__device__ float tile_dot(const float (&a)[T][T], const float (&b)[T][T], int r, int c)
{
    float s = 0;
    for (int i = 0; i < T; ++i) s += a[r][i] * b[i][c];
    return s;
}

__global__ void bgemm_strided_tile(const float* A, long long strideA, const float* B, long long strideB, float* C,
                                   long long strideC, int M, int N, int K)
{
    __shared__ float ta[8][8], tb[8][8];
    A += blockIdx.z * strideA;
    B += blockIdx.z * strideB;
    C += blockIdx.z * strideC;
    const int r = threadIdx.y, c = threadIdx.x;
    const int row = blockIdx.y * 8 + r, col = blockIdx.x * 8 + c;
    float acc = 0;
    for (int k = 0; k < K; k += 8) {
        ta[r][c] = row < M && k + c < K ? A[row * K + k + c] : 0;
        tb[r][c] = col < N && k + r < K ? B[(k + r) * N + col] : 0;
        __syncthreads();
        acc += tile_dot(ta, tb, r, c);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
//// splitk_atomic  problem: gemm_zero  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16), 4  args: $A, $B, $C, $M, $N, $K
#define SPLIT_K 4
__global__ void splitk_atomic(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    int chunk = (K + SPLIT_K - 1) / SPLIT_K;
    int begin = blockIdx.z * chunk;
    int end = min(begin + chunk, K);
    float partial = 0.f;
    for (int k = begin; k < end; ++k) partial += A[row * K + k] * B[k * N + col];
    atomicAdd(&C[row * N + col], partial);
}
//// splitk_gridz  problem: gemm_zero  fits: 64=64  block: 16, 16  grid: DIV($N, 16), DIV($M, 16), DIV($K, 32)  args: $A, $B, $C, $M, $N, $K
__global__ void splitk_gridz(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float as[16][32];
    __shared__ float bs[32][16];
    int tx = threadIdx.x, ty = threadIdx.y, k0 = blockIdx.z * 32;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    as[ty][tx] = A[row * K + k0 + tx];
    as[ty][tx + 16] = A[row * K + k0 + tx + 16];
    bs[ty][tx] = B[(k0 + ty) * N + col];
    bs[ty + 16][tx] = B[(k0 + ty + 16) * N + col];
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 32; k++) s += as[ty][k] * bs[k][tx];
    atomicAdd(C + row * N + col, s);
}
//// linear_bias  problem: gemm_bias  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $bias, $C, $M, $N, $K
// y = x W + b
__global__ void linear_bias(const float* x, const float* W, const float* b, float* y, int batch, int out_features, int in_features)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < batch && j < out_features) {
        float acc = b[j];
        for (int k = 0; k < in_features; ++k) acc += x[i * in_features + k] * W[k * out_features + j];
        y[i * out_features + j] = acc;
    }
}
//// linear_relu  problem: gemm_bias_relu  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $C, $A, $B, $bias, $M, $K, $N
__global__ void linear_relu(float* out, const float* inp, const float* weight, const float* bias, int B, int C, int OC)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int oc = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < B && oc < OC) {
        float val = (bias != NULL) ? bias[oc] : 0.0f;
        for (int i = 0; i < C; i++) {
            val += inp[row * C + i] * weight[i * OC + oc];
        }
        out[row * OC + oc] = fmaxf(val, 0.0f);
    }
}
//// forward_nt  problem: gemm_nt_bias  block: 16, 16  grid: CEIL($M, 16), CEIL($N, 16)  args: $C, $A, $B, $bias, $M, $K, $N
__global__ void forward_nt(float* out, const float* inp, const float* weight, const float* bias, int BT, int C, int OC) {
    // out is (BT, OC), inp is (BT, C), weight is (OC, C), bias is (OC)
    int bt = blockIdx.x * blockDim.x + threadIdx.x;
    int oc = blockIdx.y * blockDim.y + threadIdx.y;
    if (bt < BT && oc < OC) {
        float val = bias[oc];
        const float* wrow = weight + oc * C;
        const float* inp_bt = inp + bt * C;
        for (int i = 0; i < C; i++) {
            val += inp_bt[i] * wrow[i];
        }
        out[bt * OC + oc] = val;
    }
}
//// scaled_gelu_mm  problem: gemm_gelu  block: 32, 8  grid: CEIL($N, 32), CEIL($M, 8)  args: $A, $B, $C, $M, $N, $K
__device__ inline float gelu(float x)
{
    return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

__global__ void scaled_gelu_mm(const float *A, const float *B, float *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float z = 0.f;
        for (int k = 0; k < K; ++k) z += A[row * K + k] * B[k * N + col];
        C[row * N + col] = gelu(z);
    }
}
