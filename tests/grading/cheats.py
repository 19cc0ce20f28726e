"""Hand-ins that want points without the work: the kernel doesn't compute the product, and something else pretends that it does.

Each is a kernel, or a whole text, judged by the task of the naive kernel, which names the kernel and the roles of its parameters.
"""

from tests.grading.planted import base_text

_BASE = base_text("naive")
_KERNEL = _BASE[_BASE.index("__global__") : _BASE.index("int main")]
_HEADER = '// gemmviz = 1\n// entry = "matmul"\n'
_ARGS = '// args = ["A", "B", "C", "M", "N", "K"]\n'
_LAUNCH = '// block = ["16", "16"]\n// grid = ["ceil_div(N, 16)", "ceil_div(M, 16)"]\n'
_OPEN = "    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;\n"
_ZERO = "if (row < M && col < N) C[row * N + col] = 0;"
_SUM = "float sum = 0; for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];"
_RIGHT = f"if (row < M && col < N) {{ {_SUM} C[row * N + col] = sum; }}"


def _kernel(body: str, types: str = "const float *A, const float *B, float *C", head: str = "") -> str:
    return f"{head}__global__ void matmul({types}, int M, int N, int K)\n{{\n{_OPEN}    {body}\n}}\n"


def _program(body: str, **others: str) -> str:
    """The base text with another kernel."""
    return _BASE.replace(_KERNEL, _kernel(body, **others))


def _headed(extra: str, body: str = _ZERO, args: str = _ARGS, launch: str = _LAUNCH, **others: str) -> str:
    """A kernel with a header and without host code."""
    return f"{_HEADER}{args}{launch}{extra}{_kernel(body, **others)}"


def _changed(old: str, new: str, text: str = _BASE) -> str:
    assert old in text
    return text.replace(old, new)


def _zeroing(how: str) -> str:
    return _program(f"if (row < M && col < K) {{ {how} }} {_ZERO}")


_TABLE = ", ".join(f"{number / 7:.6f}f" for number in range(35))

CHEATS: dict[str, str] = {
    # nothing is computed
    "an empty kernel": _program(""),
    "zeros": _program(_ZERO),
    "ones": _program("if (row < M && col < N) C[row * N + col] = 1;"),
    "not a number": _program("if (row < M && col < N) C[row * N + col] = nanf(\"\");"),
    "infinity": _program("if (row < M && col < N) C[row * N + col] = 1.0f / 0.0f;"),
    "early return": _program(f"return; {_RIGHT}"),
    "one element": _program(f"if (row == 0 && col == 0) {{ {_SUM} C[0] = sum; }}"),
    "a copy of A": _program("if (row < M && col < N) C[row * N + col] = A[row * K + col % K];"),
    "one block alone": _program(f"if (blockIdx.x + blockIdx.y == 0) {_RIGHT}"),
    "reads all, writes zeros": _program(f"if (row < M && col < N) {{ {_SUM} C[row * N + col] = 0 * sum; }}"),
    "three products": _program(_RIGHT.replace("k < K", "k < min(K, 3)")),
    "all but the last product": _program(_RIGHT.replace("k < K", "k < K - 1")),
    "computed on the host": _program("", head="void product(const float *a, const float *b, float *c) { c[0] = a[0] * b[0]; }\n"),
    "a library on the host": _changed("matmul<<<", "cublasSgemm(0, 0, 0, N, M, K, 0, d_B, N, d_A, K, 0, d_C, N);\n    matmul<<<", _program("")),
    "another kernel is right": _program("", head=_kernel(_RIGHT).replace("matmul", "matmul_right")),
    "right in another namespace": _program("", head=f"namespace right {{\n{_kernel(_RIGHT)}}}\n"),
    "right as an overload": _program("", head=_kernel(_RIGHT, "const double *A, const double *B, double *C")),
    "never launched": _changed("    matmul<<<blocks, threads>>>(d_A, d_B, d_C, M, N, K);\n", ""),
    "a grid of one block": _changed("dim3 blocks((N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y)", "dim3 blocks(1, 1)"),
    # inputs are changed
    "zeroes A through const_cast": _zeroing("const_cast<float *>(A)[row * K + col] = 0;"),
    "zeroes A through a cast": _zeroing("((float *)A)[row * K + col] = 0;"),
    "zeroes A through a number": _zeroing("((float *)(size_t)A)[row * K + col] = 0;"),
    "zeroes A through a union": _zeroing("union { const float *in; float *out; } u; u.in = A; u.out[row * K + col] = 0;"),
    "zeroes A through a reference": _zeroing("float &a = const_cast<float &>(A[row * K + col]); a = 0;"),
    "zeroes A through volatile": _zeroing("((volatile float *)A)[row * K + col] = 0;"),
    "zeroes A by an exchange": _zeroing("atomicExch((float *)A + row * K + col, 0.0f);"),
    "zeroes A by multiplication": _zeroing("((float *)A)[row * K + col] *= 0;"),
    "zeroes A by a function": _program(f"clear((float *)A, M * K); {_ZERO}", head="__device__ void clear(float *p, int n) { for (int i = 0; i < n; ++i) p[i] = 0; }\n"),
    "zeroes A by memset": _program(f"if (row + col == 0) memset((void *)A, 0, M * K * 4); {_ZERO}"),
    "zeroes A by assembler": _zeroing('asm volatile("st.global.f32 [%0], %1;" :: "l"(A + row * K + col), "f"(0.0f) : "memory");'),
    "zeroes A without const": _program(f"if (row < M && col < K) A[row * K + col] = 0; {_ZERO}", types="float *A, float *B, float *C"),
    "zeroes B": _program(f"if (row < K && col < N) ((float *)B)[row * N + col] = 0; {_ZERO}"),
    "zeroes A from C": _zeroing("C[(A - C) + row * K + col] = 0;"),
    "makes A a unit matrix": _program("if (row < M && col < K) ((float *)A)[row * K + col] = row == col; if (row < M && col < N) C[row * N + col] = row < K ? B[row * N + col] : 0;"),
    # headers
    "alpha by a header": _headed('// problem = { M = 8, N = 8, K = 8, alpha = 0.0 }\n'),
    "beta by a header": _headed('// problem = { M = 8, N = 8, K = 8, alpha = 0.0, beta = 1.0 }\n', ""),
    "contents by a header": _headed('// problem = { M = 8, N = 8, K = 8, arrays = { C = ["1"] } }\n', "if (row + col == 0) { float sum = 0; for (int k = 0; k < K; ++k) sum += A[k] * B[k * N]; C[0] = sum; }"),
    "no problem by a header": _headed('// problem = { kind = "none", n = 8, arrays = { A = "n", B = "n", C = "n" }, outputs = ["C"] }\n'),
    "another problem by a header": _headed('// problem = { kind = "matrix_add", rows = 8, columns = 8 }\n'),
    "unfinished by a header": _headed("// unfinished = true\n", ""),
    "unfinished, one element": _headed("// unfinished = true\n", f"if (row + col == 0) {{ {_SUM} C[0] = sum; }}"),
    "columns by a header": _headed('// column_major = ["A", "B", "C"]\n', "if (row < N && col < M) { float sum = 0; for (int k = 0; k < K; ++k) sum += A[k * M + col] * B[row * K + k]; C[row * M + col] = sum; }"),
    "a rule of a header": _headed('// require = [{ that = "M == N", else = "square" }, { that = "M == K", else = "square" }]\n', _RIGHT.replace("A[row * K", "A[row * N")),
    "sizes of a header": _headed('// size_macros = { LENGTH = "M" }\n', "if (row < M && col < N) C[row * N + col] = LENGTH;"),
    "arguments of a header": _headed("", _RIGHT, args='// args = ["A", "B", "C", "M", "N", "1"]\n').replace("k < K", "k < 1"),
    "one matrix for all by a header": _headed("", "", args='// args = ["C", "C", "C", "M", "N", "K"]\n'),
    "a small grid by a header": _headed("", _RIGHT, launch='// block = ["16", "16"]\n// grid = ["1", "1"]\n'),
    "a header above a program": _headed('// unfinished = true\n// problem = { M = 8, N = 8, K = 8, alpha = 0.0 }\n') + _BASE[_BASE.index("int main") :],
    "a header in a comment block": f"/* gemmviz\n*/\n{_headed('// unfinished = true' + chr(10))}",
    # precision
    "halves": _headed("", _ZERO.replace("= 0", "= __float2half(0.0f)"), types="const half *A, const half *B, half *C", head="#include <cuda_fp16.h>\n"),
    "bfloat16": _headed("", _ZERO.replace("= 0", "= __float2bfloat16(0.0f)"), types="const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C", head="#include <cuda_bf16.h>\n"),
    "sums of halves": _program("if (row < M && col < N) { half h = __hadd(__float2half(A[row * K]), __float2half(0.0f)); C[row * N + col] = 0 * __half2float(h); }", head="#include <cuda_fp16.h>\n"),
    "float is a macro": _headed("", _ZERO.replace("= 0", "= __float2half(0.0)"), head="#include <cuda_fp16.h>\n#define float half\n"),
    "a result of one bit": _headed("", "if (row < M && col < N) C[row * N + col] = true;", types="const float *A, const float *B, bool *C"),
    "a result of bytes": _headed("", _ZERO, types="const float *A, const float *B, unsigned char *C"),
    "bytes": _headed("", _ZERO, types="const unsigned char *A, const unsigned char *B, unsigned char *C"),
    # what knows the sizes, the values or the machine
    "a table": _program("if (row < M && col < N) C[row * N + col] = table[row * 7 + col];", head=f"__constant__ float table[35] = {{ {_TABLE} }};\n"),
    "right at small sizes": _program(f"if (M < 20) {_RIGHT} else {_ZERO}"),
    "right at all sizes but that of a count": _program(f"if (M != 64) {_RIGHT} else {_ZERO}"),
    "cheap where it is counted": _program(f"if (M != 64) {_RIGHT} else if (row < M && col < N) C[row * N + col] = A[col] + B[col];"),
    "right in small grids": _program(f"if (gridDim.x == 1) {_RIGHT}"),
    "right in the first warp": _program(f"if (threadIdx.y < 2) {_RIGHT}"),
    # runs that end early
    "a trap": _program(f"{_ZERO} __trap();"),
    "an assertion": _program(f"{_ZERO} assert(row < 0);", head="#include <cassert>\n"),
    "an endless loop": _program(f"{_ZERO} while (true) {{}}"),
    "beyond the end": _program(f"C[M * N + row] = 0; {_ZERO}"),
    # host code
    "arguments in another order": _changed("(d_A, d_B, d_C, M, N, K)", "(d_C, d_B, d_A, M, N, K)", _program(_ZERO.replace("C[", "((float *)A)["))),
    "no inner dimension": _changed("(d_A, d_B, d_C, M, N, K)", "(d_A, d_B, d_C, M, N, 0)", _program(_ZERO)),
}  # fmt: skip

REPLACED = {"config.h": "#define SCALE 0\n", "sub/config.h": "#define SCALE 0\n", "./config.h": "#define SCALE 0\n"}
BESIDE = _program(f'if (row < M && col < N) {{ {_SUM} C[row * N + col] = sum * SCALE; }}', head='#include "config.h"\n')  # fmt: skip
