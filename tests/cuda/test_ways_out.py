"""Each refusal names its place, as line and column, and a way out that makes the kernel run."""

from typing import NamedTuple

import pytest

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import can_run, nearest_legal, setup_for
from gemmviz.cuda.program import program_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.messages import SourceError
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.executor import trace_kernel
from tests.conftest import sampled

_HEAD = (
    '// gemmviz = 1\n// entry = "copy"\n// args = ["in", "out", "n"]\n// block = ["8"]\n// grid = ["1"]\n'
    '// problem = { kind = "scale", n = 8 }\n'
)
_LEAST = 40


class Case(NamedTuple):
    """A body that is refused at ``^`` with a message, what its remedy names, and the body after that was done; ``before``: text
    in front of the kernel, and what becomes of it.
    """

    body: str
    message: str
    remedy: str
    cured: str
    before: tuple[str, str] = ("", "")


_F = "__device__ float f(float x, float y) { return x + y; }"
_P = "struct P { float x; };"
CASES = {
    "unknown name": Case("C[i] = ^summ;", "'summ' is not declared", "declare it", "float summ = A[i]; C[i] = summ;"),
    "misspelt type": Case("^flaot x = A[i]; C[i] = x;", "not a known type", "did you mean float", "float x = A[i]; C[i] = x;"),
    "no member": Case("P p; p.x = A[i]; C[i] = p.^y;", "P has no member y", "a member that it has", "P p; p.x = A[i]; C[i] = p.x;", (_P, _P)),
    "member of a pointer": Case("__shared__ P q[8]; P* p = q + i; p->x = A[i]; C[i] = p^.x;", "follow ->", "write ->", "__shared__ P q[8]; P* p = q + i; p->x = A[i]; C[i] = p->x;", (_P, _P)),
    "declared twice": Case("float x = A[i]; float ^x = 1; C[i] = x;", "declared twice", "rename", "float x = A[i]; float y = 1; C[i] = x * y;"),
    "const variable": Case("const float x = A[i]; x ^+= 0; C[i] = x;", "x is const", "leave out const", "float x = A[i]; x += 0; C[i] = x;"),
    "const element": Case("A[i] ^= 2; C[i] = A[i];", "const elements", "type of the pointer", "float* a = (float*)A; a[i] *= 1; C[i] = A[i];"),
    "not assignable": Case("(A[i] + 1) ^= 2; C[i] = A[i];", "can't be assigned", "a variable", "float x; x = 2; C[i] = A[i] * (x - 1);"),
    "fraction as an index": Case("float f = i; C[i] = A^[f];", "no integer", "int", "float f = i; C[i] = A[(int)f];"),
    "semicolon": Case("float x = A[i]^ C[i] = x;", "a ; is missing", "insert", "float x = A[i]; C[i] = x;"),
    "operand": Case("C[i] = A[i] + ^;", "an operand is missing", "delete the operator", "C[i] = A[i];"),
    "brace": Case("C[i] = A[i]; } ^}", "closes nothing", "delete it", "C[i] = A[i];"),
    "comment": Case("C[i] = A[i]; ^/* copy", "not closed", "*/", "C[i] = A[i]; /* copy */"),
    "host function": Case("C[i] = ^g(A[i]);", "g is a host function", "__device__", "C[i] = g(A[i]);", ("float g(float x) { return x; }", "__device__ float g(float x) { return x; }")),
    "host variable": Case("C[i] = A[i] * ^k;", "k is a host variable", "__constant__", "C[i] = A[i] * k;", ("float k = 1;", "__constant__ float k = 1;")),
    "too few arguments": Case("C[i] = ^f(A[i]);", "f takes 2 arguments, not 1", "as many", "C[i] = f(A[i], 0);", (_F, _F)),
    "too many arguments": Case("C[i] = ^f(A[i], 1, 2);", "f takes 2 arguments, not 3", "as many", "C[i] = f(A[i], 0);", (_F, _F)),
    "wrong arguments": Case("P p; C[i] = ^f(A[i], p);", "no f takes these", "types of its parameters", "P p; p.x = 0; C[i] = f(A[i], p.x);", (f"{_P}\n{_F}",) * 2),
    "ambiguous call": Case("long long x = 3; int y = ^max(x, 4); C[i] = A[i] * y / 4;", "several functions max", "one type", "long long x = 3; int y = max(x, 4LL); C[i] = A[i] * y / 4;"),
    "array of unknown size": Case("int n = N; float x^[n]; x[0] = A[i]; C[i] = x[0];", "must be known", "constant", "const int n = 8; float x[n]; x[0] = A[i]; C[i] = x[0];"),
    "array without size": Case("float ^x[]; C[i] = A[i];", "needs a size", "between the brackets", "float x[4]; C[i] = A[i];"),
    "too large a number": Case("C[i] = A[i] + ^99999999999999999999999 * 0;", "too many digits", "smaller", "C[i] = A[i] + 9 * 0;"),
    "too large an array": Case("^float x[100000000]; x[0] = A[i]; C[i] = x[0];", "at most", "smaller", "float x[100]; x[0] = A[i]; C[i] = x[0];"),
    "static_assert": Case('static_assert(^sizeof(int) == 8, "wide"); C[i] = A[i];', "static_assert fails", "for which it holds", 'static_assert(sizeof(int) == 4, "narrow"); C[i] = A[i];'),
    "no such operator": Case("P p; C[i] = A[i]; P q = p ^+ p;", "no such operator", "their members", "P p; p.x = 1; float q = p.x + p.x; C[i] = A[i] * q / 2;", (_P, _P)),
    "no conversion": Case("float* ^p = A[i]; C[i] = A[i];", "can't become", "change the type", "float p = A[i]; C[i] = p;"),
    "result of a kernel": Case("C[i] = A[i]; ^return 1;", "returns no value", "return;", "C[i] = A[i]; return;"),
    "goto": Case("^goto end; end: C[i] = A[i];", "goto", "a return", "if (true) C[i] = A[i];"),
    "new": Case("float* p = ^new float[4]; p[0] = A[i]; C[i] = p[0];", "new is not supported", "an array", "float p[4]; p[0] = A[i]; C[i] = p[0];"),
    "malloc": Case("float* p = (float*)^malloc(16); p[0] = A[i]; C[i] = p[0];", "malloc is not supported", "an array", "float p[4]; p[0] = A[i]; C[i] = p[0];"),
    "throw": Case("if (i < 0) ^throw 1; C[i] = A[i];", "throw can't be used", "leave it out", "if (i < 0) return; C[i] = A[i];"),
    "try": Case("^try { C[i] = A[i]; } catch (...) { }", "try can't be used", "no exceptions", "C[i] = A[i];"),
    "virtual function": Case("D d; C[i] = ^d.f(A[i]);", "f is virtual", "template parameter", "D d; C[i] = d.f(A[i]);", ("struct D { __device__ virtual float f(float x) { return x; } };", "struct D { __device__ float f(float x) { return x; } };")),
    "recursion": Case("C[i] = A[i] + f(3) * 0;", "f calls itself", "loop", "C[i] = A[i] + f(3) * 0;", ("__device__ int f(int n) { return n ? ^f(n - 1) : 0; }", "__device__ int f(int n) { while (n) --n; return n; }")),
    "kernel in a kernel": Case("^g(A, C, i);", "g", "", "g(A, C, i);", ("__global__ void g(const float* A, float* C, int i) { C[i] = A[i]; }", "__device__ void g(const float* A, float* C, int i) { C[i] = A[i]; }")),
    "unknown instruction": Case('^asm("frobnicate.b32 %0;" : "=f"(C[i])); C[i] = A[i];', "frobnicate.b32 is not supported", "CUDA C", "C[i] = A[i];"),
    "texture": Case("C[i] = tex1Dfetch<float>(^t, i);", "t is a host variable", "__constant__", "C[i] = t * A[i];", ("cudaTextureObject_t t;", "constexpr float t = 1;")),
    "case before the first": Case("switch (i) { ^int x; case 0: default: C[i] = A[i]; }", "the first case", "in front of", "int x; switch (i) { case 0: default: C[i] = A[i]; }"),
    "pointer that is not set": Case("const float* p; C[i] = ^p[i];", "before it is assigned", "assign it first", "const float* p = A; C[i] = p[i];"),
    "division by zero": Case("C[i] = A[i] + ^1 / 0;", "division by zero", "another number", "C[i] = A[i] + 1 / 2;"),
    "misspelt function": Case("C[i] = ^__shfly_sync(0xffu, A[i], i);", "'__shfly_sync' is not declared", "did you mean", "C[i] = __shfl_sync(0xffu, A[i], i);"),
    "missing header": Case("C[i] = ^twice(A[i]);", "'twice' is not declared", "twice.cuh", "C[i] = twice(A[i]);", ('#include "twice.cuh"', "__device__ float twice(float x) { return x; }")),
}  # fmt: skip


def text(body: str, before: str) -> str:
    return f"{_HEAD}{before}\n__global__ void copy(const float* A, float* C, int N)\n{{\n    int i = threadIdx.x;\n    {body}\n}}\n"


def test_enough_are_tried() -> None:
    assert len(CASES) >= _LEAST


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_refusal_names_its_place(case: Case) -> None:
    marked = text(case.body, case.before[0])
    at = marked.index("^")
    with pytest.raises(SourceError) as refused:
        program_for(parse_kernel(marked.replace("^", "", 1), "kernel.cu"), {})
    error = refused.value
    assert case.message in error.message
    assert error.place is not None
    assert (error.place.line, error.place.column) == (marked[:at].count("\n") + 1, at - marked.rfind("\n", 0, at))
    assert error.remedy
    assert case.remedy in error.remedy


@pytest.mark.parametrize("name", sampled(CASES, every=3))
def test_the_way_out_leads_there(name: str) -> None:
    case = CASES[name]
    assert trace_kernel(setup_for(parse_kernel(text(case.cured, case.before[1]), "kernel.cu"))).whole.check.passed


def test_a_brace_that_is_not_closed_is_named() -> None:
    with pytest.raises(SourceError, match=r"this \{ is not closed") as refused:
        trace_kernel(setup_for(parse_kernel(text("if (i) { C[i] = A[i];", ""), "kernel.cu")))
    assert refused.value.place is not None
    assert (refused.value.place.line, refused.value.place.column) == (9, 1)


def test_the_nearest_legal_setting_changes_the_least() -> None:
    """K by a third; the tile by a half, which would be legal, too."""
    setup = setup_for(load_kernel("05_tiled_unguarded"), Problem(8, 8, 12), {"TILE_WIDTH": 8})
    assert nearest_legal(setup) in ({"K": 8}, {"K": 16})
    assert can_run(setup.changed(TILE_WIDTH=4))
