"""A verdict needs a launch that is confirmed; sizes are those of the code where they matter; the search is the same every time."""

from pathlib import Path

import pytest

from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.cli.main import main
from gemmviz.cuda.launch.launch_form import GivenLaunch, not_confirmed
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import KernelFault
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.loader import open_kernel

ALLOCATE = "float *A, *B, *C; cudaMalloc(&A, {a} * 4); cudaMalloc(&B, {b} * 4); cudaMalloc(&C, {c} * 4);"
RECTANGLE = ALLOCATE.format(a="M * K", b="K * N", c="M * N")
SQUARE = ALLOCATE.format(a="N * N", b="N * N", c="N * N")
INDICES = "int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;"


def multiplication(body: str, name: str = "matmul") -> str:
    return f"__global__ void {name}(const float* A, const float* B, float* C, int M, int N, int K)\n{{ {INDICES}\n{body} }}\n"


def main_of(sizes: str, name: str = "matmul") -> str:
    grid = "dim3((N + 15) / 16, (M + 15) / 16)"
    return f"int main() {{ {sizes} {RECTANGLE} {name}<<<{grid}, dim3(16, 16)>>>(A, B, C, M, N, K); }}\n"


def loop(start: int = 0) -> str:
    return f"float s = 0; for (int k = {start}; k < K; ++k) s += A[r * K + k] * B[k * N + c]; C[r * N + c] = s;"


ODD, EVEN = "int M = 50, N = 66, K = 36;", "int M = 64, N = 96, K = 32;"
GLOBAL = (
    "const int N = 64;\n__global__ void mm(const float* A, const float* B, float* C)\n"
    f"{{ {INDICES} float s = 0; for (int k = 0; k < N; k++) s += A[r * N + k] * B[k * N + c]; C[r * N + c] = s; }}\n"
    f"int main() {{ {SQUARE} mm<<<dim3(N / 16, N / 16), dim3(16, 16)>>>(A, B, C); }}\n"
)
LITERAL = (
    "__global__ void mm(const float* A, const float* B, float* C, int n)\n"
    f"{{ {INDICES} float s = 0; for (int k = 0; k < n; k++) s += A[r * n + k] * B[k * n + c]; C[r * n + c] = s; }}\n"
    f"int main() {{ const int N = 64; {SQUARE} mm<<<dim3(64 / 16, 64 / 16), dim3(16, 16)>>>(A, B, C, N); }}\n"
)
HISTOGRAM = (
    "__global__ void histogram(const int* data, int* hist, int n, int bins)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&hist[data[i]], 1); }\n"
    "int main() { int n = 1000, bins = 4096; int *d, *h; cudaMalloc(&d, n * 4); cudaMalloc(&h, bins * 4);\n"
    "histogram<<<(n + 255) / 256, 256>>>(d, h, n, bins); }\n"
)
DOT = (
    "__global__ void dot(const float* a, const float* b, float* out, int n)\n"
    "{ __shared__ float s[256]; int i = blockIdx.x * blockDim.x + threadIdx.x; s[threadIdx.x] = i < n ? a[i] * b[i] : 0.0f;\n"
    "__syncthreads(); for (int h = 128; h > 0; h /= 2)\n"
    "{ if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h]; __syncthreads(); }\n"
    "if (threadIdx.x == 0) {ADD} }\n"
    "int main() { int n = 10000; float *a, *b, *o; cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&o, 4);\n"
    "dot<<<(n + 255) / 256, 256>>>(a, b, o, n); }\n"
)


def opened(tmp_path: Path, text: str, given: GivenLaunch = GivenLaunch()) -> KernelSpec:  # noqa: B008 - it is frozen
    return open_kernel(written(tmp_path, text), given)


def written(tmp_path: Path, text: str) -> str:
    """The path of a file in a project of its own."""
    (tmp_path / ".git").mkdir(exist_ok=True)
    path = tmp_path / "kernel.cu"
    path.write_text(text, encoding="utf-8")
    return str(path)


def finding(spec: KernelSpec) -> str:
    """What is wrong with the run of a kernel at its own problem, "" if nothing is."""
    outcome = trace_kernel(setup_for(spec))
    if outcome.fault is not None:
        return str(outcome.fault)
    trace = outcome.whole
    return next((str(each) for each in ordering_of(trace).hazards), "" if trace.check.passed else str(trace.check))


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (LITERAL, (64, 64, 64)),  # the grid is one number: only the code's size is right
        (HISTOGRAM, None),  # bins that no value reaches
        (DOT.replace("{ADD}", "atomicAdd(out, s[0]);"), None),
        (multiplication(f"if (r < M && c < N) {{ {loop()} }}") + main_of(ODD), None),
        (multiplication(loop()) + main_of(EVEN), None),
    ],
    ids=["literal grid", "histogram", "dot", "guarded", "multiples"],
)
def test_right_kernels_are_right(tmp_path: Path, text: str, sizes: tuple[int, ...] | None) -> None:
    spec = opened(tmp_path, text)
    assert spec.launch_from == "read"
    assert not spec.unconfirmed
    assert sizes is None or tuple(spec.problem.sizes.values()) == sizes
    if sizes is None:
        assert finding(spec) == ""


def test_constants_of_the_file_keep_their_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = opened(tmp_path, GLOBAL)
    assert tuple(spec.problem.sizes.values()) == (64, 64, 64)
    assert main(["counts", spec.file, "-m", "32", "-n", "32", "-k", "32"]) != 0
    assert "the code has 64 for it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (multiplication(loop()) + main_of(ODD), "18 × 18 × 32"),  # no guard, and parts of tiles
        (multiplication(f"if (r < M && c < N) {{ {loop(1)} }}") + main_of(ODD), "50 × 66 × 36"),
        (DOT.replace("{ADD}", "*out += s[0];"), "n = 512"),  # no atomic, and several blocks
    ],
    ids=["guard", "first term", "atomic"],
)
def test_wrong_kernels_are_wrong_at_sizes_that_show_it(tmp_path: Path, text: str, where: str) -> None:
    spec = opened(tmp_path, text)
    assert not spec.unconfirmed
    assert spec.problem.text() == where
    assert finding(spec)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "if (r < M && c < N) { float s = 0; for (int k = 0; k < K; ++k) s += A[r * K + k] * B[k * N + c];"
            " C[r * N + c] = s > 0 ? s * s : 0.5f * s; }",
            marks=pytest.mark.nightly,
        ),
        f"if (r < M && c < N) {{ {loop(1)} }}",
    ],
)
def test_a_name_that_tells_nothing_accuses_nobody(tmp_path: Path, body: str) -> None:
    spec = opened(tmp_path, multiplication(body, "apply") + main_of(ODD, "apply"))
    assert not_confirmed(spec) is not None or not spec.problem.kind.is_checked
    assert finding(spec) == ""


def test_a_launch_that_cannot_be_read_gives_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    racy = (
        "__global__ void matmul(const float* A, const float* B, float* C, int M, int N, int K)\n"
        "{ __shared__ float a[16][16], b[16][16]; int y = threadIdx.y, x = threadIdx.x; float s = 0;\n"
        "for (int k = 0; k < K; k += 16) { a[y][x] = A[(blockIdx.y * 16 + y) * K + k + x];\n"
        "b[y][x] = B[(k + y) * N + blockIdx.x * 16 + x]; __syncthreads();\n"
        "for (int e = 0; e < 16; ++e) s += a[y][e] * b[e][x]; }\n"
        "C[(blockIdx.y * 16 + y) * N + blockIdx.x * 16 + x] = s; }\n"
    )
    guess = opened(tmp_path, racy)
    assert guess.launch_from == "guessed"
    assert finding(guess) == ""
    for command in (["counts"], ["launch"], ["trace", "-o", str(tmp_path / "t.gvt"), "--on", "cpu"]):
        assert main([command[0], guess.file, *command[1:]]) == 0
        said = capsys.readouterr()
        assert "launch not confirmed: matmul is launched nowhere" in said.out + said.err
        assert "hazard" not in said.err
    given = opened(tmp_path, racy, GivenLaunch(block=("16", "16"), grid=("N / 16", "M / 16")))
    assert not given.unconfirmed
    assert "no barrier between" in finding(given)
    assert main(["launch", written(tmp_path, racy + main_of(EVEN))]) == 1
    said = capsys.readouterr()
    assert "the result is right at 32 × 32 × 32, but only in one order of threads" in said.out
    assert "no barrier between" in said.err


def test_a_fault_at_an_unconfirmed_launch_is_no_verdict(tmp_path: Path) -> None:
    text = multiplication(f"C[r * N + c + M * N] = 1; {loop()}", "apply") + main_of(ODD, "apply")
    spec = opened(tmp_path, text)
    if spec.unconfirmed:
        fault = trace_kernel(setup_for(spec)).fault
        assert isinstance(fault, KernelFault)
        assert fault.id == "unconfirmed"
        assert "out of range" not in str(fault)


def test_sizes_that_are_asked_for_are_run_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = LITERAL.replace("64 / 16", "n / 16").replace("const int N = 64", "int n = 32, N = n")
    spec = opened(tmp_path, text)
    assert main(["counts", spec.file, "-m", "64", "-n", "64", "-k", str(spec.problem.sizes["K"])]) != 0
    assert "one number for" in capsys.readouterr().err
    untied = ["--args", "A,B,C,N", "--block", "16,16", "--grid", "N / 16,M / 16"]
    assert main(["counts", spec.file, *untied, "-m", "32", "-n", "32", "-k", "32"]) == 0
    assert "32 x 32 x 32" in capsys.readouterr().out


TILES = (
    "__shared__ float a[16][16], b[16][16]; int y = threadIdx.y, x = threadIdx.x; float s = 0;\n"
    "for (int t = 0; t < PHASES; t++) {\na[y][x] = r < M ? A[r * K + t * 16 + x] : 0; b[y][x] = c < N ? B[(t * 16 + y) * N + c] : 0;\n"
    "__syncthreads(); for (int k = 0; k < 16; k++) s += a[y][k] * b[k][x]; __syncthreads(); }\n"
    "if (r < M && c < N) C[r * N + c] = s;"
)


@pytest.mark.parametrize(
    ("phases", "sizes", "launched", "error"),
    [
        (
            "(K + 15) / 16",
            "int M = 100, N = 70, K = 50;",
            ", but not at 100 × 70 × 50 as main() launches it",
            "is out of range",
        ),
        ("K / 16", "int M = 100, N = 70, K = 50;", ", but not at 100 × 70 × 50 as main() launches it", "7000 of 7000 elements"),
        ("K / 16", "int M = 100, N = 70, K = 48;", ", and at 100 × 70 × 48 as main() launches it", ""),
        pytest.param("K / 16", "int M = 32, N = 32, K = 32;", "", "", marks=pytest.mark.nightly),
        ("K / 16", 'int M, N, K; scanf("%d %d %d", &M, &N, &K);', "", ""),
    ],
)
def test_a_launch_is_judged_at_the_sizes_of_main_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], phases: str, sizes: str, launched: str, error: str
) -> None:
    path = written(tmp_path, multiplication(TILES.replace("PHASES", phases)) + main_of(sizes))
    assert main(["launch", path]) == bool(error)
    said = capsys.readouterr()
    assert f"the result is right at 32 × 32 × 32{launched})" in said.out
    assert error in said.err
    assert ("(at 100 × 70 × 50, launch read from the code)" in said.err) is bool(error)


@pytest.mark.parametrize(("value", "is_race"), [("(N + 15) / 16", False), ("threadIdx.x", True)])
def test_threads_that_write_the_same_value_are_no_race(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str, is_race: bool
) -> None:
    body = (
        f"__shared__ int tiles; tiles = {value}; __syncthreads(); if (r < M && c < N) {{ {loop()} C[r * N + c] += 0 * tiles; }}"
    )
    spec = opened(tmp_path, multiplication(body) + main_of(ODD))
    assert ("tiles[0]" in finding(spec)) is is_race
    assert main(["counts", spec.file]) == is_race
    assert ("tiles[0]" in capsys.readouterr().err) is is_race
