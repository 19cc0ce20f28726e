"""Small files whose launch, sizes and roles are hard to tell."""

from pathlib import Path

import pytest
from msgspec import structs

from gemmviz.cuda.launch.launch_form import header_text
from gemmviz.cuda.launch.legality import launch_for, setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import SettingError
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.loader import LaunchUnknown, open_kernel
from tests.conftest import sampled

PRODUCT = """
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m || c >= n) return;
  float s = 0;
  for (int i = 0; i < k; ++i) s += a[r * k + i] * b[i * n + c];
"""
SQUARE = PRODUCT.replace("r >= m", "r >= n").replace("i < k", "i < n").replace("r * k", "r * n")
DERIVED = f"""#define T 10
__global__ void mul(float *a, float *b, float *p, int n) {{{SQUARE} p[r * n + c] = s; }}
int main() {{
  float *a, *b, *p; int width = T * T;
  int blocks = ceil(1.0 * width / T);
  mul<<<dim3(blocks, blocks), dim3(T, T)>>>(a, b, p, width);
}}
"""
GRID_PASSED = f"""
__global__ void mul(const float *a, const float *b, float *c_, int m, int n, int k) {{{PRODUCT} c_[r * n + c] = s; }}
void go(const float *a, const float *b, float *c_, int m, int n, int k, dim3 grid, dim3 block) {{
  mul<<<grid, block>>>(a, b, c_, m, n, k);
}}
int main() {{
  int m = 1024, n = 4096, k = 2048; float *a, *b, *c;
  dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
  go(a, b, c, m, n, k, grid, block);
}}
"""
ADDED = f"""
__global__ void gemm(int m, int n, int k, float alpha, const float *a, const float *b, float beta, const float *c_in, float *d) {{
  {PRODUCT} d[r * n + c] = alpha * s + beta * c_in[r * n + c]; }}
void go(int m, int n, int k, const float *a, const float *b, const float *c_in, float *d) {{
  gemm<<<dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8)>>>(m, n, k, 1.5f, a, b, 0.5f, c_in, d);
}}
"""
STRUCT = """
struct Matrix { int width, height, stride; float *elements; };
__global__ void mul(Matrix A, Matrix B, Matrix C) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= C.height || c >= C.width) return;
  float s = 0;
  for (int i = 0; i < A.width; ++i) s += A.elements[r * A.stride + i] * B.elements[i * B.stride + c];
  C.elements[r * C.stride + c] = s;
}
void go(Matrix A, Matrix B, Matrix C) { mul<<<dim3((C.width + 7) / 8, (C.height + 7) / 8), dim3(8, 8)>>>(A, B, C); }
"""
FILTER = """
#define RADIUS 2
__constant__ float weights[2 * RADIUS + 1];
__global__ void convolve(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int j = -RADIUS; j <= RADIUS; ++j) if (i + j >= 0 && i + j < n) s += x[i + j] * weights[j + RADIUS];
  if (i < n) y[i] = s;
}
void go(const float *x, float *y, int n) { convolve<<<(n + 31) / 32, 32>>>(x, y, n); }
"""
MASK_WIDTH = """
__global__ void convolution(const float *x, const float *mask, float *y, int mask_width, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, first = i - mask_width / 2;
  float s = 0;
  for (int j = 0; j < mask_width; ++j) if (first + j >= 0 && first + j < width) s += x[first + j] * mask[j];
  if (i < width) y[i] = s;
}
void go(const float *x, const float *m, float *y, int mask_width, int width) {
  convolution<<<(width + 31) / 32, 32>>>(x, m, y, mask_width, width);
}
"""
BINS = """
#define NUM_BINS 7
__global__ void histogram(const unsigned char *data, int n, unsigned int *counts) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[data[i]], 1);
}
int main() { int n = 1 << 20; unsigned char *d; unsigned int *h; cudaMalloc(&d, n); cudaMalloc(&h, NUM_BINS * 4);
  histogram<<<(n + 31) / 32, 32>>>(d, n, h); }
"""
UNKNOWN = """
__global__ void blend(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] * y[i];
}
void go(int n, float a, const float *x, float *y) { blend<<<(n + 255) / 256, 256>>>(n, a, x, y); }
"""
OPTS_IN = """
extern __shared__ float pool[];
__global__ void reduce(const float *x, float *y, int n) {
  int t = threadIdx.x, i = blockIdx.x * 32 + t;
  pool[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (t == 0) { float s = 0; for (int j = 0; j < 32; ++j) s += pool[j]; y[blockIdx.x] = s; }
}
int main() {
  int n = 4096; float *x, *y; cudaMalloc(&x, n * 4); cudaMalloc(&y, n / 32 * 4);
  cudaFuncSetAttribute(reduce, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  reduce<<<(n + 31) / 32, 32, 65536>>>(x, y, n);
}
"""


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMMVIZ_HOME", str(tmp_path / "home"))


def read(text: str, folder: Path) -> KernelSpec:
    path = folder / "k.cu"
    path.write_text(text)
    return open_kernel(str(path))


def is_right(kernel: KernelSpec, **sizes: int) -> bool:
    trace = trace_kernel(setup_for(kernel).changed(**sizes)).trace
    return trace is not None and trace.is_whole and trace.check.passed and trace.check.compared > 0


@pytest.mark.parametrize(
    ("text", "kind", "args", "sizes"),
    [
        (DERIVED, "multiply", ("A", "B", "C", "N"), {"M": 30, "N": 30, "K": 30}),
        (GRID_PASSED, "multiply", ("A", "B", "C", "M", "N", "K"), {"M": 32, "N": 48, "K": 5}),
        (ADDED, "multiply", ("M", "N", "K", "alpha", "A", "B", "beta", "C", "C"), {"M": 9, "N": 17, "K": 5}),
        (STRUCT, "multiply", ("K", "M", "K", "A", "N", "K", "N", "B", "N", "M", "N", "C"), {"M": 9, "N": 17, "K": 5}),
        (FILTER, "convolution_1d", ("in", "out", "n", "filter"), {"n": 40, "radius": 3}),
        (MASK_WIDTH, "convolution_1d", ("in", "filter", "out", "(2 * radius + 1)", "n"), {"n": 40, "radius": 3}),
        (BINS, "histogram", ("in", "n", "out"), {"n": 40, "bins": 7}),
        (OPTS_IN, "reduction", ("in", "out", "n"), {"n": 64}),
    ],
    ids=["derived", "grid passed", "added", "struct", "filter", "mask width", "bins", "opts in"],
)  # fmt: skip
def test_roles_are_found_and_hold_at_other_sizes(
    text: str, kind: str, args: tuple[str, ...], sizes: dict[str, int], tmp_path: Path
) -> None:
    kernel = read(text, tmp_path)
    assert (kernel.problem.kind.name, kernel.args, kernel.launch_from) == (kind, args, "read")
    assert is_right(kernel)
    assert is_right(kernel, **sizes)


def test_a_kernel_that_solves_no_known_problem_runs_without_a_check(tmp_path: Path) -> None:
    kernel = read(UNKNOWN, tmp_path)
    assert kernel.problem.kind.name == "none"
    trace = trace_kernel(setup_for(kernel)).trace
    assert trace is not None
    assert not trace.check.is_checked


def test_shared_values_that_a_thread_has_loaded_stay_as_they_are(tmp_path: Path) -> None:
    """All threads of each of several blocks load one element, which is stored anew before they use it."""
    softmax = (Path(__file__).parents[1] / "data" / "kernels" / "habits" / "softmax_rows.cu").read_text()
    assert is_right(read(softmax, tmp_path), rows=3, columns=5)


def test_a_block_has_more_shared_memory_if_the_host_code_asks_for_it(tmp_path: Path) -> None:
    kernel = read(OPTS_IN, tmp_path)
    assert launch_for(setup_for(kernel)).shared_bytes == 65536
    assert parse_kernel(header_text(kernel) + kernel.text, "k.cu").opts_in_to_shared
    with pytest.raises(SettingError, match=r"at most 49152, and 232448 .* cudaFuncSetAttribute"):
        launch_for(setup_for(structs.replace(kernel, opts_in_to_shared=False)))
    with pytest.raises(SettingError, match=r"at most 232448$"):
        launch_for(setup_for(structs.replace(kernel, shared_bytes="262144")), with_nearest=False)


MATRIX = "template <typename T> struct Matrix {{ int rows, cols; T* data = nullptr; {constructor} }};"
CONSTRUCTOR = "Matrix(int r, int c) : rows{r}, cols{c} { cudaMalloc(&data, r * c * sizeof(T)); }"
ALLOCATED = " ".join(f"cudaMalloc(&{each}.data, {each}.rows * {each}.cols * sizeof(float));" for each in "ABC")


@pytest.mark.parametrize(
    ("constructor", "made"),
    sampled([
        (CONSTRUCTOR, "Matrix<float> A(h, l), B(l, w), C(h, w);"),
        (CONSTRUCTOR, "Matrix<float> A{h, l}, B{l, w}, C{h, w};"),
        (CONSTRUCTOR, "Matrix<float> A = {h, l}, B = {l, w}, C = {h, w};"),
        (CONSTRUCTOR, "auto A = Matrix<float>{h, l}; auto B = Matrix<float>{l, w}; auto C = Matrix<float>{h, w};"),
        ("", f"Matrix<float> A{{h, l}}, B{{l, w}}, C{{h, w}}; {ALLOCATED}"),
        ("", f"Matrix<float> A{{.rows = h, .cols = l}}, B{{.rows = l, .cols = w}}, C{{.rows = h, .cols = w}}; {ALLOCATED}"),
        ("", "struct All { Matrix<float> a, b, c; } all{{h, l}, {l, w}, {h, w}}; "
             f"auto &A = all.a; auto &B = all.b; auto &C = all.c; {ALLOCATED}"),
    ], every=3),
)  # fmt: skip
def test_sizes_are_read_from_braces_as_from_parentheses(constructor: str, made: str, tmp_path: Path) -> None:
    text = f"""{MATRIX.format(constructor=constructor)}
__global__ void gemm(const float *a, const float *b, float *p, int m, int n, int k) {{{PRODUCT} p[r * n + c] = s; }}
int main() {{
  const int h = 96, w = 64, l = 48; {made}
  dim3 block{{16, 16}}, grid((C.cols + 15) / 16, (C.rows + 15) / 16);
  gemm<<<grid, block>>>(A.data, B.data, C.data, C.rows, C.cols, A.cols);
}}
"""
    kernel = read(text, tmp_path)
    assert (kernel.args, kernel.launch_from) == (("A", "B", "C", "M", "N", "K"), "read")
    assert is_right(kernel, M=33, N=17, K=5)


# Templates of the host: classes of matrices in functions that are templates, too.

OF_T = f"""
#include <memory>
template <typename T>
__global__ void gemm(const T *a, const T *b, T *p, int m, int n, int k) {{{PRODUCT} p[r * n + c] = s; }}
template <typename T> struct Plain {{ int rows, cols; T *data; }};
template <typename T> struct Matrix {{
  T *data = nullptr; int rows = 0, cols = 0;
  Matrix() {{}}
  Matrix(int r, int c) : rows(r), cols{{c}} {{ cudaMalloc(&data, r * c * sizeof(T)); }}
  void allocate(int r, int c) {{ rows = r; cols = c; cudaMalloc((void **)&data, sizeof(T) * r * c); }}
}};
template <typename T> class Hidden {{
  T *data_ = nullptr; int rows_ = 0, cols_ = 0;
 public:
  Hidden(int r, int c) : rows_(r), cols_(c) {{ cudaMalloc(&data_, r * c * sizeof(T)); }}
  T *data() {{ return data_; }} const T *data() const {{ return data_; }}
  int rows() const {{ return rows_; }} int cols() const {{ return cols_; }}
}};
struct Free {{ void operator()(void *p) const {{ cudaFree(p); }} }};
template <typename T> using Pointer = std::unique_ptr<T[], Free>;
template <typename T> Pointer<T> reserve(int count) {{ T *p; cudaMalloc(&p, count * sizeof(T)); return Pointer<T>(p); }}
template <typename T> struct Owner {{
  int rows, cols; Pointer<T> data;
  Owner(int r, int c) : rows(r), cols(c), data(reserve<T>(r * c)) {{}}
}};
template <typename T> Matrix<T> made(int r, int c) {{ return Matrix<T>(r, c); }}
"""
RUN = "template <typename T> void run(int m, int n, int k) {"
OF_MEMBERS = (
    "dim3 block(16, 16), grid((C.cols + 15) / 16, (C.rows + 15) / 16);\n"
    "gemm<T><<<grid, block>>>(A.data, B.data, C.data, C.rows, C.cols, A.cols); }"
)
OF_METHODS = (
    "dim3 block(16, 16), grid((C.cols() + 15) / 16, (C.rows() + 15) / 16);\n"
    "gemm<<<grid, block>>>(A.data(), B.data(), C.data(), C.rows(), C.cols(), A.cols()); }"
)
CALLED, PASSED = "int main() { run<float>(96, 80, 64); }", "{} A(96, 64), B(64, 80), C(96, 80); run(A, B, C); }}"
OF_PLAIN = " ".join(f"cudaMalloc(&{each}.data, {each}.rows * {each}.cols * sizeof(T));" for each in "ABC")
TEMPLATES = {
    "parentheses": (RUN, "Matrix<T> A(m, k), B(k, n), C(m, n);", OF_MEMBERS, CALLED),
    "braces": (RUN, "Matrix<T> A{m, k}, B{k, n}, C{m, n};", OF_MEMBERS, CALLED),
    "a value": (RUN, "auto A = Matrix<T>(m, k); auto B = Matrix<T>{k, n}; Matrix<T> C = Matrix<T>(m, n);", OF_MEMBERS, CALLED),
    "a function": (RUN, "auto A = made<T>(m, k), B = made<T>(k, n), C = made<T>(m, n);", OF_MEMBERS, CALLED),
    "a method": (RUN, "Matrix<T> A, B, C; A.allocate(m, k); B.allocate(k, n); C.allocate(m, n);", OF_MEMBERS, CALLED),
    "no constructor": (RUN, f"Plain<T> A{{m, k}}, B{{k, n, nullptr}}, C{{m, n}}; {OF_PLAIN}", OF_MEMBERS, CALLED),
    "getters": (RUN, "Hidden<T> A(m, k), B(k, n), C(m, n);", OF_METHODS, CALLED),
    "a unique pointer": (RUN, "Owner<T> A(m, k), B(k, n), C(m, n);", OF_MEMBERS.replace(".data", ".data.get()"), CALLED),
    "deduced": (
        "template <typename T> void run(const Matrix<T> &A, const Matrix<T> &B, Matrix<T> &C) {", "", OF_MEMBERS,
        f"int main() {{ {PASSED.format('Matrix<float>')}",
    ),
    "deduced twice": (
        "template <typename T> void run(Hidden<T> &A, Hidden<T> &B, Hidden<T> &C) {", "", OF_METHODS,
        f"int main() {{ {PASSED.format('Hidden<float>')}",
    ),
    "auto": (
        "void run(const auto &A, const auto &B, auto &C) {", "", OF_MEMBERS.replace("<T>", ""),
        f"int main() {{ {PASSED.format('Matrix<float>')}",
    ),
    "no template": (
        "void run(Hidden<float> &A, Hidden<float> &B, Hidden<float> &C) {", "", OF_METHODS,
        f"int main() {{ {PASSED.format('Hidden<float>')}",
    ),
    "a function around it": (
        RUN, "Matrix<T> A(m, k), B(k, n), C(m, n);", OF_MEMBERS,
        "template <typename T> void all(int m) { run<T>(m, 80, 64); } int main() { all<float>(96); }",
    ),
    "a class": (
        "template <typename T> struct Product { Matrix<T> A, B, C;\n"
        "Product(int m, int n, int k) : A(m, k), B(k, n), C(m, n) {} void run() {", "", f"{OF_MEMBERS} }};",
        "int main() { Product<float> p(96, 80, 64); p.run(); }",
    ),
}  # fmt: skip


@pytest.mark.parametrize("habit", sampled(TEMPLATES, every=4))
def test_a_template_of_the_host_is_read_with_the_types_of_its_caller(habit: str, tmp_path: Path) -> None:
    kernel = read(OF_T + "\n".join(TEMPLATES[habit]), tmp_path)
    assert (kernel.launch_from, kernel.unconfirmed, kernel.entry) == ("read", "", "gemm<float>")
    assert kernel.args == ("A", "B", "C", "M", "N", "K")
    assert is_right(kernel, M=33, N=17, K=5)
    assert dict(kernel.host_sizes) == ({} if habit == "a class" else {"M": 96, "N": 80, "K": 64})


def test_a_template_that_nobody_calls_is_not_confirmed(tmp_path: Path) -> None:
    kernel = read(OF_T + "\n".join(TEMPLATES["parentheses"][:-1]), tmp_path)
    assert kernel.unconfirmed


@pytest.mark.parametrize("template", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_sizes_that_are_computed_from_another_one_are_free(template: bool, tmp_path: Path) -> None:
    around = "template <typename T> void all(int s) { run<T>(s, 2 * s, s / 2); }\nint main() { all<float>(64); }"
    text = OF_T + "\n".join((*TEMPLATES["parentheses"][:-1], around))
    if not template:
        text = (
            text.replace(RUN, RUN.partition("> ")[2]).replace("Matrix<T> A(m", "Matrix<float> A(m").replace("gemm<T>", "gemm")
        )
        text = text.replace("template <typename T> void all", "void all").replace("run<T>", "run").replace("all<float>", "all")
    kernel = read(text, tmp_path)
    assert (kernel.args, dict(kernel.host_sizes)) == (("A", "B", "C", "M", "N", "K"), {"M": 64, "N": 128, "K": 32})
    assert is_right(kernel, M=33, N=17, K=5)
    wrong = read(text.replace("int i = 0; i < k", "int i = 1; i < k"), tmp_path)
    assert wrong.unconfirmed  # it can't be told which sizes are meant


@pytest.mark.parametrize("habit", sampled(["deduced", "auto", "a class"], every=3))
def test_template_arguments_that_nobody_chooses_are_not_confirmed(habit: str, tmp_path: Path) -> None:
    text = OF_T + "\n".join(TEMPLATES[habit][:-1])
    assert read(text, tmp_path).unconfirmed
    with pytest.raises(LaunchUnknown):
        read(text.replace("int i = 0; i < k", "int i = 1; i < k"), tmp_path)
