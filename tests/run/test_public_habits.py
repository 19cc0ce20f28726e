"""Files in the habits of public repositories: each opens without a header, and C is right with what is found by trying."""

from pathlib import Path

import pytest

from gemmviz.model.kernel import KernelSpec
from gemmviz.run.loader import open_kernel
from gemmviz.run.trial import WorkBudget, is_right
from tests.conftest import sampled

NAIVE = """
__global__ void mm(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}
"""
LAUNCH = "mm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, N, K);"
READ = {
    "sizes of a list, and a grid of a parameter": f"""{NAIVE}
        void time(void (*kernel)(const float*, const float*, float*, int, int, int), dim3 grid, dim3 block, int M, int N, int K) {{
          float *a, *b, *c;
          kernel<<<grid, block>>>(a, b, c, M, N, K);
        }}
        int main() {{
          const int sides[3] = {{128, 256, 512}};
          for (int i = 0; i < 3; i++)
            time(mm, dim3((sides[i] + 7) / 8, (sides[i] + 7) / 8), dim3(8, 8), sides[i], sides[i], sides[i]);
        }}""",
    "delete of what new allocated": f"""{NAIVE}
        void run(float* a, float* b, float* c, int M, int N, int K) {{
          float* host = new float[M * K]; float* one = new float;
          {LAUNCH}
          delete[] host; delete one;
        }}""",
    "arrays of two dimensions": """
        #define N 32
        __global__ void mm(float A[N][N], float B[N][N], float C[N][N]) {
          int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
          for (int k = C[i][j] = 0; k < N; k++) C[i][j] += A[i][k] * B[k][j];
        }
        void run(float (*a)[N], float (*b)[N], float (*c)[N]) { mm<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(a, b, c); }
        """,
    "a condition in the grid": f"""{NAIVE}
        int blocks(int n) {{ return n % 16 ? n / 16 + 1 : n / 16; }}
        void run(float* a, float* b, float* c, int M, int N, int K) {{
          mm<<<dim3(blocks(N), blocks(M)), dim3(16, 16)>>>(a, b, c, M, N, K);
        }}""",
    "a block of more than fits, cut by a condition": f"""{NAIVE}
        void run(float* a, float* b, float* c) {{
          int N = 64;
          dim3 threads(N, N), blocks(1, 1);
          if (N * N > 512) {{
            threads.x = 16;
            threads.y = 16;
            blocks.x = ceil(double(N) / double(threads.x));
            blocks.y = ceil(double(N) / double(threads.y));
          }}
          mm<<<blocks, threads>>>(a, b, c, N, N, N);
        }}""",
    "tensors": f"""#include <torch/extension.h>
        {NAIVE}
        torch::Tensor multiply(torch::Tensor a, torch::Tensor b) {{
          TORCH_CHECK(a.is_cuda(), "a must be on the GPU");
          const auto M = a.size(0), K = a.size(1), N = b.size(1);
          auto c = torch::zeros({{M, N}}, a.options());
          dim3 threads(16, 16);
          dim3 blocks((N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y);
          mm<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
              a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), M, N, K);
          C10_CUDA_KERNEL_LAUNCH_CHECK();
          return c;
        }}
        PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {{ m.def("multiply", &multiply, "C = A B"); }}
        """,
    "a lambda for each type of a tensor": f"""#include <torch/extension.h>
        {NAIVE.replace("__global__", "template <typename T> __global__").replace("float", "T")}
        torch::Tensor multiply(torch::Tensor a, torch::Tensor b) {{
          int M = a.size(0), K = a.size(1), N = b.size(1);
          auto c = torch::empty({{M, N}}, a.options());
          const dim3 threads(8, 8), blocks((N + 7) / 8, (M + 7) / 8);
          AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "mm", ([&] {{
            mm<scalar_t><<<blocks, threads>>>(a.data_ptr<scalar_t>(), b.data_ptr<scalar_t>(), c.data_ptr<scalar_t>(), M, N, K);
          }}));
          return c;
        }}
        """,
    "vectors of Thrust": f"""#include <thrust/device_vector.h>
        #include <thrust/host_vector.h>
        {NAIVE}
        void check(int M, int N, int K) {{
          thrust::host_vector<float> host(M * K);
          thrust::device_vector<float> a = host, b(K * N), c(M * N);
          mm<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(thrust::raw_pointer_cast(a.data()),
              thrust::raw_pointer_cast(&b[0]), thrust::raw_pointer_cast(c.data()), M, N, K);
        }}""",
}
# Kernels that are launched nowhere, in files of their own.
BLOCK_TILE = """(const float* A, const float* B, float* C, int M, int N, int K) {{
  {sizes}
  __shared__ float As[BM * BK], Bs[BK * BN];
  int row = blockIdx.y * BM, col = blockIdx.x * BN;
  int y = threadIdx.x / (BN / TN) * TM, x = threadIdx.x % (BN / TN) * TN;
  float sums[TM][TN] = {{}};
  for (int start = 0; start < K; start += BK) {{
    for (int i = threadIdx.x; i < BM * BK; i += blockDim.x) As[i] = A[(row + i / BK) * K + start + i % BK];
    for (int i = threadIdx.x; i < BK * BN; i += blockDim.x) Bs[i] = B[(start + i / BN) * N + col + i % BN];
    __syncthreads();
    for (int k = 0; k < BK; k++)
      for (int i = 0; i < TM; i++)
        for (int j = 0; j < TN; j++) sums[i][j] += As[(y + i) * BK + k] * Bs[k * BN + x + j];
    __syncthreads();
  }}
  for (int i = 0; i < TM; i++)
    for (int j = 0; j < TN; j++) C[(row + y + i) * N + col + x + j] = sums[i][j];
}}
"""
GUESSED = {
    "tiles of a template": "template <int BM, int BN, int BK, int TM, int TN>\n__global__ void mm"
    + BLOCK_TILE.format(sizes=""),
    "tiles of constants": "__global__ void mm"
    + BLOCK_TILE.format(
        sizes="const int BM = 32; constexpr int BN = 16, BK = 8; const unsigned TM = 4; const int TN = 2;"
    ).replace("16, BK", "16; const int BK"),
    "arguments of unknown types": f"""#include "tensor.hpp"
        {NAIVE}
        void run(const Tensor& a, const Tensor& b, Tensor& c, int M, int N, int K) {{
          dim3 threads(16, 16), blocks((N + 15) / 16, (M + 15) / 16);
          mm<<<blocks, threads, 0, context.stream()>>>(a.data<float>(), b.data<float>(), c.data<float>(), M, N, K);
        }}""",
    "four rows for each thread": """
        #define TILE 32
        __global__ void mm(const float* a, const float* b, float* c, int n) {
          __shared__ float as[TILE][TILE], bs[TILE][TILE];
          int x = threadIdx.x, column = blockIdx.x * TILE + x;
          float sums[4] = {};
          for (int start = 0; start < n; start += TILE) {
            for (int y = threadIdx.y; y < TILE; y += 8) {
              as[y][x] = a[(blockIdx.y * TILE + y) * n + start + x];
              bs[y][x] = b[(start + y) * n + column];
            }
            __syncthreads();
            for (int k = 0; k < TILE; k++)
              for (int i = 0; i < 4; i++) sums[i] += as[threadIdx.y + 8 * i][k] * bs[k][x];
            __syncthreads();
          }
          for (int i = 0; i < 4; i++) c[(blockIdx.y * TILE + threadIdx.y + 8 * i) * n + column] = sums[i];
        }
        """,
    "too large a tile": f"""{NAIVE}
        #define TILE 64
        void run(float* a, float* b, float* c, int M, int N, int K) {{
          mm<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, TILE)>>>(a, b, c, M, N, K);
        }}""",
    "too large a block": f"""{NAIVE}
        void run(float* a, float* b, float* c, int M, int N, int K) {{
          mm<<<dim3((N + 511) / 512, (M + 511) / 512), dim3(512, 512)>>>(a, b, c, M, N, K);
        }}""",
    "a flat block of a square tile": NAIVE.replace("__global__", "template <int TILE>\n__global__")
    .replace("blockDim.y + threadIdx.y", "TILE + threadIdx.x / TILE")
    .replace("blockDim.x + threadIdx.x", "TILE + threadIdx.x % TILE"),
}


def opened(folder: Path, text: str, name: str = "mm.cu") -> KernelSpec:
    """The kernel of a text in a file of its own. Its result is right."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    spec = open_kernel(str(path))
    assert is_right(spec, WorkBudget(1 << 31))
    return spec


_NAMES = {text: name for name, text in (*READ.items(), *GUESSED.items())}


@pytest.mark.parametrize("text", sampled(READ.values(), every=3), ids=_NAMES.get)
def test_launch_is_read(tmp_path: Path, text: str) -> None:
    assert opened(tmp_path, text).launch_from == "read"


@pytest.mark.parametrize("text", sampled(GUESSED.values(), every=6), ids=_NAMES.get)
def test_launch_is_guessed(tmp_path: Path, text: str) -> None:
    assert opened(tmp_path, text).launch_from == "guessed"
