"""Names that the parser can't tell types from values by: read as a compiler reads them."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from gemmviz.cuda.program import program_for
from gemmviz.model.messages import SourceError
from tests.conftest import kernel_from, left_in_c

GXX = shutil.which("g++")
HOST = Path(__file__).parent.parent / "run" / "cuda_on_host.h"
BEFORE = """typedef short T; using U = unsigned long long;
namespace ns { const int v = 5; __device__ int nf(int x) { return x * 3 - 1; } typedef char V; }
const int W = 6;
__device__ int f(int x) { return x * 7 + 1; }
__device__ int f2(int x, int y) { return x * y - 3; }
template <int K> __device__ int g(int x) { return x * K + 2; }
template <typename X> __device__ X h(X x) { return x + 2; }
"""
VARIABLES = "int a = 13, b = -4, c = 7, d = 3, i = 1; float s = 1.5f, x = 2.25f; int q[4] = {5, 6, 7, 8}; int* p = q; "
EXPRESSIONS = [
    "(s * (float)(a)) * x", "(i * (int)(W))", "(a) - b", "(a) * b", "(a) & b", "(a) && b", "(a) + b", "(q[i]) - b",
    "(a * (b)) - c", "(a & (b)) * c", "(a && (b)) & c", "(f(b)) - c", "(f2(b, c)) * d", "(g<2>(b)) - c", "(g<W>(b)) & c",
    "(h<int>(b)) - c", "(h<T>(b)) * c", "sizeof(a) * b", "sizeof(float) * b", "sizeof(a) - (b)", "sizeof a * b", "(T)(x)",
    "(T)x", "(T)-x", "(T)(x) - b", "(T)-x * b", "(T)(a) * (b)", "(T)*p + 1", "-(T)(a) - b", "(U)-1 / 3", "(U)(a) - b",
    "(unsigned)(a) - b", "(float)(a) * b", "a < b && c > -1", "a < b && c > (d)", "(a)++", "-(a) * b", "!(a) & b",
    "~(a) & b", "(a * (b + 1)) - c", "(a * (q[1])) - c", "(a * (*p)) - c", "(ns::v) - 1", "(ns::v * (b)) - 1",
    "(ns::nf(x)) - 1", "(ns::V)-a", "g<W * (2)>(a)", "g<(W) - 1>(a)", "g<W>(a) - (b)", "(a * (T)(b)) + 1", "(a * (T)b) + 1",
    "((a) * (b)) - c", "(a + (b)) - c", "(a ? (b) - 1 : (c) - 2)", "(a) ? (b) : (c) - d", "static_cast<float>(a) * b",
    "static_cast<T>(a) < b && c > (d)", "(double)(a) - b", "unsigned(a) - b", "T(a) * b", "(a) + +b", "(a)-(-b)",
    "(a * (float)(b)) * (c * (int)(d))", "(a*(float)b)*s", "(a * - (b)) - c", "(a * (b) * (c)) - d", "(a&&(b)) - c",
    "threadIdx.x < W && c > (d)", "threadIdx.x < W && c > -1", "f2(a < b, c > (d))", "a < (b) && (c) > d",
    "(i) < (W) && (a) > (b)", "a<c>>(i)", "a < b || c >> (d)", "sizeof(T) * (a) + 1", "sizeof(T)*c", "sizeof(x)*(c)",
    "sizeof (a * (b)) - 1", "sizeof(a * (double)(b)) * 2", "sizeof(T*) * c", "sizeof(float4*) - (c)",
    "sizeof(unsigned long) * (c)", "a < b ? c > d : i", "(a < b) > (c)", "a < b == c > d", "(p[1]) * (p[2])", "*(p) + 1",
    "*(p + i) - (a)", "(*p) * (a)", "(p)[1] - 1", "(a)-1", "(a) -1", "(a)+1", "(((a)) - (b)) * (c)",
    "(((a * (b)) * (c)) - (d))", "((a * (b)) * (c)) - (d)", "(i == (a)) * b", "(a * (float)(b)) + (c * (float)(d))",
    "(int)((a * (float)(b)) * s)", "f((a) - b)", "f((a * (float)(b)) * s)", "q[(i) * 1]", "q[(i * (int)(1)) * 1]",
    "(W) - 1", "(W * (a)) - 1", "a = (b) - c", "a += (b) * c", "(i, (a) - b)", "i ? a : (b) - c", "(a) | b", "(a) ^ (b)",
    "(a) % b", "(a) / (b)", "(a) << (i)", "(a) == (b)", "(a % (c)) * b", "(unsigned char)(a) * b",
    "(unsigned char)-(a) * b", "(long long)-(a) * (b)", "(bool)(a) * b", "(const int)(x) * b", "(char)(a * (b)) - c",
    "(x * (s)) - (float)(a) * (b)", "- (a) - (b)", "! (a) - (b)", "(a > b) - (a < b)", "min((a) - b, (c) * d)",
    "(a) * (b) - (c) * (d)", "(max(a, b)) - c", "(fabsf(x)) - c", "(fmaf(x, s, x)) * s", "int(x) * (b)",
    "(x) > (s) ? (a) - b : (a) + b", "(uint)(a) * (b)", "(uint)-a", "(size_t)(a) - b", "(int8_t)-a", "(float)-a",
    "(float)+a", "(float)~a", "(float)!a", "(T)!a", "(T)~a", "(T)+a", "(T)sizeof(a)", "sizeof((T)a) * b", "sizeof (T)",
    "(T)(T)a", "(T)(unsigned char)(a) - b", "(unsigned char)(T)(a) - b", "(T)(a) & (b)", "(T)(f(a)) - b", "(f)(a) - b",
    "(U(a&&b)) & 31", "(T(a * b)) - c", "b - (U)+ a", "b * (T)- a + c", "sizeof(static_cast<long>(a * b))",
    "sizeof(h<T>(a & b)) * c", "(h<T>(a & b)) - c", "(h<unsigned long>(a & b)) + (b > c)", "(g<2>(a * (b))) - c",
    "(static_cast<T>(a) * (b)) - c", "(a < b > (c)) - d", "(f((a))) - b", "(f((T)(a))) - b", "((T)(a)) - b", "(T((a))) - b",
    "(h<bool>(true * W)) & 31", "(true * (a)) - b", "(h<int>(false & b)) - c",
]  # fmt: skip
STATEMENTS = [
    "a * (float)(b); C[0] = a;",
    "a * b; C[0] = a;",
    "float y(h<int>(a & b)); C[0] = y;",
    "float y(static_cast<bool>(a) & (b)); C[0] = y;",
    "float y(g<2>(a) * (b)); C[0] = y;",
    "int y(f(a)), z(a); C[0] = y * z;",
    "a & b; C[0] = a;",
    "a && b; C[0] = b;",
    "int y(a & sizeof(sizeof(T))); C[0] = y;",
    "float y(a); C[0] = y;",
    "float y(a * b); C[0] = y;",
    "float y(a * (float)(b)); C[0] = y * 2;",
    "int n(W); C[0] = n;",
    "int n(a), m(b); C[0] = n * m;",
    "float y((a) - b); C[0] = y;",
    "for (int k(i); k < 3; k++) C[0] = k;",
    "for (a * b; a < 20; a++) C[0] = a;",
    "int n(ns::v); C[0] = n;",
    "auto y = (a) - b; C[0] = y;",
    "float z[(W) * 2]; z[1] = (a) * 3; C[0] = z[1];",
    "float z[W * (2)]; z[11] = 3; C[0] = z[11];",
    "float z = {(a) - b}; C[0] = z;",
    "int y{(a) * b}; C[0] = y;",
    "T y(a); C[0] = y;",
    "U y = (a) - b; C[0] = y > 5;",
    "if ((a) - b) C[0] = 1;",
    "while ((a) - 20) a++; C[0] = a;",
    "if (a < 20 && c > (d)) C[0] = 5; else C[0] = 6;",
    "a < b > c; C[0] = 4;",
    "int W = 3; C[0] = (W) - 1;",
    "int T = 3; C[0] = (T) - 1 + (T * (a)) - 1;",
    "{ int T = 3; a += (T) * 2; } C[0] = (T)-a;",
    "C[0] = ((a) - b, (c) * d);",
    "float y = (T)(x); y -= (T)-x; C[0] = y;",
    "const T w(3); C[0] = (w) - 1;",
    "C[0] = (a) - b\n    * c;",
    "int y = (\n  a * (b)) - c; C[0] = y;",
    "int y = (T)\n   -a; C[0] = y;",
]
SHIM = "typedef unsigned uint; struct float4 { float x, y, z, w; }; static struct { unsigned x; } threadIdx;\n"
BODIES = [f"C[0] = (float)({expression});" for expression in EXPRESSIONS] + STATEMENTS


def left(body: str) -> float:
    return float(left_in_c(kernel_from(VARIABLES + body, before=BEFORE, block='["1"]'))[0])


@pytest.mark.nightly
@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_as_a_compiler_reads_them(tmp_path: Path) -> None:
    text = f'#include "{HOST}"\n#define __device__ static\n{SHIM}{BEFORE}'
    for number, body in enumerate(BODIES):
        text += f'extern "C" void run{number}(float* C) {{ {VARIABLES} {body} }}\n'
    (tmp_path / "names.cpp").write_text(text)
    library = tmp_path / "names.so"
    subprocess.run([str(GXX), "-w", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "names.cpp")], check=True)
    compiled = ctypes.CDLL(str(library))
    for number, body in enumerate(BODIES):
        wanted = (ctypes.c_float * 16)()
        getattr(compiled, f"run{number}")(wanted)
        assert left(body) == wanted[0], body


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("(s * (float)(a)) * x", 1.5 * 13 * 2.25),
        ("(i * (int)(W))", 6),
        ("(a * (b)) - c", 13 * -4 - 7),
        ("(h<unsigned>(a & 5)) - c", 0),
        ("int(*(q + 1)) - float(*p)", 1),
        ("(T)-x * b", 8),
        ("(T)(x) * b", -8),
        ("a < 20 && c > (d)", 1),
        ("threadIdx.x < W && c > (d)", 1),
        ("sizeof(T) * (a) - 1", 25),
        ("sizeof(a * (b)) - 1", 3),
        ("g<W * (2)>(a)", 13 * 12 + 2),
    ],
)
def test_expressions(expression: str, wanted: float) -> None:
    assert left(f"C[0] = {expression};") == wanted


def test_a_name_means_what_is_declared_last() -> None:
    assert left("{ int T = 3; a = (T) - a; } C[0] = a + (T)-a;") == -10 + 10
    assert left("int W = 2; C[0] = (W * (a)) - 1;") == 25


def test_many_in_each_other() -> None:
    body = "a"
    for _ in range(40):
        body = f"({body} * (i)) - (b - b)" if body != "a" else "(a * (i)) - (b - b)"
    assert left(f"C[0] = {body};") == 13


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("C[0] = (nothing) - 1;", "'nothing' is not declared"),
        ("C[0] = (nothing)1;", "'nothing' is not declared"),
        ("nothing * p = C;", "'nothing' is not a known type"),
        ("C[0] = (T) * 2;", "is not a pointer|indirection requires pointer"),
    ],
)
def test_names_that_nothing_declares(body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        program_for(kernel_from(body, before=BEFORE), {})


CONSTANTS = """template <class T, int i> constexpr unsigned both = sizeof(T) + 10u * i;
template <int i> constexpr unsigned one = 10u * i + 1u;
template <class T, int i> struct Traits { static constexpr unsigned value = sizeof(T) + 100u * i; enum { twice = 2 * i }; };
template <class T, int i> __device__ unsigned all_of()
{
    constexpr unsigned again = one<i + 1>;
    if constexpr (both<T, i> != 24u) return 0;
    return both<T, i> + 100 * one<i> + 10000 * Traits<T, i>::value + again + Traits<T, i>::twice + i;
}
"""


def test_constants_of_templates_have_the_value_of_their_arguments() -> None:
    found = left_in_c(kernel_from("C[0] = all_of<float, 2>();", before=CONSTANTS))
    assert found[0] == 24 + 100 * 21 + 10000 * 204 + 31 + 4 + 2
