//// saxpy  problem: saxpy  block: 256  grid: CEIL($n, 256)  args: $n, 2.0f, $X, $Y
__global__ void saxpy(int n, float a, const float *x, float *y)
{
  int i = blockIdx.x*blockDim.x + threadIdx.x;
  if (i < n) y[i] = a*x[i] + y[i];
}
//// axpby  problem: axpby  block: 128  grid: CEIL($n, 128)  args: $n, $alpha, $X, $beta, $Y
__global__ void axpby(int n, double alpha, const double* x, double beta, double* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = alpha * x[i] + beta * y[i];
}
//// atomic_sum  problem: sum  block: 256  grid: CEIL($n, 256)  args: $X, $S, $n
__global__ void atomic_sum(const float* x, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i]);
}
//// sum_warp_shuffle  problem: sum  block: 256  grid: CEIL($n, 256)  args: $X, $S, $n
__global__ void sum_warp_shuffle(const float* __restrict__ in, float* out, int n) {
  __shared__ float partial[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? in[i] : 0.f;
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < 8 ? partial[threadIdx.x] : 0.f;
    for (int d = 4; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x == 0) atomicAdd(out, v);
  }
}
//// max_int  problem: max  block: 256  grid: CEIL($n, 256)  args: $X, $S, $n
__global__ void max_int(const int *data, int *result, int n) {
  __shared__ int s[256];
  int gid = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = gid < n ? data[gid] : data[0];
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) s[threadIdx.x] = max(s[threadIdx.x], s[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicMax(result, s[0]);
}
//// row_sums  problem: rowsum  block: 256  grid: CEIL($M, 256)  args: $X, $Y, $M, $N
__global__ void row_sums(const float *A, float *sums, size_t rows, size_t cols)
{
  size_t idx = threadIdx.x + blockDim.x * blockIdx.x;
  if (idx < rows) {
    float sum = 0.0f;
    for (size_t i = 0; i < cols; i++)
      sum += A[idx * cols + i];
    sums[idx] = sum;
  }
}
//// column_sums  problem: colsum  block: 256  grid: CEIL($N, 256)  args: $X, $Y, $M, $N
__global__ void column_sums(const float *A, float *sums, size_t rows, size_t cols)
{
  size_t idx = threadIdx.x + blockDim.x * blockIdx.x;
  if (idx < cols) {
    float sum = 0.0f;
    for (size_t i = 0; i < rows; i++)
      sum += A[idx + cols * i];
    sums[idx] = sum;
  }
}
//// row_sum_block  problem: rowsum  block: 128  grid: $M  args: $X, $Y, $N
__global__ void row_sum_block(const float* m, float* out, int cols) {
  __shared__ float red[128];
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += 128) v += m[blockIdx.x * cols + c];
  red[threadIdx.x] = v;
  __syncthreads();
  for (int w = 64; w >= 1; w >>= 1) {
    if (threadIdx.x < w) red[threadIdx.x] += red[threadIdx.x + w];
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = red[0];
}
//// gemv_naive  problem: gemv  block: 256  grid: CEIL($M, 256)  args: $A, $X, $Y, $M, $N
__global__ void gemv_naive(const float* A, const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float acc = 0;
    for (int c = 0; c < cols; ++c) acc += A[r * cols + c] * x[c];
    y[r] = acc;
  }
}
//// gemv_warp  problem: gemv  block: 32, 4  grid: CEIL($M, 4)  args: $A, $X, $Y, $M, $N
template <unsigned int WarpSize = 32>
__device__ __forceinline__ float warp_reduce(float sum) {
    if (WarpSize >= 32) sum += __shfl_down_sync(0xffffffff, sum, 16);
    if (WarpSize >= 16) sum += __shfl_down_sync(0xffffffff, sum, 8);
    if (WarpSize >= 8) sum += __shfl_down_sync(0xffffffff, sum, 4);
    if (WarpSize >= 4) sum += __shfl_down_sync(0xffffffff, sum, 2);
    if (WarpSize >= 2) sum += __shfl_down_sync(0xffffffff, sum, 1);
    return sum;
}

__global__ void gemv_warp(const float* A, const float* x, float* y, const int M, const int N) {
    int lane = threadIdx.x;
    int row = blockDim.y * blockIdx.x + threadIdx.y;
    if (row < M) {
        float res = 0;
        for (int i = lane; i < N; i += 32) res += A[row * N + i] * x[i];
        res = warp_reduce<32>(res);
        if (lane == 0) y[row] = res;
    }
}
//// gemv_vec4  problem: gemv  fits: 128=128  block: 32, 4  grid: CEIL($M, 4)  args: $A, $X, $Y, $M, $N
__global__ void gemv_vec4(float * __restrict__ A, float * __restrict__ x, float * __restrict__ y, const int M, const int N) {
    int laneId = threadIdx.x % 32;
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < M) {
        float res = 0;
        float4 *a4 = reinterpret_cast<float4 *>(A + row * N);
        float4 *x4 = reinterpret_cast<float4 *>(x);
        for (int i = laneId; i < N / 4; i += 32) {
            float4 u = a4[i], v = x4[i];
            res += u.x * v.x;
            res += u.y * v.y;
            res += u.z * v.z;
            res += u.w * v.w;
        }
        for (int o = 16; o > 0; o >>= 1) res += __shfl_down_sync(0xffffffff, res, o);
        if (laneId == 0) y[row] = res;
    }
}
//// softmax_rows  problem: softmax  block: 128  grid: CEIL($M, 128)  args: $X, $Y, $M, $N
__global__ void softmax_rows(const float* inp, float* out, int N, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        const float* inp_row = inp + i * C;
        float* out_row = out + i * C;
        float maxval = -INFINITY;
        for (int j = 0; j < C; j++) {
            if (inp_row[j] > maxval) {
                maxval = inp_row[j];
            }
        }
        float sum = 0.0f;
        for (int j = 0; j < C; j++) {
            out_row[j] = expf(inp_row[j] - maxval);
            sum += out_row[j];
        }
        for (int j = 0; j < C; j++) {
            out_row[j] /= sum;
        }
    }
}
//// softmax_block  problem: softmax  block: 128  grid: $M  args: $Y, $X, $N
__global__ void softmax_block(float *out, const float *in, int cols) {
  __shared__ float buf[128];
  const float *x = in + blockIdx.x * cols;
  float *y = out + blockIdx.x * cols;
  int t = threadIdx.x;
  float m = -FLT_MAX;
  for (int i = t; i < cols; i += 128) m = fmaxf(m, x[i]);
  buf[t] = m;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
    __syncthreads();
  }
  m = buf[0];
  __syncthreads();
  float sum = 0.f;
  for (int i = t; i < cols; i += 128) sum += expf(x[i] - m);
  buf[t] = sum;
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  sum = buf[0];
  for (int i = t; i < cols; i += 128) y[i] = expf(x[i] - m) / sum;
}
//// histogram_atomic  problem: histogram  block: 256  grid: CEIL($n, 256)  args: $X, $H, $n
__global__ void histogram_atomic(const unsigned int* values, unsigned int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[values[i] & 63u], 1u);
}
//// stencil_1d  problem: stencil3  block: 256  grid: CEIL($n, 256)  args: $X, $Y, $n
__global__ void stencil_1d(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1)
    out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
  else if (i < n)
    out[i] = in[i];
}
//// heat_step  problem: heat2d  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $X, $Y, $M, $N
#define IDX(i, j) ((i) * nx + (j))
__global__ void heat_step(const float *u, float *u_new, int ny, int nx) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= ny || j >= nx) return;
  if (i == 0 || j == 0 || i == ny - 1 || j == nx - 1) {
    u_new[IDX(i, j)] = u[IDX(i, j)];
    return;
  }
  u_new[IDX(i, j)] = u[IDX(i, j)] + 0.1f * (u[IDX(i - 1, j)] + u[IDX(i + 1, j)] + u[IDX(i, j - 1)] + u[IDX(i, j + 1)] - 4.0f * u[IDX(i, j)]);
}
//// conv1d_mask  problem: conv1d  block: 256  grid: CEIL($n, 256)  args: $X, $F, $Y, $n, $m
__global__ void conv1d_mask(const int *array, const int *mask, int *result, int n, int m) {
  int tid = blockIdx.x * blockDim.x + threadIdx.x;
  int r = m / 2;
  int start = tid - r;
  int temp = 0;
  if (tid >= n) return;
  for (int j = 0; j < m; j++) {
    if ((start + j >= 0) && (start + j < n)) {
      temp += array[start + j] * mask[j];
    }
  }
  result[tid] = temp;
}
//// transpose_tile16  problem: transpose  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $Y, $X, $N, $M
template <int B> struct Padded { float v[B][B + 1]; };
__global__ void transpose_tile16(float* out, const float* in, unsigned w, unsigned h) {
  __shared__ float block[16][16 + 1];
  unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) block[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < h && y < w) out[y * h + x] = block[threadIdx.x][threadIdx.y];
}
//// scan_block  problem: scan_one_block  block: 512  grid: 1  sizes: 512  args: $X, $Y, $n
__global__ void scan_block(const float *in, float *out, int n) {
  __shared__ float temp[512];
  int t = threadIdx.x;
  temp[t] = t < n ? in[t] : 0.f;
  for (int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    float v = 0.f;
    if (t >= stride) v = temp[t - stride];
    __syncthreads();
    temp[t] += v;
  }
  if (t < n) out[t] = temp[t];
}
//// scale_inplace  problem: scale  block: 64  grid: CEIL($n, 64)  args: $Y, 3.0f, $n
__global__ void scale_inplace(float *data, float factor, int n) {
  int idx = threadIdx.x + blockIdx.x * blockDim.x;
  if (idx < n) data[idx] *= factor;
}
//// copy_vec4  problem: copy  fits: 1024=1024  block: 256  grid: DIV($n, 1024)  args: reinterpret_cast<const float4*>($X), reinterpret_cast<float4*>($Y), $n / 4
__global__ void copy_vec4(const float4* src, float4* dst, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) dst[i] = src[i];
}
