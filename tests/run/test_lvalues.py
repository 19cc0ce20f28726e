"""Assignments and references to what C++ chooses or computes first, and lambdas that keep copies."""

from pathlib import Path

import pytest

from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import trace_kernel
from tests.conftest import kernel_from
from tests.run.twin_on_host import GXX, HostTwins, assert_same
from tests.run.warp_runs import run

BEFORE = """struct P { int a, b; };
__constant__ double Z1 = -0.0; const double Z2 = static_cast<double>(- 0.0);
template <typename T> __device__ void put(T& a, T v) { a = v; }
__device__ void grow(int& a, int v) { a += v; }
template <class F> __device__ int applied(F f) { return f(3); }
"""
START = "int t = threadIdx.x, x = t * 3, y = 7; int l[4] = {1, 2, 3, 4}; "
CASES = {  # statements, and what thread 1 and thread 2 leave in C; x is 3 and 6 there, y is 7
    "float4 r[2]; put(r[0].x, 5.0f); put(r[1].y, (float)t); C[t] = r[0].x + r[1].y;": (6, 7),
    "float4 r[2]; float& a = r[0].z; a = t; C[t] = r[0].z;": (1, 2),
    "int z = t; int& a = z & 1 ? x : y; z = 5; a = 100; C[t] = x;": (100, 6),
    "put(t & 1 ? x : y, 100); C[t] = x + y;": (107, 106),
    "grow((y++, x), 100); C[t] = x + 1000 * y;": (8103, 8106),
    "put((y++, l[2]), 100); C[t] = l[2] + y;": (108, 108),
    "put(t & 1 ? l[2] : l[3], 100); C[t] = l[2] * 10 + l[3];": (1004, 130),
    "put(t & 1 ? l[2] : x, 100); C[t] = l[2] + x;": (103, 103),
    "(t & 1 ? x : y) += y; C[t] = x + 100 * y;": (710, 1406),
    "(t & 1 ? x : y)++; int z = ++(t & 2 ? x : y); C[t] = x + 100 * y + 10000 * z;": (80804, 70807),
    "(y++, l[2]) = y; C[t] = l[2] + 100 * y;": (807, 807),
    "(y++, x) = y; C[t] = x + 100 * y;": (807, 807),
    "(t & 1 ? C[t] : C[t + 16]) = 5; C[t] += t;": (6, 2),
    "__shared__ float s[64]; s[t] = 3; (t & 1 ? s[t] : C[t]) = 5; C[t] += s[t];": (5, 8),
    "(x = 5) = 7; (y += 5) *= 2; C[t] = x + 100 * y;": (2407, 2407),
    "++(++x); (--y) = 4; C[t] = x + 100 * y;": (405, 408),
    "(l[t & 3] = 5) += 7; C[t] = l[1] + 100 * l[2];": (312, 1202),
    "auto f = [=](int h) { return x; }; x >>= 1; int g = f(0); C[t] = x + 100 * g;": (301, 603),
    "auto f = [=]() { return l[t & 3]; }; l[1] = 50; l[2] = 60; C[t] = f();": (2, 3),
    "P p{1, t}; auto f = [=]() { return p.a + p.b; }; p.a = 100; C[t] = f();": (2, 3),
    "P p{1, t}; P* q = &p; auto f = [=]() { return p.a + p.b; }; q->a = 100; C[t] = f();": (2, 3),
    "int* q = &x; auto f = [=]() { return x; }; *q = 77; C[t] = f();": (3, 6),
    "int& r = l[1]; auto f = [=]() { return r; }; r = 9; C[t] = f();": (2, 2),
    "__shared__ int s; s = 4; auto f = [=]() { return s; }; __syncthreads(); s = 7; C[t] = f();": (7, 7),
    "auto f = [=](int h) { return x + h; }; auto g = f; x = 0; C[t] = g(1) + applied(f) + x;": (10, 16),
    "auto f = [x]() mutable { return ++x; }; f(); C[t] = f() * 10 + x;": (53, 86),
    "auto f = [&]() { return ++x; }; f(); C[t] = x;": (4, 7),
    "auto&& v = (grow(x, 1), x + 1); C[t] = v * 100 + v + x;": (509, 815),
    "float q = (C[t] = t); if (q > 1) C[t] = 9;": (1, 9),
    "C[t] = (__double_as_longlong(Z1) < 0) + 10 * (__double_as_longlong(Z2) < 0);": (11, 11),
}  # fmt: skip


def test_lvalues_and_captures() -> None:
    """Each case with elements of C of its own, in one kernel."""
    parts = (f"{{ float* C = all + 64 * {number}; {START} {body} }}" for number, body in enumerate(CASES))
    found = run("float* const all = C;\n" + "\n".join(parts), before=BEFORE).reshape(-1, 64)
    assert {body: tuple(found[number, 1:3].tolist()) for number, body in enumerate(CASES)} == CASES


def twin_jobs(every: int) -> list[Setup]:
    bodies = [body for body in CASES if "sync" not in body and "double" not in body][::every]
    return [setup_for(kernel_from(START + body, before=BEFORE)) for body in bodies]


@pytest.mark.nightly
@pytest.mark.skipif(GXX is None, reason="needs g++")
def test_the_twin_of_lvalues_and_captures(tmp_path: Path) -> None:
    jobs = twin_jobs(1)
    twins = HostTwins(jobs, tmp_path)
    for number, setup in enumerate(jobs):
        assert_same(twins.run(number), trace_kernel(setup).whole)
