"""Kernels that compute in half and bfloat16: CUDA's classes, their operators and pairs, read as numbers."""

import re
from typing import Any

import numpy as np
import pytest

from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.element_types import ELEMENT_TYPES
from tests.conftest import kernel_from, sampled
from tests.nvrtc import cuda_include, nvrtc
from tests.run.test_memory import run
from tests.run.test_twin_compiles import compile_twin

NAMES = {  # in half's code below: in that of bfloat16
    "half2": "__nv_bfloat162", "half": "__nv_bfloat16", "__float2half": "__float2bfloat16",
    "__half2float": "__bfloat162float", "make_half2": "make_bfloat162", "__floats2half2_rn": "__floats2bfloat162_rn",
    "__float2half2_rn": "__float2bfloat162_rn", "__half22float2": "__bfloat1622float2", "__half_raw": "__nv_bfloat16_raw",
    "__halves2half2": "__halves2bfloat162", "__half_as_ushort": "__bfloat16_as_ushort",
}  # fmt: skip
BODIES: dict[str, tuple[str, Any]] = {  # and the first four results, of A's first elements
    "conversions": ("float x = (float)A[t]; half h = x; C[t] = (half)(float(h) * 2.0f) + static_cast<half>(1);", lambda a: 2 * a + 1),
    "literals": ("half h = 0.0f, g(2.0), e{1.0f}, z = half(), y{}; h = 3.0f; C[t] = h + g + e + z + y;", lambda a: 6),
    "operators": ("half c = A[t] + half(1.0f); c -= half(3.f); c *= c; c = -c / half(2.0f); ++c; c--; C[t] = +c;",
                  lambda a: -((a - 2) ** 2) / 2),
    "comparisons": ("half a = A[t], one = 1.0f; if (a < one || a == one) a = one; C[t] = !(a <= one) ? a : half(7.f);",
                    lambda a: np.where(a <= 1, 7, a)),
    "mixed with float": ("float sum = 0; sum += A[t]; sum += (float)A[t]; sum = fmaf(A[t], 1.0f, sum); C[t] = sum;", lambda a: 3 * a),
    "a function's": ("C[t] = __hfma(A[t], A[t], __float2half(1.0f)); C[t] = __hadd(C[t], __hneg(A[t]));", lambda a: a * a + 1 - a),
    "pairs in memory": ("half2 v = reinterpret_cast<const half2*>(A)[t / 2]; half2* p = (half2*)C; p[t / 2] = __hfma2(v, v, v);",
                        lambda a: a * a + a),
    "pairs' operators": ("half2 v = *(half2*)(A + t / 2 * 2), w = v + v; w *= v; w -= __float2half2_rn(1.0f); w = -w;"
                         "((half2*)C)[t / 2] = w;", lambda a: 1 - 2 * a * a),
    "members": ("half2 v = make_half2(A[t], half(2.0f)); v.x += v.y; v.y = v.x; C[t] = v.y; half2 w = {v.x, v.y}, u(w.x, w.y);"
                "u.x *= w.y; C[t] = u.x;", lambda a: (a + 2) ** 2),
    "members in memory": ("half2* p = (half2*)C; if (t < 2) { p[t].x = A[2 * t]; p[t].y = ((half2*)A)[t].y; }", lambda a: a),
    "shared pairs": ("__shared__ half2 s[2]; if (t < 2) s[t] = ((half2*)A)[t]; __syncthreads(); C[t] = t % 2 ? s[t / 2].y : s[t / 2].x;",
                     lambda a: a),
    "arrays": ("half2 r[2] = {}; half q[4] = {half(1.f)}; r[1] = ((half2*)A)[t / 2]; r[0] += r[1]; q[3] += q[0];"
               "C[t] = (t % 2 ? r[0].y : r[0].x) + q[3];", lambda a: a + 1),
    "bytes of words": ("float4 w = *reinterpret_cast<const float4*>(A); half* h = reinterpret_cast<half*>(&w); C[t] = h[t];", lambda a: a),
    "bits": ("half a = A[t]; half2 v = __halves2half2(a, a); unsigned u = reinterpret_cast<unsigned&>(v);"
             "C[t] = half(__half_raw{(unsigned short)(u >> 16)});", lambda a: a),
    "a struct's members": ("struct P { half a, b; }; P p; p.a = A[t]; p.b = p.a; p.b += p.a; C[t] = p.b;", lambda a: 2 * a),
    "a union": ("union { float4 f; half h[8]; } u; u.f = *(const float4*)A; C[t] = u.h[t];", lambda a: a),
    "shuffles": ("half v = A[t]; v += __shfl_xor_sync(0xf, v, 1); half2 w = make_half2(v, v);"
                 "C[t] = __hadd2(w, __shfl_xor_sync(0xf, w, 2)).y;", lambda a: a.sum()),
    "atomics": ("if (t < 4) C[t] = 0.0f; __syncthreads(); atomicAdd(&C[t], A[t]); if (t < 2) atomicAdd((half2*)C + t, ((half2*)A)[t]);",
                lambda a: 2 * a),
    "conditions": ("half a = A[t]; if (a) C[t] = 1.0f; else C[t] = 2; if (!a) C[t] = half(3u);", lambda a: np.where(a == 0, 3, 1)),
    "read-only": ("C[t] = __ldg(A + t) + __ldg((const half2*)A + t / 2).x * half(0.f);", lambda a: a),
}  # fmt: skip


HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>"


def _body(code: str, kind: str) -> str:
    words = _words(code) if kind == "half" else [NAMES.get(each, each) for each in _words(code)]
    return f"const int t = threadIdx.x; {''.join(words)}"


@pytest.mark.parametrize("kind", ["half", "__nv_bfloat16"])
def test_code_of_halves(kind: str) -> None:
    """Each body with elements of C of its own, in one kernel."""
    parts = (f"{{ {kind}* C = all + 8 * {number}; {_body(code, kind)} }}" for number, (code, _) in enumerate(BODIES.values()))
    a, c = run(f"{kind}* const all = C;\n" + "\n".join(parts), f"{kind}*", before=HEADERS)
    element = ELEMENT_TYPES["float16" if kind == "half" else "bfloat16"]
    for number, (name, (_, wanted)) in enumerate(BODIES.items()):
        given, found = element.numbers(a[:4]), element.numbers(c[8 * number : 8 * number + 4])
        exact = np.broadcast_to(wanted(given), 4).astype(np.float64)
        assert np.isfinite(found).all(), name
        assert np.abs(found - exact).max() <= 8 * element.roundoff * (1 + np.abs(exact).max()), name
        assert np.abs(exact).max() > 0, name


def _words(code: str) -> list[str]:
    return re.findall(r"\w+|\W", code)


@pytest.mark.skipif(nvrtc() is None or cuda_include() is None, reason="needs the wheels of NVRTC and of CUDA's headers")
@pytest.mark.parametrize(("name", "kind"), sampled(((name, kind) for kind in ("half", "__nv_bfloat16") for name in BODIES), 27))
def test_twins_of_halves_compile(name: str, kind: str) -> None:
    assert compile_twin(setup_for(kernel_from(_body(BODIES[name][0], kind), pointer=f"{kind}*", before=HEADERS)))


@pytest.mark.parametrize("wide", ["longlong2", "ulonglong4", "long2", "uchar4", "ushort2", "double2"])
def test_vectors_of_every_type_have_their_size(wide: str) -> None:
    scalar = {"longlong2": "long long", "ulonglong4": "unsigned long long", "long2": "long"}.get(wide, "")
    body = f"{wide} v = ((const {wide}*)A)[threadIdx.x]; v.x = v.y; (({wide}*)C)[threadIdx.x] = v; {scalar and scalar + ' x = v.y;'}"
    a, c = run(body, "float*")
    count = int(wide[-1])
    size = np.dtype({"l": "u8", "d": "u8", "c": "u1", "s": "u2"}[wide.lstrip("u")[0]])
    vectors, copied = (each[: 4 * size.itemsize * count // 4].view(size).reshape(4, count) for each in (a, c))
    assert (copied[:, 1:] == vectors[:, 1:]).all()
    assert (copied[:, 0] == vectors[:, 1]).all()


def test_other_vectors_of_helpers_are_made() -> None:
    """An overload of CUDA's samples, which has a value for all components."""
    _, c = run("float4 v = make_float4(2.0f); C[threadIdx.x] = v.w;", before="#include <helper_math.h>")
    assert c[:4].tolist() == [2.0] * 4
