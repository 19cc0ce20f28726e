"""Structs, unions, pointers and statements of C++ give what a compiler gives."""

import pytest

from gemmviz.model.messages import SourceError
from tests.conftest import kernel_from, left_in_c

PAIR = "struct P { int x; float y; };"
CASES = {
    "struct in memory": (PAIR, "P p = {3, 2.5f}; P* q = &p; C[0] = q->x + q->y;", 5.5),
    "copy to memory": (PAIR, "P o = {3, 2.5f}; P p = o; P* q = &p; C[0] = q->x + q->y;", 5.5),
    "array of structs": (PAIR, "P p[3] = {{1, 2.f}, {3, 4.f}}; C[0] = p[1].x + p[1].y + p[2].x;", 7),
    "named members": (PAIR, "P p = {.y = 4}; C[0] = p.x + p.y;", 4),
    "members with values": ("struct P { int x = 7; float y; };", "P p[3]; p[1].y = 1; C[0] = p[1].x + p[1].y;", 8),
    "constructors": ("struct P { int x; __device__ P(int a = 5) : x(a) {} };", "P p[3]; C[0] = p[1].x + p[2].x;", 10),
    "array in a struct": ("struct P { int x[2][2]; int y; };", "P p = {1, 2, 3, 4, 5}; C[0] = p.x[1][0] * 10 + p.y;", 35),
    "union by value": (
        "union U { float f; int i; }; __device__ U of(float f) { U u; u.f = f; return u; } __device__ int bits(U u) { return u.i; }",
        "C[0] = bits(of(1.0f)) == 0x3f800000;",
        1,
    ),
    "anonymous union": (
        "struct S { union { float4 v; float a[4]; }; int n; };",
        "S s; s.v = make_float4(1, 2, 3, 4); s.n = 5; S t; t = s; C[0] = t.a[2] + t.n;",
        8,
    ),
    "copy of a struct without all values": (
        PAIR + "__device__ P of(int i) { P p; p.y = i; return p; }",
        "P p = of(3); C[0] = p.y;",
        3,
    ),
    "choice of structs": (PAIR, "P a = {1, 2.f}, b = {3, 4.f}; P c = threadIdx.x > 1 ? a : b; C[0] = c.x + c.y;", 3),
    "reference to a pointer": (
        "__device__ void next(const float*& p) { p += 1; }",
        "const float* p = A; next(p); C[0] = p == A + 1;",
        1,
    ),
    "null pointer": (
        "__device__ float f(const float* bias) { float s = 1; if (bias) s += bias[0]; return s; }",
        "const float* p = nullptr; if (p) C[1] = p[0]; C[0] = f(nullptr);",
        1,
    ),
    "shared or global": (
        "",
        "__shared__ float s[4]; s[threadIdx.x] = 5; __syncthreads(); C[threadIdx.x] = 1; float* p = C;"
        " if (threadIdx.x > 1) p = s; *p += 0; if (threadIdx.x == 3) C[0] = *p;",
        5,
    ),
    "while with a declaration": ("", "int n = 3; float s = 0; while (int k = n--) s += k; C[0] = s;", 6),
    "for with a declaration": (
        "",
        "float s = 0; for (int i = 0; int k = 3 - i; ++i) { if (k == 2) continue; s += k; } C[0] = s;",
        4,
    ),
    "switch": (
        "__device__ float f(int x) { switch (x) { case 0: if (K0 > 1) break; return 3; case 1: { if (x > 5) return 7; break; } "
        "default: return 5; } return 6; }",
        "float s = f(0); for (int i = 0; i < 4; ++i) { switch (i) { case 0: if (K == 4) break; s += 1; continue; case 1: s += 10;"
        " break; default: if (i == 3) continue; s += 100; } s += 1000; } C[0] = s;",
        2114,
    ),
    "list in braces": ("", "float s = 0; for (int i : {1, 2, 3}) s += i; C[0] = s;", 6),
    "std::array": (
        "#include <array>",
        "std::array<float, 3> a = {1, 2, 3}; float s = 0; for (float x : a) s += x; C[0] = s;",
        6,
    ),
    "bindings of an array": ("", "int a[2] = {3, 4}; auto [x, y] = a; auto& [u, v] = a; v = 9; C[0] = x + y + a[1];", 16),
    "bindings of a struct": (PAIR + "__device__ P of(int i) { return {i, 2.f}; }", "auto [x, y] = of(3); C[0] = x + y;", 5),
    "a template parameter B": ("template <int B> __device__ float g(int i) { return B * i; }", "C[0] = g<3>(4);", 12),
    "file scope": ("__device__ int table[4] = {1, 2, 3, 4};", "C[0] = table[2];", 3),
}


def test_as_a_compiler_has_it() -> None:
    """Each case in a namespace and with elements of C of its own, in one kernel."""
    text, calls = "#include <array>\n#define K0 1\n", ""
    parameters = "const float* A, const float* B, float* C, int M, int N, int K"
    for number, (before, body, _) in enumerate(CASES.values()):
        declared = before.replace("#include <array>", "")
        text += f"namespace case{number} {{ {declared}\n__device__ void run({parameters}) {{ {body} }} }}\n"
        calls += f"case{number}::run(A, B, C + 4 * {number}, M, N, K); __syncthreads();\n"
    kernel = kernel_from(calls, before=text, parameters="// problem = { M = 32, N = 32, K = 32 }")
    found = left_in_c(kernel).reshape(-1, 4)
    assert {name: found[number, 0] for number, name in enumerate(CASES)} == {name: each[2] for name, each in CASES.items()}


@pytest.mark.parametrize(
    ("before", "body", "message"),
    [
        ("", "again: C[0] = 1; goto again;", "goto is not supported"),
        ("struct P { unsigned a : 4; };", "P p{3}; C[0] = p.a;", "the bit field a"),
        ("", "const float* two[2] = {A, B}; C[0] = *two[1];", "pointers in memory"),
    ],
)
def test_refused_in_plain_words(before: str, body: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as refused:
        left_in_c(kernel_from(body, before=before))
    assert refused.value.place is not None
