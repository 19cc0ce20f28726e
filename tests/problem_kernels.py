"""Kernels of every kind of problem, as short as possible, for tests."""

from functools import cache

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel, pattern_kernel_names
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.trace import Outcome
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.cpu.interpreter import watch_thread
from gemmviz.run.engine import Recording

_HEAD = '// gemmviz = 1\n// entry = "{name}"\n// args = [{args}]\n// block = [{block}]\n// grid = [{grid}]\n// problem = {problem}\n'
_ROWS: dict[str, tuple[str, str, str, str, str, str]] = {
    "batched": (
        '"A", "B", "C", "M", "N", "K"', '"N", "M"', '"1", "1", "batch"', "{ M = 4, N = 5, K = 6, batch = 3 }",
        "const float* A, const float* B, float* C, int M, int N, int K",
        "int b = blockIdx.z, i = threadIdx.y, j = threadIdx.x; float sum = 0.0f;\n"
        "    for (int k = 0; k < K; ++k) sum += A[b * M * K + i * K + k] * B[b * K * N + k * N + j];\n"
        "    C[b * M * N + i * N + j] = sum;",
    ),
    "scaled": (
        '"A", "B", "C", "M", "N", "K", "alpha", "beta"', '"N", "M"', '"1"', "{ M = 4, N = 5, K = 6, alpha = 2, beta = 0.5 }",
        "const float* A, const float* B, float* C, int M, int N, int K, float alpha, float beta",
        "int i = threadIdx.y, j = threadIdx.x; float sum = 0.0f;\n"
        "    for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];\n"
        "    C[i * N + j] = alpha * sum + beta * C[i * N + j];",
    ),
    "scan": (
        '"in", "out"', '"n"', '"1"', '{ kind = "scan", n = 40 }', "const float* in, float* out",
        "int i = threadIdx.x; float sum = 0.0f;\n    for (int j = 0; j <= i; ++j) sum += in[j];\n    out[i] = sum;",
    ),
    "exclusive_scan": (
        '"in", "out"', '"n"', '"1"', '{ kind = "exclusive_scan", n = 33 }', "const float* in, float* out",
        "int i = threadIdx.x; float sum = 0.0f;\n    for (int j = 0; j < i; ++j) sum += in[j];\n    out[i] = sum;",
    ),
    "histogram": (
        '"in", "out", "n"', '"bins"', '"1"', '{ kind = "histogram", n = 100, bins = 10 }', "const int* in, int* out, int n",
        "int b = threadIdx.x, count = 0;\n    for (int i = 0; i < n; ++i) if (in[i] == b) ++count;\n    out[b] = count;",
    ),
    "convolution": (
        '"in", "filter", "out", "rows", "columns", "radius"', '"columns"', '"rows"',
        '{ kind = "convolution", rows = 6, columns = 7, radius = 1 }',
        "const float* in, const float* filter, float* out, int rows, int columns, int radius",
        "int i = blockIdx.x, j = threadIdx.x; float sum = 0.0f;\n"
        "    for (int r = -radius; r <= radius; ++r)\n        for (int s = -radius; s <= radius; ++s)\n"
        "            if (i + r >= 0 && i + r < rows && j + s >= 0 && j + s < columns)\n"
        "                sum += filter[(r + radius) * (2 * radius + 1) + s + radius] * in[(i + r) * columns + j + s];\n"
        "    out[i * columns + j] = sum;",
    ),
    "convolution_1d": (
        '"in", "filter", "out", "n", "radius"', '"n"', '"1"', '{ kind = "convolution_1d", n = 40, radius = 2 }',
        "const float* in, const float* filter, float* out, int n, int radius",
        "int i = threadIdx.x; float sum = 0.0f;\n    for (int r = -radius; r <= radius; ++r)\n"
        "        if (i + r >= 0 && i + r < n) sum += filter[r + radius] * in[i + r];\n    out[i] = sum;",
    ),
    "softmax": (
        '"in", "out", "columns"', '"rows"', '"1"', '{ kind = "softmax", rows = 5, columns = 6 }',
        "const float* in, float* out, int columns",
        "int i = threadIdx.x; float sum = 0.0f;\n"
        "    for (int j = 0; j < columns; ++j) sum += expf(in[i * columns + j]);\n"
        "    for (int j = 0; j < columns; ++j) out[i * columns + j] = expf(in[i * columns + j]) / sum;",
    ),
    "matrix_add": (
        '"A", "B", "C", "columns"', '"columns"', '"rows"', '{ kind = "matrix_add", rows = 6, columns = 7 }',
        "const float* A, const float* B, float* C, int columns",
        "int i = blockIdx.x * columns + threadIdx.x;\n    C[i] = A[i] + B[i];",
    ),
    "dot_product": (
        '"A", "B", "out", "n"', '"8"', '"2"', '{ kind = "dot_product", n = 40, arrays = { out = ["2"] } }',
        "const float* A, const float* B, float* out, int n",
        "__shared__ float sums[8]; int t = threadIdx.x; float sum = 0.0f;\n"
        "    for (int i = blockIdx.x * 8 + t; i < n; i += 16) sum += A[i] * B[i];\n"
        "    sums[t] = sum; __syncthreads();\n"
        "    for (int half = 4; half > 0; half /= 2) { if (t < half) sums[t] += sums[t + half]; __syncthreads(); }\n"
        "    if (t == 0) out[blockIdx.x] = sums[0];",
    ),
    "axpy": (
        '"n", "alpha", "x", "y"', '"32"', '"ceil_div(n, 32)"', '{ kind = "axpy", n = 50, alpha = 2.5 }',
        "int n, float a, const float* x, float* y",
        "int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = a * x[i] + y[i];",
    ),
    "scale": (
        '"in", "out", "alpha"', '"n"', '"1"', '{ kind = "scale", n = 40, alpha = 0.5 }', "const float* in, float* out, float a",
        "int i = threadIdx.x;\n    out[i] = a * in[i];",
    ),
    "scale_in_place": (
        '"x", "alpha"', '"n"', '"1"', '{ kind = "scale_in_place", n = 40, alpha = 3 }', "float* x, float a",
        "int i = threadIdx.x;\n    x[i] *= a;",
    ),
    "relu": (
        '"in", "out"', '"n"', '"1"', '{ kind = "relu", n = 40 }', "const float* in, float* out",
        "int i = threadIdx.x;\n    out[i] = fmaxf(in[i], 0.0f);",
    ),
    "transpose_in_place": (
        '"A"', '"n", "n"', '"1"', '{ kind = "transpose_in_place", n = 6 }', "float* A",
        "int i = threadIdx.y, j = threadIdx.x, n = blockDim.x;\n    float t = A[i * n + j], u = A[j * n + i];\n"
        "    if (j < i) { A[i * n + j] = u; A[j * n + i] = t; }",
    ),
    "linear_relu": (
        '"A", "B", "bias", "C", "N", "K"', '"N", "M"', '"1"', '{ kind = "linear_relu", M = 4, N = 5, K = 6 }',
        "const float* A, const float* B, const float* bias, float* C, int N, int K",
        "int i = threadIdx.y, j = threadIdx.x; float sum = bias[j];\n"
        "    for (int k = 0; k < K; ++k) sum += A[i * K + k] * B[k * N + j];\n"
        "    C[i * N + j] = fmaxf(sum, 0.0f);",
    ),
    "row_sums": (
        '"in", "out", "columns"', '"rows"', '"1"', '{ kind = "row_sums", rows = 6, columns = 7 }',
        "const float* in, float* out, int columns",
        "int i = threadIdx.x; float sum = 0.0f;\n    for (int j = 0; j < columns; ++j) sum += in[i * columns + j];\n    out[i] = sum;",
    ),
    "maximum": (
        '"in", "out", "n"', '"32"', '"1"', '{ kind = "maximum", n = 40 }', "const float* in, float* out, int n",
        "float most = in[threadIdx.x];\n    for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, in[i]);\n"
        "    for (int half = 16; half > 0; half /= 2) most = fmaxf(most, __shfl_down_sync(0xffffffffu, most, half));\n"
        "    if (threadIdx.x == 0) out[0] = most;",
    ),
    "none": (
        '"p", "q", "r", "s"', '"n"', '"2"',
        '{ kind = "none", n = 20, arrays = { p = "n", q = ["n", 2], r = "2 * n", s = [2, "n"] }, outputs = ["r", "s"] }',
        "const float* p, const float* q, float* r, float* s",
        "int i = threadIdx.x, b = blockIdx.x;\n    r[b * 20 + i] = p[i] + q[i * 2 + b];\n    s[b * 20 + i] = 2.0f * p[i];",
    ),
}  # fmt: skip


@cache
def problem_kernel(name: str) -> KernelSpec:
    """A shipped kernel of another problem than a multiplication, or one of this file."""
    if name not in _ROWS:
        return load_kernel(name)
    args, block, grid, problem, parameters, body = _ROWS[name]
    head = _HEAD.format(name=name, args=args, block=block, grid=grid, problem=problem)
    return parse_kernel(f"{head}\n__global__ void {name}({parameters})\n{{\n    {body}\n}}\n", f"{name}.cu")


OF_TESTS = tuple(_ROWS)
PROBLEM_KERNELS = (*pattern_kernel_names(), *OF_TESTS)


def run_of(kernel: KernelSpec, **parameters: int) -> Outcome:
    """How a kernel's run of its own problem ends; values are recorded."""
    return trace_kernel(setup_for(kernel, parameters=parameters), None, Recording(values=True))


@cache
def reader_of_problem(name: str) -> Reader:
    """A reader of the kernel's run, with the variables of its first thread."""
    outcome = run_of(problem_kernel(name))
    reader = Reader(Replay.of(outcome.whole))
    reader.watched = watch_thread(outcome.whole.setup, (0, 0, 0), (0, 0, 0))
    return reader
