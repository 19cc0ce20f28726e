"""Files in the habits of public repositories: each opens without a header, and C is right with what is found by trying."""

import time
from pathlib import Path

import pytest

from gemmviz.loading.loader import open_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.trying import is_right

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
}


def opened(folder: Path, text: str, name: str = "mm.cu") -> KernelSpec:
    """The kernel of a text in a file of its own. Its result is right."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    spec = open_kernel(str(path))
    assert is_right(spec, time.monotonic() + 20)
    return spec


@pytest.mark.parametrize("text", READ.values(), ids=READ.keys())
def test_launch_is_read(tmp_path: Path, text: str) -> None:
    assert opened(tmp_path, text).launch_from == "read"
