"""The interpreter computes what C computes. Where gcc is installed, it is asked."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import kernel_from, left_in_c, sure, trace_of

GCC = shutil.which("gcc")
PAIRS = [(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 5), (2147483647, 2), (-2147483647, 3), (123456789, 987), (31, 3)]
INT_EXPRESSIONS = [
    "a + b", "a - b", "a * b", "a / b", "a % b", "a & b", "a | b", "a ^ b", "~a", "-a", "!a", "a << (b & 7)", "a >> (b & 7)",
    "a < b", "a >= b", "a == b", "(a > b) ? a : b", "a && b", "a || b", "(unsigned)a / (unsigned)b", "(unsigned)a % 7u",
    "(unsigned)a >> 3", "a < 3u", "(char)a", "(unsigned char)a", "(short)(a * b)", "(long long)a * b % 1000", "(int)(a * 0.5f)",
    "(int)((double)a / b)", "(size_t)a % 1000", "sizeof(float) + a", "(a, b)", "a + (b > 2) * 3", "(a << 1) - (b << 2)",
    "0x7fffffff + b", "07 + b", "1e1f + b", "-7 / 2 + b", "-7 % 2 + b", "(unsigned)-1 % 10", "a * a * a * a",
]  # fmt: skip


def interpreted() -> list[list[float]]:
    """Each expression for each pair, one a thread, cut to 16 bits so that float32 carries it exactly."""
    a = "".join(f"threadIdx.x == {i} ? {pair[0]} : " for i, pair in enumerate(PAIRS)) + "0"
    b = "".join(f"threadIdx.x == {i} ? {pair[1]} : " for i, pair in enumerate(PAIRS)) + "1"
    stores = (
        f"C[{at * len(PAIRS)} + threadIdx.x] = (float)((int)({each}) & 0xffff);\n" for at, each in enumerate(INT_EXPRESSIONS)
    )
    body, size = f"int a = {a}; int b = {b}; {''.join(stores)}", "// problem = { M = 32, N = 32, K = 32 }"
    found = left_in_c(kernel_from(body, block=f'["{len(PAIRS)}"]', parameters=size))
    numbers: list[list[float]] = found[: len(INT_EXPRESSIONS) * len(PAIRS)].reshape(-1, len(PAIRS)).tolist()
    return numbers


@pytest.mark.skipif(GCC is None, reason="needs gcc")
def test_integers_as_gcc_has_them(tmp_path: Path) -> None:
    rows = "".join(f'printf("%d ", (int)({expression}) & 0xffff);' for expression in INT_EXPRESSIONS)
    cases = "".join(f"run({a}, {b});" for a, b in PAIRS)
    source = tmp_path / "c.c"
    source.write_text(f'#include <stdio.h>\nvoid run(int a, int b) {{ {rows} puts(""); }}\nint main() {{ {cases} }}')
    subprocess.run([str(GCC), "-w", "-fwrapv", "-fsigned-char", "-o", str(tmp_path / "c"), str(source)], check=True)
    table = subprocess.run([str(tmp_path / "c")], capture_output=True, text=True, check=True).stdout.split("\n")
    expected = np.array([line.split() for line in table if line], float).T
    assert dict(zip(INT_EXPRESSIONS, interpreted(), strict=True)) == dict(zip(INT_EXPRESSIONS, expected.tolist(), strict=True))


STATEMENTS: list[tuple[str, Sequence[float]]] = [  # and what the four threads leave in C, where 0 is before
    ("int t = threadIdx.x; C[t] = t > 1 ? 10.0f : t;", [0, 1, 10, 10]),
    ("int t = threadIdx.x; C[t] = (t) + (2) * -1 + (t) * 3;", [-2, 2, 6, 10]),
    ("int t = threadIdx.x; float s = 0; for (int i = 0; i < t; ++i) s += i; C[t] = s;", [0, 0, 1, 3]),
    ("int t = threadIdx.x; float s = 0; for (int i = 0; ; ++i) { if (i > t) break; if (i == 1) continue; s += 1; } C[t] = s;", [1, 1, 2, 3]),
    ("int t = threadIdx.x; int i = 0; while (i * i < t * 3) i++; C[t] = i;", [0, 2, 3, 3]),
    ("int t = threadIdx.x; int i = 0; do { i += 2; } while (i < t); C[t] = i;", [2, 2, 2, 4]),
    ("int t = threadIdx.x; for (int i = 0; i < 3; ++i) { if (t == i) return; } C[t] = t;", [0, 0, 0, 3]),
    ("int t = threadIdx.x; int i = t; C[i++] = i; C[i + 4] = --i;", [0, 1, 2, 3, 0, 1, 2, 3]),
    ("int t = threadIdx.x; float a[4]; for (int i = 0; i < 4; ++i) a[i] = i * 10; C[t] = a[3 - t];", [30, 20, 10, 0]),
    ("int t = threadIdx.x; float a[2][2] = {{1, 2}, {3}}; C[t] = a[t / 2][t % 2];", [1, 2, 3, 0]),
    ("int t = threadIdx.x; int n = 0; for (int i = 0; i < 4; i++) { for (int j = 0; j < 4; j++) { if (j == t) break; n++; } if (i == t) break; } C[t] = n;", [0, 2, 6, 12]),
    ("int t = threadIdx.x; float4 v = make_float4(1, 2, 3, 4); v.y += t; v.w = v.x + v.y; C[t] = v.w;", [3, 4, 5, 6]),
    ("int t = threadIdx.x; C[t] = f(t) + f(3 - t);", [3, 4, 4, 3]),
    ("int t = threadIdx.x; int x = t; bump(x); C[t] = x;", [5, 6, 7, 8]),
    ("int t = threadIdx.x; float r[3] = {}; fill(r); C[t] = r[0] + r[2];", [2, 2, 2, 2]),
    ("int t = threadIdx.x; C[t] = ns::twice<int>(t) + ns::scaled<3>(t);", [0, 5, 10, 15]),
    ("int t = threadIdx.x; float x = 1.0f; x /= 3; x *= 3; C[t] = x == 1.0f;", [1, 1, 1, 1]),
    ("int t = threadIdx.x; C[t] = min(t, 2) + max(t, 2) + abs(-t) + (int)ceilf(t / 2.0f) + fmaf(t, 2.0f, 1.0f);", [3, 8, 12, 17]),
    ("int t = threadIdx.x; C[t] = __shfl_down_sync(0xffffffff, t, 1) + __shfl_sync(0xffffffff, t, 3) + __shfl_up_sync(~0u, t, 2, 4);", [4, 6, 6, 7]),
    ("int t = threadIdx.x; const float* p = A; p += 2; p++; C[t] = (p - A) + (&p[1] - p);", [4, 4, 4, 4]),
    ("__shared__ float s[2][2]; int t = threadIdx.x; (&s[0][0])[t] = t; float* p = s[1]; C[t] = p[t % 2];", [2, 3, 2, 3]),
    ("unsigned t = threadIdx.x; C[t] = t - 1 > 100u ? 1 : 0;", [1, 0, 0, 0]),
    ("int t = threadIdx.x; int i = 0, j = 9; for (i = 0, j = 9; i < j; ++i, --j); C[t] = i * 10 + j;", [54] * 4),
    ("int t = threadIdx.x; long long big = 3000000000LL; C[t] = big / 1000000000 + sizeof(double);", [11] * 4),
    ("int t = threadIdx.x; constexpr int n = W * 2; if constexpr (n > 4) C[t] = n; else C[t] = 0;", [6] * 4),
    ("int t = threadIdx.x; C[t] = (0xffffffff + t) / 1000000.0f > 1.0f;", [1, 0, 0, 0]),
    ("int t = threadIdx.x; C[t] = (4294967295 + t) / 1000000.0f > 1.0f;", [1, 1, 1, 1]),
    ("int t = threadIdx.x; C[t] = ID(t);", [0, 1, 2, 3]),
    ("int t = threadIdx.x; C[t] = leaves(t);", [1, 1, 7, 7]),
    ("int t = threadIdx.x; int r = 0; marks(t, r); C[t] = r;", [7, 7, 0, 0]),
    ("int t = threadIdx.x; int i = 0; if (t > 1 && ++i) {} int j = t > 2 ? i++ : 5; C[t] = i * 10 + j;", [5, 5, 15, 21]),
    ("int t = threadIdx.x; int i = 0; bool b = t > 1 || (i = 5); float r[2] = {}; b = t > 2 && r[1]++; C[t] = i + r[1];", [5, 5, 0, 1]),
    ("int t = threadIdx.x; const float* p = A; float w = t > 1 ? *p++ : 0.0f; C[t] = p - A;", [0, 0, 1, 1]),
    ("int t = threadIdx.x; float4 v; v.x = v.y = v.z = v.w = 2.0f; v.x += v.y = t; C[t] = v.x + v.y + v.z;", [4, 6, 8, 10]),
    ("int t = threadIdx.x; float4 v = {1, 2}, w = float4{1, 1, 1, 1}; v = v; C[t] = v.x + v.y + v.w + w.z + sizeof(float4);", [20] * 4),
    ("int t = threadIdx.x; float r[4]; memset(r, 0, sizeof(r)); r[t] += 3; C[t] = r[1] + r[2];", [0, 3, 3, 0]),
    ("int t = threadIdx.x, N4 = 4; C[t] = (t < N4 && t > -1) + (1<t && t>-2) + (t < 2 && 3 > (t));", [2, 2, 2, 2]),
    ("int t = threadIdx.x; const float *p = A, *e = A + 3; int n = 0; while (p != e) { ++p; ++n; } C[t] = n + (p > A) + ('b' - 'a');", [5] * 4),
    ("__shared__ float s[2][3][2]; int t = threadIdx.x; auto& m = s[1]; m[2][t % 2] = t; C[t] = row(s[1], t) + (t > 3);", [2, 3, 2, 3]),
    ("int t = threadIdx.x; float& c = C[t]; c = 4; c += t; assert(t < 9 && \"why\");", [4, 5, 6, 7, 4, 5, 6, 7][4:]),
    ("int t = threadIdx.x, i = 0; C[9999]; A[i++]; int z; z; (void)A[9999]; C[t] = (C[9999], i++, i);", [2] * 4),
    ("int t = threadIdx.x, i = 0; for (A[9999]; i < t; C[9999], i++); C[t] = i;", [0, 1, 2, 3]),
    ("int t = threadIdx.x; int a[2][2] = {1, {2}, 3}; C[t] = a[0][0] * 1000 + a[0][1] * 100 + a[1][0] * 10 + a[1][1];", [1230] * 4),
    ("int t = threadIdx.x; int a[][2] = {1, 2, 3}, b[2][2] = {{}, {4}}; C[t] = a[1][0] * 10 + sizeof(a) + b[1][0] + b[0][1];", [50] * 4),
    ("int t = threadIdx.x; float4 v[2] = {{1, 2}, make_float4(3, 4, 5, t)}; C[t] = v[0].y + v[0].z + v[1].w;", [2, 3, 4, 5]),
    ("int t = threadIdx.x; C[t] = k1 + k2 + k3 + (f)(2);", [3 + 4 + 5 + 2] * 4),
    ("using T = float; typedef int I; I t = threadIdx.x; T x = T(t) / 2; C[t] = x;", [0, 0.5, 1, 1.5]),
    ("int t = threadIdx.x; double d = 1.0; d /= 3; float s = d; C[t] = (float)d == s;", [1] * 4),
    ("int t = threadIdx.x; if (t == 2) return; C[t] = t;", [0, 1, 0, 3]),
]  # fmt: skip


def test_statements() -> None:
    """Each with elements of C of its own, in one kernel; those that end threads alone."""
    before = """#define ID(x) (x)
constexpr int W = 3;
const int k1{3}, k2(4), k3 = {5};
__device__ int f(int x) { if (x < 1) return 0; if (x > 2) return 3; return 2; }
__device__ void bump(int& x) { x += 5; }
__device__ int leaves(int x) { for (int i = 0; i < 2; i++) { if (x > 1) return 7; break; } return 1; }
__device__ void marks(int x, int& r) { for (int i = 0; i < 2; i++) { if (x > 1) return; } r = 7; }
__device__ float row(const float p[][2], int i) { return p[2][i % 2]; }
template <int N> __device__ void fill(float (&r)[N]) { for (int i = 0; i < N; ++i) r[i] = i; }
namespace ns { template <typename T> __device__ T twice(T x) { return x * 2; }
template <int K> __device__ int scaled(int x) { return K * x; } }"""
    size = "// problem = { M = 32, N = 32, K = 32 }"
    together = [each for each in STATEMENTS if "return;" not in each[0]]
    for group in (together, *([each] for each in STATEMENTS if each not in together)):
        parts = (f"{{ float* C = all + 16 * {number}; {body} }}" for number, (body, _) in enumerate(group))
        kernel = kernel_from("float* const all = C;\n" + "\n".join(parts), before=before, parameters=size)
        for row, (body, expected) in zip(left_in_c(kernel).reshape(-1, 16).tolist(), group, strict=False):
            assert row[: len(expected)] == pytest.approx(expected), body


def test_float32_rounds_at_every_step() -> None:
    trace = trace_of("03_coalesced", 3, 5, 70, BLOCK=4, values=True)
    values: dict[str, dict[int, float]] = {name: {} for name in "ABC"}
    for step in range(trace.steps):
        if not trace.site_of(step).operands:
            continue
        name = trace.arrays[trace.site_of(step).operands[0].array].name
        values[name] |= {int(e): v for e, v in zip(trace.element[step], sure(trace.value)[step], strict=True) if e >= 0}
    for element, value in values["C"].items():
        total = np.float32(0)
        for k in range(70):
            total += values["A"][element // 5 * 70 + k] * values["B"][k * 5 + element % 5]
        assert value == total


def test_inactive_arms_do_not_touch_memory() -> None:
    body = "int t = threadIdx.x; C[t] = (t < 2 && A[t * 6] < 9.0f) ? A[t] : (t < 3 || B[t * 1000] > 0) ? 1.0f : 2.0f;"
    from gemmviz.model.messages import KernelFault

    with pytest.raises(KernelFault, match=r"B\[3000\] is out of range.*thread \(3, 0, 0\)"):
        trace_of(kernel_from(body))
    assert trace_of(kernel_from(body.replace("B[t * 1000] > 0", "true"))).steps == 4  # one of them the branch


def test_phases_are_chosen_where_they_are_clear() -> None:
    from gemmviz.model.messages import SettingError

    before = "__device__ float sum(const float* p) { float s = 0; for (int k = 0; k < 4; ++k) s += p[k]; return s; }"
    spec = kernel_from("C[threadIdx.x] = sum(A) + sum(B);", before=before)
    with pytest.raises(SettingError, match="called several times"):
        trace_of(spec, phases="1")
    with pytest.raises(SettingError, match="has no phases"):
        trace_of(kernel_from("C[threadIdx.x] = A[0] + B[0];"), phases="1")
    with pytest.raises(SettingError, match="ends before phase 5"):
        trace_of("04_tiled", 8, 8, 8, phases="5")
    whole, some = trace_of("04_tiled", 8, 8, 16), trace_of("04_tiled", 8, 8, 16, phases="2-3")
    kept = ((whole.phase >= 1) & (whole.phase < 3)) | (whole.phase == 4)
    assert (some.element == whole.element[kept]).all()
    assert (some.epoch == whole.epoch[kept]).all()
