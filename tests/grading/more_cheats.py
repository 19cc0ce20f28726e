"""More hand-ins that want points without the work, for four tasks, each with the checks that it must not pass.

Most change one of the right texts. ``NAMES`` are names of hand-ins that collide with files of the results or begin a formula.
"""

from dataclasses import dataclass

from tests.grading.planted import BARRIER, Change, base_text, changed

RESULT, HOST, GUARDS, HAZARDS, PARSES = "result", "host", "guards", "hazards", "parses"


@dataclass(frozen=True)
class Cheat:
    """``denied``: the ids of checks that the hand-in must not pass; ``files``: other files beside the judged one."""

    task: str
    text: str
    denied: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()


_NAIVE, _TILED = base_text("naive"), base_text("tiled")
_KERNEL = _NAIVE[_NAIVE.index("__global__") : _NAIVE.index("int main")]
_LAUNCH = "    matmul<<<blocks, threads>>>(d_A, d_B, d_C, M, N, K);"
_BACK = "    cudaMemcpy(h_C, d_C, sizeC, cudaMemcpyDeviceToHost);\n"
_COPIES = tuple((f"{line}\n", "") for line in _NAIVE.splitlines() if "cudaMemcpy(" in line)
_OPEN = "int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;"
_SUM = "float sum = 0; for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];"
_RIGHT = f"if (row < M && col < N) {{ {_SUM} C[row * N + col] = sum; }}"
_ZERO = "if (row < M && col < N) C[row * N + col] = 0;"
_PART = "float sum = 0; for (int k = blockIdx.z; k < K; k += gridDim.z) sum += A[row * K + k] * B[k * N + col];"
_Z = ("(M + threads.y - 1) / threads.y)", "(M + threads.y - 1) / threads.y, 4)")
_SQUARE_HOST = ("int M = 100, N = 200, K = 300;", "int M = 100, N = M, K = M;")
_SQUARE_SUM = ("A[row * K + k] * B[k * N + col]", "A[row * N + k] * B[k * M + col]")
_ADDS = ("C[row * N + col] = sum", "C[row * N + col] += sum")
_HIDDEN = ("sum += A[row * K + k] * B[k * N + col];", "sum = fmaf(A[row * K + k], B[k * N + col], sum);")


def _kernel(body: str, types: str = "const float *A, const float *B, float *C, int M, int N, int K") -> str:
    return f"__global__ void matmul({types})\n{{\n    {_OPEN}\n    {body}\n}}\n\n"


def _naive(body: str, *changes: Change, head: str = "", denied: tuple[str, ...] = (RESULT,)) -> Cheat:
    """The program of the first task with another kernel and other changes."""
    text = _NAIVE.replace(_KERNEL, head + _kernel(body))
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return Cheat("naive", text, denied)


def _program(*changes: Change, denied: tuple[str, ...] = (HOST,)) -> Cheat:
    """The right program of the first task with other host code."""
    return Cheat("naive", changed("naive", changes), denied)


def _adds(*changes: Change) -> Cheat:
    """A kernel that adds to C, which the host code doesn't set to zero."""
    return _program(_ADDS, *changes, denied=(RESULT,))


def _in_front(statement: str) -> Change:
    return _LAUNCH, f"    {statement}\n{_LAUNCH}"


def _tiled(*changes: Change, denied: tuple[str, ...]) -> Cheat:
    return Cheat("tiled", changed("tiled", changes), denied)


def _without_tiles(body: str, *changes: Change, task: str = "tiled", denied: tuple[str, ...]) -> Cheat:
    """The program of the task of tiles with a kernel that has none."""
    kernel = _kernel(body, "float *A, float *B, float *C, int M, int N, int K").replace("matmul", "matrixMultiplyShared")
    text = _TILED[: _TILED.index("__global__")] + kernel + _TILED[_TILED.index("int main") :]
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return Cheat(task, text, denied)


def _atomic(text: str) -> str:
    """Tiles that are written and read by atomics alone."""
    for tile, value in (
        ("A", "A[Row * numAColumns + m * TILE_WIDTH + tx]"),
        ("B", "B[(m * TILE_WIDTH + ty) * numBColumns + Col]"),
    ):
        text = text.replace(f"ds_{tile}[ty][tx] = {value};", f"atomicExch(&ds_{tile}[ty][tx], {value});")
        text = text.replace(f"ds_{tile}[ty][tx] = 0;", f"atomicExch(&ds_{tile}[ty][tx], 0.0f);")
    text = text.replace("ds_A[ty][k] * ds_B[k][tx]", "atomicAdd(&ds_A[ty][k], 0.0f) * atomicAdd(&ds_B[k][tx], 0.0f)")
    return text.replace(BARRIER, "").replace("Pvalue = 0;", f"Pvalue = 0; ds_A[ty][tx] = ds_B[ty][tx] = 0; {BARRIER}")


def _by_rows(extra: str) -> Cheat:
    """x counts rows, so that a warp reads a column of A."""
    swapped = _OPEN.replace("int row", "int col").replace(", col", ", row")
    grid = ("(N + threads.x - 1) / threads.x, (M + threads.y - 1) / threads.y", "(M + threads.x - 1) / threads.x, (N + threads.y - 1) / threads.y")  # fmt: skip
    return _naive(f"{extra} {_RIGHT}", (_OPEN, swapped), grid, denied=("criterion-2",))


_ALL_READ = (
    "int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x; "
    "int all = gridDim.x * gridDim.y * blockDim.x * blockDim.y; float s = 0; for (int j = i; j < M * K; j += all) s += A[j]; "
    "for (int j = i; j < K * N; j += all) s += B[j]; for (int j = i; j < M * N; j += all) C[j] = 0 * s;"
)
_FLAT_COLUMNS: tuple[Change, ...] = (
    ("BLOCKSIZE + threadIdx.x % BLOCKSIZE", "BLOCKSIZE + threadIdx.x / (BLOCKSIZE / 4)"),
    ("BLOCKSIZE / 4 + threadIdx.x / BLOCKSIZE", "BLOCKSIZE / 4 + threadIdx.x % (BLOCKSIZE / 4)"),
    ("  C[y * N + x] = tmp;", "  if (threadIdx.x % 32 == 0)\n    for (int i = 0; i < 8; ++i) C[y * N + x] = tmp;\n  C[y * N + x] = tmp;"),
)  # fmt: skip
_PADDED = base_text("padded")
_PADDED_KERNEL = _PADDED[_PADDED.index("{", _PADDED.index("__global__")) : _PADDED.index("void multiply")]
_BYTES = "__global__ void matmul(const T *A, const T *B, T *C, int M, int N, int K)\n{\n    BODY\n}\nvoid run(T *a, T *b, T *c, int M, int N, int K) { matmul<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, N, K); }\n"

MORE_CHEATS: dict[str, Cheat] = {
    # right for some sizes alone
    "square by the host": _program(_SQUARE_HOST, _SQUARE_SUM, denied=(RESULT,)),
    "square by the arguments": _program(("(d_A, d_B, d_C, M, N, K)", "(d_A, d_B, d_C, N, N, N)"), _SQUARE_SUM, denied=(RESULT,)),
    "square by the command line": _program((_SQUARE_HOST[0], "int M = argc > 1 ? atoi(argv[1]) : 64, N = argc > 2 ? atoi(argv[2]) : M, K = argc > 3 ? atoi(argv[3]) : M;"), _SQUARE_SUM, denied=(RESULT,)),
    "tiles of squares": _tiled(("numAColumns = 96, numBColumns = 64", "numAColumns = numARows, numBColumns = numARows"), ("A[Row * numAColumns", "A[Row * numBColumns"), denied=(RESULT,)),
    # memory that holds no zeros
    "adds to bytes of one": _adds(_in_front("cudaMemset(d_C, 1, sizeC);")),
    "adds to not a number": _adds(_in_front("cudaMemset(d_C, 0xff, sizeC);")),
    "adds, zeroes A": _adds(_in_front("cudaMemset(d_A, 0, sizeC);")),
    "adds, zeroes one byte": _adds(_in_front("cudaMemset(d_C, 0, 1);")),
    "adds, zeroes the host's array": _adds(_in_front("memset(h_C, 0, sizeC);")),
    "adds, zeroed behind": _adds((_LAUNCH, f"{_LAUNCH}\n    cudaMemset(d_C, 0, sizeC);")),
    "adds, zeroed in no case": _adds(_in_front("if (0) cudaMemset(d_C, 0, sizeC);")),
    "adds, zeroed by no call": _adds(("int main", "void never(float *c, size_t n) { cudaMemset(c, 0, n); }\n\nint main")),
    "adds to ones": _adds(_in_front("for (int i = 0; i < M * N; i++) h_C[i] = 1; cudaMemcpy(d_C, h_C, sizeC, cudaMemcpyHostToDevice);")),
    "adds, a function fills A": _adds(("int main", "void fill(float *p, int n) { for (int i = 0; i < n; i++) p[i] = i % 7; }\n\nint main"), _in_front("fill(h_A, M * K);")),
    "adds, a variable of that name": _adds(("int main", "bool isInitialised = false;\n\nint main")),
    # races
    "zeroed by another block's atomics": _naive(f"if (row < M && col < N) {{ if (blockIdx.z == 0) atomicExch(&C[row * N + col], 0.0f); {_PART} atomicAdd(&C[row * N + col], sum); }}", _Z, denied=(HAZARDS,)),
    "zeroed by another block": _naive(f"if (row < M && col < N) {{ if (blockIdx.z == 0) C[row * N + col] = 0; {_PART} atomicAdd(&C[row * N + col], sum); }}", _Z, denied=(HAZARDS,)),
    "another block's results through atomics": _naive("if (row < M && col < N) { if (blockIdx.x + blockIdx.y == 0) for (int r = row; r < M; r += 16) for (int c = col; c < N; c += 16) { float s = 0; for (int k = 0; k < K; ++k) s += A[r * K + k] * B[k * N + c]; atomicExch(&C[r * N + c], s); } else { float old = atomicAdd(&C[row * N + col], 0.0f); atomicExch(&C[row * N + col], old); } }", denied=(HAZARDS,)),
    "tiles by atomics, no barriers": Cheat("tiled", _atomic(_TILED), (HAZARDS,)),
    "a barrier of no thread": _tiled(("TILE_WIDTH 16", "TILE_WIDTH 4"), (BARRIER, "__syncwarp(0);"), denied=(HAZARDS,)),
    "a barrier of one thread": _tiled(("TILE_WIDTH 16", "TILE_WIDTH 4"), (BARRIER, "__syncwarp(1);"), denied=(HAZARDS,)),
    "an own barrier": _tiled(("__global__", "namespace own { __device__ void __syncthreads() {} }\n__global__"), (BARRIER, "own::__syncthreads();"), denied=(HAZARDS,)),
    "a lambda for a barrier": _tiled(("  float Pvalue = 0;", "  auto __syncthreads = [] {};\n  float Pvalue = 0;"), denied=(HAZARDS,)),
    "a member for a barrier": _tiled(("__global__", "struct Group { __device__ void sync() {} };\n__global__"), ("  float Pvalue = 0;", "  Group group;\n  float Pvalue = 0;"), (BARRIER, "group.sync();"), denied=(HAZARDS,)),
    "a macro for a barrier": _tiled(("#define TILE_WIDTH 16", "#define TILE_WIDTH 16\n#define __syncthreads()"), denied=(HAZARDS,)),
    "barriers for a host's pass alone": _tiled((BARRIER, "\n#ifndef __CUDA_ARCH__\n    __syncthreads();\n#endif"), denied=(HAZARDS,)),
    "barriers for clang alone": _tiled((BARRIER, "\n#ifdef __clang__\n    __syncthreads();\n#endif"), denied=(HAZARDS,)),
    "a read of shared memory by assembler": _tiled(("__global__", '__device__ float ld(const float *p) { float v; asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"((unsigned)__cvta_generic_to_shared(p))); return v; }\n__global__'), ("ds_A[ty][k] * ds_B[k][tx]", "ld(&ds_A[ty][k]) * ld(&ds_B[k][tx])"), (BARRIER, ""), denied=(HAZARDS,)),
    "two arrays in one dynamic memory": _tiled(("  __shared__ float ds_A[TILE_WIDTH]", "  extern __shared__ float ds_A[]"), ("  __shared__ float ds_B[TILE_WIDTH]", "  extern __shared__ float ds_B[]"), ("<<<dimGrid, dimBlock>>>", "<<<dimGrid, dimBlock, 2 * TILE_WIDTH * TILE_WIDTH * sizeof(float)>>>"), denied=(RESULT,)),
    # quantities
    "idle blocks in z": _without_tiles(f"if (blockIdx.z == 0) {_RIGHT}", ("TILE_WIDTH + 1, 1)", "TILE_WIDTH + 1, 8)"), denied=("criterion-4",)),
    "idle blocks in x": _without_tiles(_RIGHT, ("dimGrid((numBColumns - 1) / TILE_WIDTH + 1", "dimGrid(8 * ((numBColumns - 1) / TILE_WIDTH + 1)"), denied=("criterion-4",)),
    "no shared memory, no conflicts": _without_tiles(_RIGHT, denied=("criterion-3",)),
    "conflicts at all sizes but the counted one": _tiled(("ds_A[ty][tx] =", "ds_A[numARows == 64 ? ty : tx][numARows == 64 ? tx : ty] ="), ("ds_A[ty][k]", "ds_A[numARows == 64 ? ty : k][numARows == 64 ? k : ty]"), denied=("criterion-3",)),
    "sectors that are diluted": _by_rows("float waste = 0; for (int i = 0; i < 8 * K; ++i) waste += A[0]; if (waste == 1.5f) C[0] = waste;"),
    "sectors that are diluted by dead loads": _by_rows("for (int i = 0; i < 8 * K; ++i) A[0];"),
    "stores that are diluted": Cheat("flat", changed("flat", _FLAT_COLUMNS), ("criterion-2",)),
    "reads all once, writes zeros": _without_tiles(_ALL_READ, denied=(RESULT, GUARDS, HAZARDS, "criterion-1", "criterion-2", "criterion-3", "criterion-4")),
    "reads all once, writes zeros, padded": Cheat("padded", _PADDED.replace(_PADDED_KERNEL, f"{{\n  {_ALL_READ}\n}}\n\n"), (RESULT, GUARDS, HAZARDS, "criterion-1", "criterion-2", "criterion-3")),
    "one row of threads works": Cheat("padded", _PADDED.replace(_PADDED_KERNEL, "{\n  const unsigned col = blockIdx.x * TS + threadIdx.x;\n  if (col < N && threadIdx.y == 0)\n    for (unsigned row = blockIdx.y * TS; row < min(blockIdx.y * TS + TS, M); ++row) {\n      float s = 0;\n      for (unsigned k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];\n      C[row * N + col] = s;\n    }\n}\n\n"), ("criterion-1",)),
    # which kernel
    "launched as an overload of other sizes": _program((_KERNEL, _kernel(_RIGHT) + _kernel("", "const float *A, const float *B, float *C, unsigned M, unsigned N, unsigned K")), ("(d_A, d_B, d_C, M, N, K)", "(d_A, d_B, d_C, (unsigned)M, (unsigned)N, (unsigned)K)"), denied=(RESULT,)),
    "launched as an overload of seven": _program((_KERNEL, _kernel(_RIGHT) + _kernel("", "const float *A, const float *B, float *C, int M, int N, int K, int L")), ("(d_A, d_B, d_C, M, N, K)", "(d_A, d_B, d_C, M, N, K, 1)"), denied=(HOST,)),
    "launched as an empty specialisation": _program((_KERNEL, "template <typename T> " + _kernel(_RIGHT, "const T *A, const T *B, T *C, int M, int N, int K") + "template <> " + _kernel("").replace("matmul", "matmul<float>")), ("matmul<<<", "matmul<float><<<"), denied=(RESULT,)),
    "the right argument is never launched": _program((_KERNEL, "template <int X> " + _kernel(f"if constexpr (X) {_RIGHT}")), (_LAUNCH, "    if (0) matmul<1><<<blocks, threads>>>(d_A, d_B, d_C, M, N, K);\n    matmul<0><<<blocks, threads>>>(d_A, d_B, d_C, M, N, K);"), denied=(RESULT,)),
    "a second kernel clears the result": _program((_KERNEL, _KERNEL + _kernel(_ZERO).replace("matmul", "clear")), (_LAUNCH, f"{_LAUNCH}\n    clear<<<blocks, threads>>>(d_A, d_B, d_C, M, N, K);"), denied=(RESULT,)),
    "a variable that is called like the kernel": _program((_KERNEL, _KERNEL + _kernel("").replace("matmul", "other")), (_LAUNCH, f"    auto matmul = other;\n{_LAUNCH}"), denied=(HOST,)),
    "the file that is built is another one": Cheat("naive", _KERNEL + "void unused(float *a, float *b, float *c, int M, int N, int K) { matmul<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, N, K); }\n", (RESULT,), (("z.cu", _naive(_ZERO).text),)),
    # names that hide others
    "an own threadIdx": _program(("    int row =", "    dim3 threadIdx(0, 0, 0);\n    int row ="), denied=(RESULT,)),
    "an own fmaf": _program(_HIDDEN, ("= fmaf(", "= own::fmaf("), ("// Each", "namespace own { __device__ float fmaf(float a, float b, float c) { return 0; } }\n// Each"), denied=(RESULT,)),
    "an own product": _naive("if (row < M && col < N) { F s = {0}; for (int k = 0; k < K; ++k) s = s + F{A[row * K + k]} * F{B[k * N + col]}; C[row * N + col] = s.v; }", head="struct F { float v; };\n__device__ F operator*(F a, F b) { return {0}; }\n__device__ F operator+(F a, F b) { return {a.v + b.v}; }\n"),
    "an own atomicAdd": _naive(f"if (row < M && col < N) {{ {_PART} own::atomicAdd(&C[row * N + col], sum); }}", _Z, _in_front("cudaMemset(d_C, 0, sizeC);"), head="namespace own { __device__ void atomicAdd(float *p, float v) { *p += v; } }\n", denied=(HAZARDS,)),
    "numbers of one byte": Cheat("naive", _BYTES.replace("T ", "unsigned char ").replace("BODY", _OPEN + _RIGHT.replace("float", "unsigned char")), (RESULT,)),
    "float is a byte": _program(("// Each", "#define float char\n// Each"), denied=(RESULT,)),
    # host code
    "nothing is copied": _program(*_COPIES),
    "nothing is copied back": _program(("h_C, d_C, sizeC", "h_C, d_C, 0")),
    "A is copied back": _program(("h_C, d_C, sizeC", "h_C, d_A, sizeC")),
    "copied back in front": _program((_BACK, ""), (_LAUNCH, _BACK + _LAUNCH)),
    "copied back in no case": _program((_BACK, f"    if (0)\n{_BACK}")),
    "copied back by a name": _program((_BACK, "    photocopy(h_C);\n"), ("int main", "void photocopy(float *) {}\n\nint main")),
    "copied by a macro": _program(("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#define cudaMemcpy(a, b, c, d) 0")),
    "a direction by a macro": _program(("#include <cuda_runtime.h>", "#include <cuda_runtime.h>\n#define cudaMemcpyDeviceToHost cudaMemcpyHostToDevice")),
    "cleared before it is copied": _program((_LAUNCH, f"{_LAUNCH}\n    cudaMemset(d_C, 0, sizeC);")),
    "memory of one element": _program(("&d_C, sizeC", "&d_C, 4")),
    "memory of elements for bytes": _program(("sizeC = M * N * sizeof(float)", "sizeC = M * N")),
    "no memory": _program(("    cudaMalloc((void **)&d_C, sizeC);\n", "")),
    "freed in front": _program(_in_front("cudaFree(d_A);")),
    "sizes are 0": _program(("(d_A, d_B, d_C, M, N, K)", "(d_A, d_B, d_C, 0, 0, 0)")),
    "A is the result": _program(("(d_A, d_B, d_C, M, N, K)", "(d_A, d_B, d_A, M, N, K)")),
    "launched in no case": _program((_LAUNCH, f"    if (0)\n{_LAUNCH}")),
    "launched behind a return": _program((_LAUNCH, f"    return 0;\n{_LAUNCH}")),
    "launched by a lambda that nobody calls": _program((_LAUNCH, f"    auto run = [&] {{\n{_LAUNCH}\n    }};")),
    "more threads than its bounds": _program(("__global__ void matmul", "__global__ void __launch_bounds__(64) matmul")),
    "no threads": _program(("threads(16, 16)", "threads(16, 0)")),
    # what a compiler refuses
    "cudaMalloc of a pointer": _program(("cudaMalloc((void **)&d_A, sizeA)", "cudaMalloc(d_A, sizeA)"), denied=(PARSES,)),
    "cudaMemcpy without a direction": _program((", cudaMemcpyDeviceToHost", ""), denied=(PARSES,)),
    "arguments of cudaMemcpy exchanged": _program(("sizeC, cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToHost, sizeC"), denied=(HOST,)),
    "a vector in a kernel": _program(("#include <cstdio>", "#include <cstdio>\n#include <vector>"), ("        float sum", "        std::vector<float> v(3);\n        float sum"), denied=(PARSES,)),
    "no text behind a missing header": _program(("#include <cstdio>", '#include "mine.h"\n#include <cstdio>'), ("    free(h_A);", "    free(h_A) no code ( ( [ ;"), denied=(PARSES,)),
    "streams without their header": _program(("    dim3 threads", '    std::cout << "x";\n    dim3 threads'), denied=(PARSES,)),
    # what takes long, or ends the parser
    "statements that macros double": _program(("// Each", "#define X0 sum += 0;\n" + "".join(f"#define X{n + 1} X{n} X{n}\n" for n in range(18)) + "// Each"), ("        C[row", "        X18 C[row"), denied=(RESULT,)),
    "lines that are spliced for ever": _program(("// Each", "//" + "\\\n" * 400_000 + "\n// Each"), denied=(RESULT,)),
}  # fmt: skip

NAMES = (
    "all.json", "table.csv", "results.json", "page.html", "CON", "aux.cu", "-rf", "~", "%00", "$(touch escaped)", "=cmd|' !C calc'!A0",
    "@SUM(A1)", "\t=1", " =1+1", "\uff1d1", "<script>alert(1)<", "\u202egpj.exe", "x" * 250, "new\nline,=1",
)  # fmt: skip

NOT_SEEN = frozenset({
    # what a host program computes isn't run
    "adds to ones", "copied by a macro", "cleared before it is copied", "memory of one element", "memory of elements for bytes",
    "freed in front", "sizes are 0", "launched by a lambda that nobody calls", "more threads than its bounds",
    "no threads", "a second kernel clears the result", "the file that is built is another one",
    "launched as an overload of other sizes",
    # the stand-ins of headers take more than the headers
    "a vector in a kernel", "no text behind a missing header",
    "streams without their header",
    # atomics order nothing, whatever they do
    "zeroed by another block's atomics", "another block's results through atomics", "tiles by atomics, no barriers",
    # a criterion judges its quantity, an average over the launch, at its size
    "idle blocks in z", "idle blocks in x", "no shared memory, no conflicts", "conflicts at all sizes but the counted one",
    "sectors that are diluted", "stores that are diluted", "one row of threads works",
    "reads all once, writes zeros, padded",
})  # fmt: skip
