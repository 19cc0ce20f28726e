"""Launches in small host functions: what is read from them as formulas, values, memory and reasons."""

import pytest
from clang.cindex import Cursor

from gemmviz.cuda.launch.formula import formula_value
from gemmviz.cuda.launch.host_code import scope
from gemmviz.cuda.launch.host_code.functions import called_function
from gemmviz.cuda.launch.host_code.launches import unit_outline
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.cuda.parser.unit import parse
from gemmviz.model.outline import ArgumentOutline, FileOutline, LaunchOutline

KERNEL = """
#define TILE 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
template <int T, class U = float> __global__ void tiled(const U* A, U* C, int n) {}
__global__ void plain(float* C, int n) {}
"""


def outline(host: str, **files: str) -> FileOutline:
    return unit_outline(parse(SourceText("main.cu", {"main.cu": KERNEL + host, **files})))


def launches(host: str) -> tuple[LaunchOutline, ...]:
    return outline(host).launches


def shape(launch: LaunchOutline, **names: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Grid and block with the values of the names, changed by ``names``."""
    values = {**launch.values, **names}
    grid, block = (tuple(formula_value(each, values) for each in axes) for axes in (launch.grid, launch.block))
    return grid, block


Launched = tuple[str, tuple[int, ...], tuple[int, ...]]  # statements of a function with n = 100, and their grid and block
EXTENTS: list[Launched] = [
    ("plain<<<(n + 15) / 16, 16>>>(C, n);", (7, 1, 1), (16, 1, 1)),
    ("plain<<<CEIL_DIV(n, TILE), TILE * TILE>>>(C, n);", (7, 1, 1), (256, 1, 1)),
    ("plain<<<ceil(n / 32.0), dim3(32, 2)>>>(C, n);", (4, 1, 1), (32, 2, 1)),
    ("plain<<<ceil((float)n / TILE), 1>>>(C, n);", (7, 1, 1), (1, 1, 1)),
    ("plain<<<ceil(n / 32), 1>>>(C, n);", (3, 1, 1), (1, 1, 1)),
    ("dim3 g(n, 2); dim3 b = g; plain<<<g, b>>>(C, n);", (100, 2, 1), (100, 2, 1)),
    ("dim3 g; g.x = n; g.z = 3; dim3 b{4, 5}; plain<<<g, b>>>(C, n);", (100, 1, 3), (4, 5, 1)),
    ("dim3 b(8, 4), g((n + b.x - 1) / b.x, n / b.y); plain<<<g, b>>>(C, n);", (13, 25, 1), (8, 4, 1)),
    ("dim3 b; b = dim3(2, 3); b.x = 9; plain<<<1, b>>>(C, n);", (1, 1, 1), (9, 3, 1)),
    ("const int w = n > 50 ? 8 : 4; plain<<<n >> 2, w>>>(C, n);", (25, 1, 1), (8, 1, 1)),
    ("auto up = [](int a, int b) { return (a + b - 1) / b; }; plain<<<up(n, 8), 8>>>(C, n);", (13, 1, 1), (8, 1, 1)),
    ("plain<<<min(n, 7), max(3, 5)>>>(C, n);", (7, 1, 1), (5, 1, 1)),
    ("enum { W = 6 }; static const int H = W * 2; plain<<<W, H>>>(C, n);", (6, 1, 1), (12, 1, 1)),
    ("plain<<<int(sqrt(n * 1.0)), sizeof(float)>>>(C, n);", (10, 1, 1), (4, 1, 1)),
    ("int t = 4; if (n > 5) { t = 8; plain<<<1, t>>>(C, n); }", (1, 1, 1), (8, 1, 1)),
    ("int t[] = {4, 8}; plain<<<1, t[1]>>>(C, n);", (1, 1, 1), (8, 1, 1)),
]


def each_alone(cases: list[Launched], before: str = "") -> list[LaunchOutline]:
    """The launch of each, in functions of one file."""
    functions = (f"void run{number}(float* C, int n) {{ {host} }}\n" for number, (host, _, _) in enumerate(cases))
    calls = (f"run{number}(0, 100);" for number in range(len(cases)))
    found = launches(f"{before}\n{''.join(functions)} int main() {{ {' '.join(calls)} }}")
    assert len(found) == len(cases)
    return list(found)


def test_extents() -> None:
    for launch, (host, grid, block) in zip(each_alone(EXTENTS), EXTENTS, strict=True):
        assert launch.unread == (), host
        assert shape(launch) == (grid, block), host


LAUNCHED: list[Launched] = [  # in the order of the launches in the file
    ("through(plain, dim3(3), dim3(4), C, n);", (3, 1, 1), (4, 1, 1)),
    ("int bs = 32; if (bs == 16) plain<<<n, 16>>>(C, n); else plain<<<n, bs>>>(C, n);", (100, 1, 1), (32, 1, 1)),
    ("int t = 8, bs = 32; if (bs == 16) t = 4; else if (bs == 32) t = 64; plain<<<n, t>>>(C, n);", (100, 1, 1), (64, 1, 1)),
    ("int m = 10; plain<<<max(max(m, n), 7), std::min({m, n, 12})>>>(C, n);", (100, 1, 1), (10, 1, 1)),
    ("int t = 8; t = 16; t = t * 2; t += 3; t--; plain<<<n, t>>>(C, n);", (100, 1, 1), (34, 1, 1)),
    ("int t = 4; int& r = t; r = 8; plain<<<n, t>>>(C, n);", (100, 1, 1), (8, 1, 1)),
    ("fill(n); plain<<<grid, block>>>(C, n);", (7, 3, 1), (16, 16, 1)),
    ("dim3 g, b; refer(g, &b, n); plain<<<g, b>>>(C, n);", (7, 3, 1), (16, 8, 1)),
    ("Config c = make(n); plain<<<c.g, c.b>>>(C, c.n);", (13, 1, 1), (16, 4, 1)),
    ("Config c; c.set(n); plain<<<c.g, c.b>>>(C, c.n);", (13, 1, 1), (16, 4, 1)),
    ("plain<<<(n + P::n - 1) / P::n, names::n>>>(C, n);", (7, 1, 1), (8, 1, 1)),
    ("for (int t = 8; t < 64; t *= 2) { plain<<<n, t>>>(C, n); }", (100, 1, 1), (8, 1, 1)),
    ("int a[] = {4, 8}; for (int i = 0; i < 2; i++) plain<<<n, a[i]>>>(C, n);", (100, 1, 1), (4, 1, 1)),
    ("int t; switch (n) { case 50: t = 8; break; case 99: case 100: t = 4; break; default: t = 1; } plain<<<n, t>>>(C, n);",
     (100, 1, 1), (4, 1, 1)),
    ("if (n > 200) { plain<<<n, 512>>>(C, n); return; } plain<<<n, pick(n)>>>(C, n);", (100, 1, 1), (64, 1, 1)),
    ("plain<<<ceil(n, 32), floor(n)>>>(C, n);", (4, 1, 1), (3, 1, 1)),
    ("int split_k = 4; plain<<<dim3(n / 10, 2, split_k), 32>>>(C, n);", (10, 2, 4), (32, 1, 1)),
    ("plain<<<divided(n, 32), 32>>>(C, n);", (4, 1, 1), (32, 1, 1)),
]  # fmt: skip


def test_what_main_launches() -> None:
    helpers = """
    struct P { static constexpr int n = 16; };
    namespace names { const int n = 8; }
    dim3 grid, block;
    void fill(int w) { block = dim3(16, 16); grid.x = (w + 15) / 16; grid.y = 3; }
    void refer(dim3& g, dim3* b, int w) { *b = dim3(16, 8); g = dim3((w + 15) / 16, 3); }
    struct Config { dim3 g, b; int n; void set(int w) { n = w; g = dim3((n + 7) / 8); b = dim3(16, 4); } };
    Config make(int w) { Config c; c.n = w; c.g = dim3((w + 7) / 8); c.b = dim3(16, 4); return c; }
    int pick(int n) { if (n > 50) return 64; return 32; }
    int ceil(int a, int b) { return (a + b - 1) / b; }
    int floor(int a) { return a / 30; }
    template <typename T> T divided(T a, T b) { return (a + b - 1) / b; }
    template <typename... A> void through(void (*k)(A...), dim3 g, dim3 b, A... a) { k<<<g, b>>>(a...); }
    """
    for launch, (host, grid, block) in zip(each_alone(LAUNCHED, helpers), LAUNCHED, strict=True):
        assert launch.unread == (), host
        assert shape(launch) == (grid, block), host
        assert launch.values[launch.arguments[1].formula] == 100, host


@pytest.mark.parametrize(
    ("host", "part", "words"),
    [
        (
            "int t = atoi(argv[1]); plain<<<n / t, t>>>(C, n);",
            "block",
            "t is known to the running program only; 256 is assumed",
        ),
        (
            "int t = 0, g; cudaOccupancyMaxPotentialBlockSize(&g, &t, plain, 0, 0); plain<<<n / t, t>>>(C, n);",
            "block",
            "256 is",
        ),
        ("int t = 32; while (t > n / 8) t /= 2; plain<<<n, dim3(t, t)>>>(C, n);", "block", "t is known to the running program"),
        ("int t = 8; if (ask()) t = 16; plain<<<n, t>>>(C, n);", "block", "t is set where ask() isn't known"),
        ("if (n > 500) plain<<<n, 32>>>(C, n);", "launch", "it isn't made: n > 500 is false"),
        ("return 0; plain<<<n, 32>>>(C, n);", "launch", "returns in front of it"),
        ("plain<<<n, dim3(ask(), 2)>>>(C, n);", "block", "ask() isn't known before the program runs"),
    ],
)
def test_what_is_uncertain_is_said(host: str, part: str, words: str) -> None:
    (launch,) = launches(f"int ask(); int main(int argc, char** argv) {{ float* C; int n = 100; {host} }}")
    assert [each.part for each in launch.unread] == [part]
    assert words in launch.unread[0].reason


def test_names_stay_so_that_sizes_can_change() -> None:
    (launch,) = launches("void run(float* C, int n) { plain<<<CEIL_DIV(n, TILE), TILE>>>(C, n); }")
    assert {each.name: (each.kind, each.value) for each in launch.names} == {"n": ("parameter", None), "TILE": ("macro", 16)}
    assert shape(launch, n=33, TILE=8) == ((5, 1, 1), (8, 1, 1))


@pytest.mark.parametrize(
    "declared",
    [
        "int n = argc > 1 ? atoi(argv[1]) : 48;",
        "int n = 48; if (argc > 1) n = atoi(argv[1]);",
        "int n; if (argc > 1) { n = atoi(argv[1]); } else { n = 48; }",
        "for (int n = 48; n < 1000; n *= 2)",
        "const int n = 48;",
        "constexpr size_t n = 3 * 16;",
    ],
)
def test_value_of_a_size(declared: str) -> None:
    (launch,) = launches(f"int main(int argc, char** argv) {{ float* C; {declared} plain<<<n, 1>>>(C, n); }}")
    assert launch.values == {"n": 48}
    assert launch.grid[0] == launch.arguments[1].formula == "n"


def test_template_function_is_read_for_each_call() -> None:
    host = """
    template <int T> void run(float* A, int n) { tiled<T><<<n / T, T>>>(A, A, n); }
    int main() { run<8>(0, 64); run<32>(0, 64); }
    """
    found = launches(host)
    assert [(each.template_arguments, shape(each)) for each in found] == [
        (("8",), ((8, 1, 1), (8, 1, 1))),
        (("32",), ((2, 1, 1), (32, 1, 1))),
    ]


def test_template_arguments() -> None:
    (launch,) = launches("void run(float* A, int n) { tiled<TILE><<<1, 1>>>(A, A, n); }")
    assert launch.template_arguments == ("TILE", "float")


def test_kernel_behind_a_pointer_is_followed_to_the_callers() -> None:
    host = """
    __global__ void other(float* C, int n) {}
    typedef void (*Kernel)(float*, int);
    void time_it(Kernel kernel, float* C, int n) { kernel<<<n, 1>>>(C, n); }
    int main() { time_it(plain, 0, 3); time_it(other, 0, 5); Kernel k = plain; k<<<7, 1>>>(0, 1); }
    """
    assert [(each.kernel, shape(each)[0][0]) for each in launches(host)] == [("plain", 3), ("other", 5), ("plain", 7)]


def test_cases_and_conditions() -> None:
    host = """void run(int t, float* C) {
      switch (t) { case 8: plain<<<t, t>>>(C, t); break; case 16: plain<<<t, t>>>(C, t); break; }
      if (t == 4) plain<<<t, 1>>>(C, t); else plain<<<9, 1>>>(C, t);
    }"""
    found = launches(host)
    assert [each.values.get("t") for each in found] == [8, 16, 4, None]


def test_launch_by_function_with_packed_arguments() -> None:
    host = """void run(float* C, int n, cudaStream_t s) {
      void* args[] = {&C, &n};
      cudaLaunchKernel((void*)plain, dim3(n, 2), dim3(8), args, 64, s);
      cudaLaunchCooperativeKernel((const void*)plain, dim3(n), dim3(4), args);
    }"""
    first, second = launches(host)
    assert (first.grid, first.block, first.shared_bytes, first.is_cooperative) == (
        ("n", "2", "1"),
        ("8", "1", "1"),
        "64",
        False,
    )
    assert [each.formula or each.buffer for each in first.arguments] == ["0", "n"]
    assert second.is_cooperative


def test_shared_memory_and_its_limit() -> None:
    host = """void run(float* C, int n) {
      size_t bytes = 2 * n * sizeof(float);
      cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304);
      plain<<<1, 1, bytes>>>(C, n);
    }"""
    (launch,) = launches(host)
    assert formula_value(launch.shared_bytes, {"n": 10}) == 80
    assert launch.allowed_shared_bytes == "98304"


def test_pointers_and_values() -> None:
    host = """void run(char* pool, int n) {
      float* part = (float*)pool + n;
      plain<<<1, 1>>>(part + 2, n + 1);
      plain<<<1, 1>>>(nullptr, -1);
    }"""
    first, second = launches(host)
    assert first.arguments[0].buffer == "pool"
    assert formula_value(first.arguments[0].formula, {"n": 5}) == 7
    assert [each.buffer for each in second.arguments] == ["", ""]
    assert formula_value(second.arguments[1].formula, {}) == -1


def test_struct_argument() -> None:
    host = """struct P { float* c; int n; float scale = 2.0f; };
    __global__ void takes(P p) {}
    void run(float* C, int n) { P p; p.c = C; p.n = n; takes<<<1, 1>>>(p); }"""
    (launch,) = launches(host)
    (argument,) = launch.arguments
    assert [(each.kind, each.buffer or each.formula) for each in argument.fields] == [
        ("pointer", "C"), ("value", "n"), ("value", "p_scale"),
    ]  # fmt: skip
    assert launch.values["p_scale"] == 2.0


def test_memory() -> None:
    host = """
    void run(const float* A, float* C, int m) { tiled<8><<<1, 1>>>(A, C, m); }
    int main() { int n = 64; float *dA, *dC, h[64]; cudaMalloc((void**)&dA, n * 2 * sizeof(float)); cudaMalloc(&dC, n * 4);
      cudaMemcpy(dA, h, n * 4, cudaMemcpyHostToDevice); cudaMemset(dC, 0, n * 4); run(dA, dC, n);
      cudaMemcpy(h, dC, n * 4, cudaMemcpyDeviceToHost); }
    """
    a, c = launches(host)[0].buffers
    assert (a.name, a.is_copied_in, a.is_copied_out, a.is_zeroed, a.element_bytes) == ("A", True, False, False, 4)
    assert (c.name, c.is_copied_in, c.is_copied_out, c.is_zeroed) == ("C", False, True, True)
    assert formula_value(a.bytes, {"m": 10}) == 80


def test_what_is_unread_has_a_reason_and_a_place() -> None:
    (launch,) = launches("dim3 chosen(); void run(float* C, int n) { plain<<<chosen(), 1>>>(C, n); }")
    assert not launch.is_read
    (unread,) = launch.unread
    assert (unread.part, unread.place.line) == ("grid", 6)
    assert "chosen()" in unread.reason


def test_kernels_of_included_files() -> None:
    header = "namespace ns { template <class T, int B = 4> __global__ void k(const T* __restrict__ a, T* b, unsigned n) {} }"
    found = unit_outline(
        parse(SourceText("main.cu", {"main.cu": '#include "k.cuh"\nvoid run(float* a) { ns::k<float><<<1, 2>>>(a, a, 3); }',
                                     "k.cuh": header}))
    )  # fmt: skip
    (kernel,) = found.kernels
    assert (kernel.name, kernel.file) == ("ns::k", "k.cuh")
    assert [(each.name, each.kind, each.default) for each in kernel.template_parameters] == [
        ("T", "type", ""), ("B", "value", "4"),
    ]  # fmt: skip
    assert [(each.name, each.is_pointer, each.is_const) for each in kernel.parameters] == [
        ("a", True, True), ("b", True, False), ("n", False, False),
    ]  # fmt: skip
    (launch,) = found.launches
    assert (launch.kernel, launch.file, launch.template_arguments) == ("ns::k", "main.cu", ("float", "4"))
    assert launch.arguments[2] == ArgumentOutline("3", "value", "3")


def test_setting_in_the_other_arm_does_not_count() -> None:
    host = "void run(float* C, int n) { int t = n / 25; if (n < 5) t = 2; else plain<<<1, t>>>(C, n); }"
    (launch,) = launches(host)
    assert shape(launch, n=200)[1] == (8, 1, 1)


def test_offset_counts_elements_of_the_parameter() -> None:
    (launch,) = launches("void run(char* pool, int n) { plain<<<1, 1>>>((float*)(pool + 4 * n), n); }")
    assert formula_value(launch.arguments[0].formula, {"n": 5}) == 5


def test_calls_are_looked_up_once_however_many_functions_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[Cursor] = []

    def counted(call: Cursor) -> Cursor | None:
        looked_up.append(call)
        return called_function(call)

    monkeypatch.setattr(scope, "called_function", counted)
    host = "".join(
        f"void run{n}(float* C, int n) {{ plain<<<n, 32>>>(C, n); }}\nvoid outer{n}(float* C) {{ run{n}(C, {n}); }}\n"
        for n in range(12)
    )
    assert len(launches(host)) == 12
    assert len(looked_up) == 12 * 7  # a launch is two calls and two constructors, whose arguments are read
