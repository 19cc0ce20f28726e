"""The closed subset of PTX: each instruction against its meaning, refusals, and a kernel in the style of public ones."""

from collections.abc import Callable

import numpy as np
import pytest

from gemmviz.cuda.ptx.registers import AsmInstruction, RegisterNames, instructions
from gemmviz.cuda.reader.assembly import asm_statements, asm_text
from gemmviz.model.messages import SourceError
from tests.run.warp_runs import Kinds, run

# The template with %0 = result, %1 = t, %2 = 3 in registers r, and what each thread t gets.
INTEGER: list[tuple[str, Callable[[int], int | None]]] = [
    ("add.u32 %0, %1, %2;", lambda t: t + 3),
    ("sub.s32 %0, %2, %1;", lambda t: 3 - t),
    ("mul.lo.u32 %0, %1, %2;", lambda t: 3 * t),
    ("mad.lo.s32 %0, %1, %2, 7;", lambda t: 3 * t + 7),
    ("shl.b32 %0, %1, 4;", lambda t: t << 4),
    ("shr.u32 %0, %1, 1;", lambda t: t >> 1),
    ("and.b32 %0, %1, 0x15;", lambda t: t & 0x15),
    ("or.b32 %0, %1, %2;", lambda t: t | 3),
    ("xor.b32 %0, %1, -1;", lambda t: ~t),
    ("not.b32 %0, %1;", lambda t: ~t),
    ("min.s32 %0, %1, %2;", lambda t: min(t, 3)),
    ("max.s32 %0, %1, %2;", lambda t: max(t, 3)),
    ("neg.s32 %0, %1;", lambda t: -t),
    ("mov.u32 %0, %%laneid;", lambda t: t % 32),
    ("mov.u32 %0, %%tid.x;", lambda t: t),
    ("mov.u32 %0, %%lanemask_lt;", lambda t: (1 << t % 32) - 1 if t % 32 < 20 else None),
    ("mov.u32 %0, %%lanemask_gt; and.b32 %0, %0, 0xffff;", lambda t: 0xFFFF & ~((2 << t % 32) - 1)),
    ("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, 5, 9, p; }", lambda t: 5 if t < 3 else 9),
    ("{ .reg .pred p, q; setp.ge.u32 p, %1, 9; mov.u32 %0, 1; @p mov.u32 %0, 2; @!p add.u32 %0, %0, %1; }",
     lambda t: 2 if t >= 9 else 1 + t),
    ("{ .reg .pred p<3>; setp.gt.s32 p0, %1, 5; setp.lt.s32 p1, %1, 9; and.pred p2, p0, p1; selp.b32 %0, 1, 0, p2; }",
     lambda t: int(5 < t < 9)),
    ("{ .reg .u64 wide; mul.wide.u32 wide, %1, %2; cvt.u32.u64 %0, wide; } // the low half", lambda t: 3 * t),
    ("{ .reg .b64 pair; mov.b64 pair, {%1, %2}; mov.b64 {%0, _x}, pair; }".replace("_x", "%2"), lambda t: t),
    ("{ .reg .f32 f; cvt.rn.f32.s32 f, %1; mul.f32 f, f, 0f40000000; cvt.rzi.s32.f32 %0, f; }", lambda t: 2 * t),
    ("/* first */ mov.u32 %0, %1;\n\tadd.u32 %0, %0, 1;", lambda t: t + 1),
    ("{ .reg .f32 f; cvt.rn.f32.u32 f, %1; fma.rn.f32 f, f, f, 0f3f800000; cvt.rni.s32.f32 %0, f; }", lambda t: t * t + 1),
]  # fmt: skip


def test_arithmetic() -> None:
    """Each with a row of C of its own, in one kernel."""
    body = "int t = threadIdx.x, three = 3;"
    for template, _ in INTEGER:
        quoted = template.replace("\n", "\\n").replace("\t", "\\t")
        body += f'\n{{ int r = 0; asm volatile("{quoted}" : "+r"(r) : "r"(t), "r"(three)); C[t] = r; C += 64; }}'
    for (template, expected), row in zip(INTEGER, run(body).reshape(-1, 64), strict=False):
        for t in range(64):
            wanted = expected(t)
            assert wanted is None or row[t] == wanted, (template, t)


MEMORY: list[tuple[str, Callable[[int], int]]] = [
    ('float v; asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(A + t)); C[t] = v;', lambda t: t),
    ('float v; asm volatile("ld.global.L1::no_allocate.b32 %0, [%1+8];" : "=f"(v) : "l"(A + t)); C[t] = v;', lambda t: t + 2),
    ('float4 v; asm("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(A + 4 * t)); '
     "C[t] = v.x + v.w;", lambda t: 8 * t + 3),
    ('asm volatile("st.global.cs.f32 [%0], %1;" :: "l"(C + t), "f"(2.0f * t) : "memory");', lambda t: 2 * t),
    ('unsigned a = __cvta_generic_to_shared(s); asm("st.shared.f32 [%0], %1;" :: "r"(a + 4 * t), "f"(1.0f * t)); __syncthreads(); '
     "C[t] = s[63 - t];", lambda t: 63 - t),
    ('unsigned a; asm("{ .reg .u64 g; cvta.to.shared.u64 g, %1; cvt.u32.u64 %0, g; }" : "=r"(a) : "l"(s)); s[t] = t; float v, w; '
     'asm("bar.sync 0;"); asm("ld.shared.v2.f32 {%0, %1}, [%2 + 8];" : "=f"(v), "=f"(w) : "r"(a)); C[t] = 10 * v + w;',
     lambda t: 23),
    ('asm("red.global.add.f32 [%0], %1;" :: "l"(C + 100), "f"(1.0f)); C[t] = t;', lambda t: t),
    ('size_t p = (size_t)A; p += 4 * t; float v; asm("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p)); C[t] = v;', lambda t: t),
    ('asm volatile("prefetch.global.L2 [%0];" :: "l"(A)); asm volatile("membar.gl;"); C[t] = 4;', lambda t: 4),
]  # fmt: skip


def test_memory() -> None:
    """Each with two rows of C and a tile of its own, in one kernel."""
    parts = (f"{{ __shared__ alignas(16) float s[64]; {body} C += 128; }}" for body, _ in MEMORY)
    found = run("int t = threadIdx.x;\n" + "\n".join(parts)).reshape(-1, 128)
    for (body, expected), row in zip(MEMORY, found, strict=False):
        assert row[:64].tolist() == [expected(t) for t in range(64)], body


REFUSED = [
    ("mma.sync.aligned.m16n8k8.row.col.f32 {%0}, {%0}, {%0}, {%0};", "the matrix instruction mma.sync.aligned.m16n8k8"),
    ("lop3.b32 %0, %0, %0, %0, 3;", r"the PTX instruction lop3.b32 is not supported"),
    ("mov.u32 %0, %%smid;", "the PTX operand %smid is not known"),
    ("add.sat.s32 %0, %0, %0;", "the PTX instruction add.sat.s32 is not supported"),
    ("add.u32 %0, %0, nowhere;", "the PTX operand nowhere is not known"),
    ("add.u32 %0;", "can't be read|is not supported"),
]


@pytest.mark.parametrize(("template", "message"), REFUSED)
def test_refusals_name_instruction_and_place(template: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as error:
        run(f'unsigned r = 0; asm volatile("{template}" : "+r"(r)); C[0] = r;')
    assert error.value.place is not None
    assert error.value.place.line == 3


def test_instructions_are_read() -> None:
    found = list(instructions("{ .reg .pred p<2>, q; @!p0 ld.global.v2.f32 {a, b}, [x + 4]; // no\n bar.sync 0; }"))
    assert found[0] == RegisterNames("pred", ("p0", "p1", "q"))
    assert found[1] == AsmInstruction(
        "@!p0 ld.global.v2.f32 {a, b}, [x + 4]", "ld", ("global", "v2", "f32"), ("{a, b}", "[x + 4]"), "p0", True
    )
    assert len(found) == 3


def test_texts_and_macros() -> None:
    text = asm_text(r"""asm volatile("a %0;\n" "b;" : "=r"(f("x:y")), [n] "+f"(x) :: "memory")""")
    assert (text.template, text.outputs, text.inputs, text.rest) == ("a %0;\nb;", ("=r", "+f"), (), "")
    source = (
        '#define WAIT(n) asm volatile("wait " #n ";\\n" ::)\n#define BOTH(x) do { WAIT(x); \\\n  asm("two;"); } while (0)\n'
    )
    assert [asm_text(each).template for each in asm_statements("BOTH(3)", [source])] == ["wait 3;\n", "two;"]


SGEMM = """
#define CP_ASYNC(dst, src, guard) asm volatile("{.reg .pred p;\\n" " setp.ne.b32 p, %2, 0;\\n" \\
    " @p cp.async.ca.shared.global.L2::128B [%0], [%1], 4;}\\n" :: "r"(dst), "l"(src), "r"((int)(guard)))
#define CP_COMMIT() asm volatile("cp.async.commit_group;\\n" ::)
#define CP_WAIT(n) asm volatile("cp.async.wait_group %0;\\n" :: "n"(n))
__device__ __forceinline__ unsigned shared_address(const void* p) {
  unsigned a;
  asm volatile("{.reg .u64 u64addr;\\n cvta.to.shared.u64 u64addr, %1;\\n cvt.u32.u64 %0, u64addr;}\\n" : "=r"(a) : "l"(p));
  return a;
}
__device__ __forceinline__ void load4(float (&v)[4], unsigned at) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\\n" : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(at));
}
__device__ __forceinline__ void store1(float v, float* p, bool guard) {
  asm volatile("{.reg .pred p;\\n setp.ne.b32 p, %2, 0;\\n @p st.global.f32 [%0], %1;}\\n" :: "l"(p), "f"(v), "r"((int)guard));
}"""
SGEMM_BODY = """
  constexpr int T = 16, KT = 8;  // a tile of T x T, 4 elements of a row a thread, two buffers
  __shared__ alignas(16) float As[2][KT][T], Bs[2][KT][T];
  const int t = threadIdx.x, row = t / 4, column = t % 4 * 4, tiles = K / KT;
  const int r0 = blockIdx.y * T, c0 = blockIdx.x * T;
  unsigned a = shared_address(&As[0][0][0]), b = shared_address(&Bs[0][0][0]);
  float sum[4] = {0, 0, 0, 0};
  for (int i = t; i < KT * T; i += 64) {
    CP_ASYNC(a + 4 * (i % KT * T + i / KT), A + (r0 + i / KT) * K + i % KT, r0 + i / KT < M);
    CP_ASYNC(b + 4 * i, B + (i / T) * N + c0 + i % T, c0 + i % T < N);
  }
  CP_COMMIT();
  for (int k = 0; k < tiles; ++k) {
    const unsigned now = (k & 1) * KT * T * 4, next = KT * T * 4 - now;
    CP_WAIT(0);
    asm volatile("bar.sync 0;");
    if (k + 1 < tiles)
      for (int i = t; i < KT * T; i += 64) {
        CP_ASYNC(a + next + 4 * (i % KT * T + i / KT), A + (r0 + i / KT) * K + (k + 1) * KT + i % KT, r0 + i / KT < M);
        CP_ASYNC(b + next + 4 * i, B + ((k + 1) * KT + i / T) * N + c0 + i % T, c0 + i % T < N);
      }
    CP_COMMIT();
#pragma unroll
    for (int q = 0; q < KT; ++q) {
      float x[4], y[4];
      load4(x, a + now + 4 * (q * T + row / 4 * 4));
      load4(y, b + now + 4 * (q * T + column));
#pragma unroll
      for (int j = 0; j < 4; ++j) sum[j] = fmaf(x[row % 4], y[j], sum[j]);
    }
  }
  for (int j = 0; j < 4; ++j) store1(sum[j], C + (r0 + row) * N + c0 + column + j, r0 + row < M && c0 + column + j < N);
"""


def test_a_multiplication_with_asynchronous_copies_in_ptx() -> None:
    sink = Kinds()
    found = run(SGEMM_BODY, before=SGEMM, block=64, sink=sink, size=48, grid=(3, 3)).reshape(48, 48)
    a = np.arange(48 * 48, dtype=np.float64).reshape(48, 48) % 7
    assert np.array_equal(found, a @ a)
    assert {sink.sites[site].kind for site in sink.runs} == {"copy", "wait", "barrier", "load", "store"}
