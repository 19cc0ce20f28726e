//// mm_kernel_t  problem: gemm  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N, $K  call: mm_kernel_t<float>
template <typename T>
__global__ void mm_kernel_t(T const* mat_1, T const* mat_2, T* mat_3, size_t m, size_t n, size_t p)
{
    // 2D block and 2D thread
    size_t const j{blockIdx.x * blockDim.x + threadIdx.x};
    size_t const i{blockIdx.y * blockDim.y + threadIdx.y};
    if ((i >= m) || (j >= n)) { return; }
    T acc_sum{0};
    for (size_t k{0}; k < p; ++k)
    {
        acc_sum += mat_1[i * p + k] * mat_2[k * n + j];
    }
    mat_3[i * n + j] = acc_sum;
}
//// gemm_v01  problem: gemm_ld  block: 32, 32  grid: CEIL($N, 32), CEIL($M, 32)  args: $M, $N, $K, $alpha, $A, $lda, $B, $ldb, $beta, $C, $ldc  call: gemm_v01<float>
template <typename T>
__global__ void gemm_v01(size_t m, size_t n, size_t k, T alpha, T const* A, size_t lda, T const* B, size_t ldb, T beta, T* C,
                         size_t ldc)
{
    size_t const C_col_idx{blockIdx.x * blockDim.x + threadIdx.x};
    size_t const C_row_idx{blockIdx.y * blockDim.y + threadIdx.y};
    if (C_row_idx < m && C_col_idx < n)
    {
        T sum{static_cast<T>(0)};
        for (size_t k_idx{0U}; k_idx < k; ++k_idx)
        {
            sum += A[C_row_idx * lda + k_idx] * B[k_idx * ldb + C_col_idx];
        }
        C[C_row_idx * ldc + C_col_idx] = alpha * sum + beta * C[C_row_idx * ldc + C_col_idx];
    }
}
//// gemm_v02_tiles  problem: gemm_ld  block: 16U, 16U, 1U  grid: CEIL($N, 16U), CEIL($M, 16U), 1U  args: $M, $N, $K, $alpha, $A, $lda, $B, $ldb, $beta, $C, $ldc  call: gemm_v02_tiles<float, 16U, 16U, 16U>
template <typename T, size_t BLOCK_TILE_SIZE_X, size_t BLOCK_TILE_SIZE_Y, size_t BLOCK_TILE_SIZE_K, size_t NUM_THREADS>
__device__ void load_tiles(T const* A, size_t lda, T const* B, size_t ldb, T A_tile[BLOCK_TILE_SIZE_Y][BLOCK_TILE_SIZE_K],
                           T B_tile[BLOCK_TILE_SIZE_K][BLOCK_TILE_SIZE_X], size_t tile_idx, size_t thread_linear_idx, size_t m,
                           size_t n, size_t k)
{
#pragma unroll
    for (size_t load_idx{0U}; load_idx < (BLOCK_TILE_SIZE_Y * BLOCK_TILE_SIZE_K + NUM_THREADS - 1U) / NUM_THREADS; ++load_idx)
    {
        size_t const r{(thread_linear_idx + load_idx * NUM_THREADS) / BLOCK_TILE_SIZE_K};
        size_t const c{(thread_linear_idx + load_idx * NUM_THREADS) % BLOCK_TILE_SIZE_K};
        size_t const A_row{blockIdx.y * BLOCK_TILE_SIZE_Y + r};
        size_t const A_col{tile_idx * BLOCK_TILE_SIZE_K + c};
        T val{static_cast<T>(0)};
        if (A_row < m && A_col < k)
        {
            val = A[A_row * lda + A_col];
        }
        A_tile[r][c] = val;
    }
#pragma unroll
    for (size_t load_idx{0U}; load_idx < (BLOCK_TILE_SIZE_K * BLOCK_TILE_SIZE_X + NUM_THREADS - 1U) / NUM_THREADS; ++load_idx)
    {
        size_t const r{(thread_linear_idx + load_idx * NUM_THREADS) / BLOCK_TILE_SIZE_X};
        size_t const c{(thread_linear_idx + load_idx * NUM_THREADS) % BLOCK_TILE_SIZE_X};
        size_t const B_row{tile_idx * BLOCK_TILE_SIZE_K + r};
        size_t const B_col{blockIdx.x * BLOCK_TILE_SIZE_X + c};
        T val{static_cast<T>(0)};
        if (B_row < k && B_col < n)
        {
            val = B[B_row * ldb + B_col];
        }
        B_tile[r][c] = val;
    }
}

template <typename T, size_t BLOCK_TILE_SIZE_X, size_t BLOCK_TILE_SIZE_Y, size_t BLOCK_TILE_SIZE_K>
__global__ void gemm_v02_tiles(size_t m, size_t n, size_t k, T alpha, T const* A, size_t lda, T const* B, size_t ldb, T beta,
                               T* C, size_t ldc)
{
    constexpr size_t NUM_THREADS{BLOCK_TILE_SIZE_X * BLOCK_TILE_SIZE_Y};
    size_t const thread_linear_idx{threadIdx.y * blockDim.x + threadIdx.x};
    size_t const C_col_idx{blockIdx.x * blockDim.x + threadIdx.x};
    size_t const C_row_idx{blockIdx.y * blockDim.y + threadIdx.y};
    __shared__ T A_tile[BLOCK_TILE_SIZE_Y][BLOCK_TILE_SIZE_K];
    __shared__ T B_tile[BLOCK_TILE_SIZE_K][BLOCK_TILE_SIZE_X];
    size_t const num_tiles{(k + BLOCK_TILE_SIZE_K - 1) / BLOCK_TILE_SIZE_K};
    T sum{static_cast<T>(0)};
    for (size_t tile{0U}; tile < num_tiles; ++tile)
    {
        load_tiles<T, BLOCK_TILE_SIZE_X, BLOCK_TILE_SIZE_Y, BLOCK_TILE_SIZE_K, NUM_THREADS>(
            A, lda, B, ldb, A_tile, B_tile, tile, thread_linear_idx, m, n, k);
        __syncthreads();
#pragma unroll
        for (size_t k_i{0U}; k_i < BLOCK_TILE_SIZE_K; ++k_i)
        {
            sum += A_tile[threadIdx.y][k_i] * B_tile[k_i][threadIdx.x];
        }
        __syncthreads();
    }
    if (C_row_idx < m && C_col_idx < n)
    {
        C[C_row_idx * ldc + C_col_idx] = alpha * sum + beta * C[C_row_idx * ldc + C_col_idx];
    }
}
//// register_tiled  problem: gemm  block: Shape::kThreadsX, Shape::kThreadsY  grid: CEIL($N, Shape::kTileN), CEIL($M, Shape::kTileM)  args: $A, $B, $C, $M, $N, $K
struct Shape {
  static constexpr int kTileM = 32;
  static constexpr int kTileN = 64;
  static constexpr int kTileK = 8;
  static constexpr int kPerThreadM = 2;
  static constexpr int kPerThreadN = 4;
  static constexpr int kThreadsX = kTileN / kPerThreadN;
  static constexpr int kThreadsY = kTileM / kPerThreadM;
  static constexpr int kThreads = kThreadsX * kThreadsY;
};

__global__ void register_tiled(const float* __restrict__ lhs, const float* __restrict__ rhs, float* __restrict__ out, int rows,
                               int cols, int depth) {
  __shared__ float lhs_tile[Shape::kTileK][Shape::kTileM];
  __shared__ float rhs_tile[Shape::kTileK][Shape::kTileN];
  const int tid = threadIdx.y * Shape::kThreadsX + threadIdx.x;
  const int row0 = blockIdx.y * Shape::kTileM;
  const int col0 = blockIdx.x * Shape::kTileN;
  float acc[Shape::kPerThreadM][Shape::kPerThreadN] = {{0.f}};

  for (int k0 = 0; k0 < depth; k0 += Shape::kTileK) {
    for (int i = tid; i < Shape::kTileM * Shape::kTileK; i += Shape::kThreads) {
      const int r = i / Shape::kTileK, k = i % Shape::kTileK;
      const bool inside = row0 + r < rows && k0 + k < depth;
      lhs_tile[k][r] = inside ? lhs[(row0 + r) * depth + k0 + k] : 0.f;
    }
    for (int i = tid; i < Shape::kTileN * Shape::kTileK; i += Shape::kThreads) {
      const int k = i / Shape::kTileN, c = i % Shape::kTileN;
      const bool inside = col0 + c < cols && k0 + k < depth;
      rhs_tile[k][c] = inside ? rhs[(k0 + k) * cols + col0 + c] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < Shape::kTileK; ++k) {
      for (int i = 0; i < Shape::kPerThreadM; ++i) {
        for (int j = 0; j < Shape::kPerThreadN; ++j) {
          acc[i][j] += lhs_tile[k][threadIdx.y + i * Shape::kThreadsY] * rhs_tile[k][threadIdx.x + j * Shape::kThreadsX];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < Shape::kPerThreadM; ++i) {
    const int row = row0 + threadIdx.y + i * Shape::kThreadsY;
    for (int j = 0; j < Shape::kPerThreadN; ++j) {
      const int col = col0 + threadIdx.x + j * Shape::kThreadsX;
      if (row < rows && col < cols) out[row * cols + col] = acc[i][j];
    }
  }
}
//// view_mm  problem: gemm  block: 8, 32  grid: CEIL($N, 8), CEIL($M, 32)  args: View<const float>{$A, $M, $K}, View<const float>{$B, $K, $N}, View<float>{$C, $M, $N}
template <class T>
struct View {
  T* ptr;
  int rows, cols;
  __device__ T& operator()(int r, int c) const { return ptr[r * cols + c]; }
};

__global__ void view_mm(View<const float> a, View<const float> b, View<float> c) {
  const auto row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const auto col = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row >= c.rows || col >= c.cols) return;
  float total{};
  for (int k = 0; k != a.cols; ++k) total += a(row, k) * b(k, col);
  c(row, col) = total;
}
//// grid_stride_mm  problem: gemm  block: 256  grid: 32  args: $A, $B, $C, $M, $N, $K
namespace kernels {
__device__ __forceinline__ float dot_strided(const float* x, const float* y, int len, int stride) {
  float s = 0.f;
  for (int i = 0; i < len; ++i) s = fmaf(x[i], y[i * stride], s);
  return s;
}
}  // namespace kernels

__global__ void grid_stride_mm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                               int k) {
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < m * n; idx += gridDim.x * blockDim.x) {
    c[idx] = kernels::dot_strided(a + (idx / n) * k, b + idx % n, k, n);
  }
}
//// policy_mm  problem: gemm  block: 16, 16  grid: CEIL($N, 16), CEIL($M, 16)  args: $A, $B, $C, $M, $N, $K  call: policy_mm<float, Tile<16>>
template <int S>
struct Tile {
  enum { size = S };
};

template <typename T, class Policy>
__global__ void policy_mm(const T* A, const T* B, T* C, int M, int N, int K) {
  constexpr int S = Policy::size;
  __shared__ T sA[S][S + 1], sB[S][S + 1];
  const int r = blockIdx.y * S + threadIdx.y;
  const int c = blockIdx.x * S + threadIdx.x;
  T acc = T(0);
  for (int t = 0; t < K; t += S) {
    sA[threadIdx.y][threadIdx.x] = (r < M && t + threadIdx.x < K) ? A[r * K + t + threadIdx.x] : T(0);
    sB[threadIdx.y][threadIdx.x] = (c < N && t + threadIdx.y < K) ? B[(t + threadIdx.y) * N + c] : T(0);
    __syncthreads();
    for (int k = 0; k < S; ++k) acc += sA[threadIdx.y][k] * sB[k][threadIdx.x];
    __syncthreads();
  }
  if (r < M && c < N) C[r * N + c] = acc;
}
//// functor_apply  problem: relu  block: 256  grid: CEIL($n, 256)  args: $X, $Y, $n, Relu{}
struct Relu {
  __device__ float operator()(float v) const { return v > 0.f ? v : 0.f; }
};

template <class F>
__global__ void functor_apply(const float* in, float* out, int n, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = f(in[i]);
}
