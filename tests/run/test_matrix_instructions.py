"""Instructions of whole warps on matrices: mma, ldmatrix, stmatrix and wmma, against what an H100 computed and counted."""

import json
from functools import cache

import numpy as np
import pytest

from gemmviz.analysis.costs import wavefronts
from gemmviz.analysis.counts import count_steps, totals
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.types import MATRIX_INSTRUCTIONS
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.arrays import BITS, fragment_of
from gemmviz.model.device import MemoryRules
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import GemmvizError
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.simt import matrix
from gemmviz.scenes.kit.sentence import cost
from tests.conftest import DATA, kernel_from, left_in_c, outcome_of, sampled, sure, trace_of

PRODUCTS = np.load(DATA / "h100-matrix-products.npz")
FRAGMENTS = json.loads((DATA / "h100-wmma-fragments.json").read_text())["fragments"]
ACCESSES = json.loads((DATA / "h100-matrix-wavefronts.json").read_text())["accesses"]
CASES = sorted({name.rpartition("/")[0] for name in PRODUCTS.files if "/" in name})


# What the hardware computes and counts


def test_products_are_those_of_the_hardware_bit_for_bit() -> None:
    assert len(CASES) == 60
    for case in CASES:
        instruction = MATRIX_INSTRUCTIONS[case.partition("/")[0]]
        dtypes = [np.uint32, np.uint32, instruction.result.scalar.dtype, instruction.result.scalar.dtype]
        a, b, c, d = (
            [np.ascontiguousarray(each) for each in np.moveaxis(PRODUCTS[f"{case}/{name}"].view(dtype)[:, None], -1, 0)]
            for name, dtype in zip("ABCD", dtypes, strict=True)
        )
        assert tuple(map(len, (a, b, c))) == instruction.registers
        with np.errstate(all="ignore"):
            found = matrix.product(instruction, a, b, c)
        for ours, theirs in zip(found, d, strict=True):
            assert np.array_equal(ours.view(np.uint32), theirs.view(np.uint32)), case


def test_lanes_hold_the_elements_that_another_program_says() -> None:
    """facebookresearch/tensor-layouts has them from CUTLASS, for compute capabilities 7.5 and 8.0."""
    atoms = pytest.importorskip("tensor_layouts.atoms_nv")
    known = {each.ptx: each for each in MATRIX_INSTRUCTIONS.values()}
    theirs_too = (each for each in vars(atoms).values() if getattr(each, "ptx", "") in known)
    pairs = [(atom, known[atom.ptx]) for atom in theirs_too]
    assert {each.k for _, each in pairs} == {4, 8, 16, 32}
    for atom, each in pairs:
        packed = {"a": BITS[each.a], "b": BITS[each.b], "c": 32}
        for use, layout, rows in (("a", atom.a_layout, 16), ("b", atom.b_layout, 8), ("c", atom.c_layout, 16)):
            own = fragment_of(use, each.k, packed[use])  # type: ignore[arg-type]
            outer, along = (own.column, own.row) if use == "b" else (own.row, own.column)
            lanes, elements = own.row.shape
            theirs = [[layout(lane, element) for element in range(elements)] for lane in range(lanes)]
            assert np.array_equal(theirs, outer + rows * along), (atom.name, use)


def test_products_of_numbers_that_are_not_finite_follow_the_rules_of_ieee() -> None:
    instruction = MATRIX_INSTRUCTIONS["mma_m16n8k8_f32_tf32_tf32"]
    a, b, c = (np.zeros((count, 1, 1, 32), kind) for count, kind in ((4, np.uint32), (2, np.uint32), (4, np.float32)))
    a[0], b[0] = np.float32(np.inf).view(np.uint32), np.float32(1).view(np.uint32)
    c[1, 0, 0, 4] = np.nan
    d = matrix.product(instruction, list(a), list(b), list(c))
    assert np.isposinf(d[0]).all()
    assert np.isnan(d[1][0, 0, 4])
    assert np.isposinf(d[1][0, 0, 5])
    assert not d[2].any()
    assert not np.signbit(d[2]).any()


@pytest.mark.parametrize("op", ["ld", "st"])
def test_each_matrix_is_one_request_for_its_rows(op: str) -> None:
    chosen = [access for access in ACCESSES if access["op"] == op]
    assert len(chosen) > 130
    for access in chosen:
        rows = np.array(access["words"]).reshape(access["count"], 8)
        words = (rows[:, :, None] + np.arange(4)).reshape(access["count"], 32)
        assert wavefronts(words, 1, op == "ld", MemoryRules())[0].sum() == access["wavefronts"], access["pattern"]


# wmma

STORED = {"half": "half", "wmma::precision::tf32": "float", "signed char": "signed char", "unsigned char": "unsigned char"}


def wmma_kernel(shape: tuple[int, int, int], kind: str, result: str, left: str = "row", right: str = "row") -> KernelSpec:
    """A kernel of one warp for each tile of C."""
    (m, n, k), stored = shape, STORED.get(kind, kind)
    columns = [name for name, order in (("A", left), ("B", right)) if order == "col"]
    of_a = f"blockIdx.y * {m} * K + k, K" if left == "row" else f"k * M + blockIdx.y * {m}, M"
    of_b = f"k * N + blockIdx.x * {n}, N" if right == "row" else f"blockIdx.x * {n} * K + k, K"
    text = f"""// gemmviz = 1
// entry = "tile"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["32"]
// grid = ["N / {n}", "M / {m}"]
// column_major = {json.dumps(columns)}
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
__global__ void tile(const {stored}* A, const {stored}* B, {result}* C, int M, int N, int K)
{{
    wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {kind}, wmma::{left}_major> a;
    wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {kind}, wmma::{right}_major> b;
    wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {result}> c;
    wmma::fill_fragment(c, ({result})0);
    for (int k = 0; k < K; k += {k}) {{
        wmma::load_matrix_sync(a, A + {of_a});
        wmma::load_matrix_sync(b, B + {of_b});
        wmma::mma_sync(c, a, b, c);
    }}
    wmma::store_matrix_sync(C + blockIdx.y * {m} * N + blockIdx.x * {n}, c, N, wmma::mem_row_major);
}}
"""
    return parse_kernel(text, "tile.cu")


SHAPES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
KINDS = [("half", "float"), ("half", "half"), ("__nv_bfloat16", "float"), ("signed char", "int"), ("unsigned char", "int")]
TILES = [(shape, kind, result) for shape in SHAPES for kind, result in KINDS]
TILES.append(((16, 16, 8), "wmma::precision::tf32", "float"))


@pytest.mark.parametrize(
    ("shape", "kind", "result", "side"), sampled([(*tile, side) for tile in TILES for side in ("row", "col")], every=33)
)
def test_wmma_is_right(shape: tuple[int, int, int], kind: str, result: str, side: str) -> None:
    trace = trace_of(wmma_kernel(shape, kind, result, side, side), 32, 32, 32)
    assert trace.check.passed, str(trace.check)
    assert trace.check.is_checked


@pytest.mark.parametrize(("shape", "kind", "result"), sampled(TILES, 6))
def test_lanes_hold_the_elements_that_they_hold_on_the_hardware(shape: tuple[int, int, int], kind: str, result: str) -> None:
    m, n, k = shape
    trace = trace_of(wmma_kernel(shape, kind, result, right="col"), m, n, k)
    assert trace.check.passed, str(trace.check)
    for use, name, access in (("a", "A", "read"), ("b", "B", "read"), ("c", "C", "write")):
        recorded = next(
            each for each in FRAGMENTS
            if (each["use"], tuple(each["shape"]), each["type"]) == (use, shape, result if use == "c" else kind)
        )  # fmt: skip
        number = sure(trace.number_of(name))
        touches = sorted(trace.touches_of(number, access), key=lambda each: int(each.rows[0]))  # type: ignore[arg-type]
        elements = np.concatenate(
            [each.operand.layout.spread(trace.element[row], None) for each in touches for row in each.rows], axis=1
        )
        row, column = trace.arrays[number].row_column(elements)
        assert np.array_equal(row, np.array(recorded["row"])[:, : row.shape[1]])
        assert np.array_equal(column, np.array(recorded["column"])[:, : row.shape[1]])


def test_lanes_load_a_transposed_matrix_in_the_order_of_memory() -> None:
    """As the hardware does, which then exchanges elements between lanes: 4 requests of 8 rows of 16 bytes."""
    trace = trace_of(wmma_kernel((16, 16, 16), "half", "float"), 16, 16, 16)
    loads = trace.touches_of(sure(trace.number_of("B")), "read")
    assert [each.operand.width for each in loads] == [2] * 4
    counts = totals(count_steps(trace, range(trace.steps)))
    assert (counts["global_load_requests"], counts["global_load_sectors"]) == (8, 64)
    assert (counts["global_store_requests"], counts["global_store_sectors"]) == (4, 32)


# PTX

MMA = """// gemmviz = 1
// entry = "tile"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["32"]
// grid = ["N / 8", "M / 16"]
#include <cuda_fp16.h>
__device__ unsigned in_shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__global__ void tile(const half* A, const half* B, half* C, int M, int N, int K)
{
    __shared__ half As[16][PITCH];
    __shared__ half Bs[16][8];
    __shared__ half Cs[16][8];
    int row = blockIdx.y * 16, col = blockIdx.x * 8, lane = threadIdx.x;
    unsigned c[2] = {0u, 0u};
    for (int k = 0; k < K; k += 16) {
        for (int i = lane; i < 256; i += 32) As[i / 16][i % 16] = A[(row + i / 16) * K + k + i % 16];
        for (int i = lane; i < 128; i += 32) Bs[i / 8][i % 8] = B[(k + i / 8) * N + col + i % 8];
        __syncthreads();
        unsigned a[4], b[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(in_shared(&As[lane % 16][lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
            : "=r"(b[0]), "=r"(b[1]) : "r"(in_shared(&Bs[lane % 16][0])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
            : "+r"(c[0]), "+r"(c[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
        __syncthreads();
    }
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};"
        :: "r"(in_shared(&Cs[lane % 16][0])), "r"(c[0]), "r"(c[1]) : "memory");
    __syncwarp();
    for (int i = lane; i < 128; i += 32) C[(row + i / 8) * N + col + i % 8] = Cs[i / 8][i % 8];
}
"""


@cache
def mma_trace(before: str = "PITCH", after: str = "24") -> Trace:
    assert before in MMA
    return outcome_of(parse_kernel(MMA.replace(before, after).replace("PITCH", "24"), "tile.cu"), 32, 16, 32).whole


def steps_of(trace: Trace, kind: str) -> list[int]:
    return [step for step in range(trace.steps) if trace.site_of(step).kind == kind]


def test_mma_with_loads_and_stores_of_matrices_is_right() -> None:
    trace = mma_trace()
    assert trace.check.passed
    assert [len(steps_of(trace, kind)) for kind in ("matrix", "product")] == [5, 2]


MOVED = kernel_from(
    """
    unsigned given = 2 * threadIdx.x | (2 * threadIdx.x + 1) << 16, got;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(got) : "r"(given));
    C[2 * threadIdx.x] = got & 0xffff;
    C[2 * threadIdx.x + 1] = got >> 16;
""",
    block='["32"]',
)


def test_a_matrix_is_transposed_in_registers() -> None:
    assert np.array_equal(left_in_c(MOVED).reshape(8, 8), np.arange(64).reshape(8, 8).T)


def test_modifiers_may_stand_in_any_order() -> None:
    assert mma_trace("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.x4.m8n8.shared.b16").check.passed


def test_what_rounds_once_does_not_excuse_a_missing_step() -> None:
    """An input as TF32, or an output in half precision, allows an error that doesn't grow with K."""
    kernel = wmma_kernel((16, 16, 8), "wmma::precision::tf32", "float")
    missing = parse_kernel(kernel.text.replace("k < K; k +=", "k < K - 8; k +="), "tile.cu")
    assert not trace_of(missing, 16, 16, 128).check.passed
    plain = """// gemmviz = 1
// entry = "k"
// args = ["A", "B", "C", "M", "N", "K"]
// block = ["N", "M"]
// grid = ["1"]
#include <cuda_fp16.h>
__global__ void k(const half* A, const half* B, half* C, int M, int N, int K)
{
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += __half2float(A[threadIdx.y * K + k]) * __half2float(B[k * N + threadIdx.x]);
    C[threadIdx.y * N + threadIdx.x] = __float2half(sum);
}
"""
    assert trace_of(parse_kernel(plain, "k.cu"), 4, 4, 256).check.passed
    assert not trace_of(parse_kernel(plain.replace("k < K;", "k < K - 1;"), "k.cu"), 4, 4, 256).check.passed


def test_floats_are_converted_to_tf32() -> None:
    convert = 'unsigned r; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(1.00048828125f)); C[0] = __uint_as_float(r);'
    assert left_in_c(kernel_from(convert))[0] == 1.0009765625


@pytest.mark.parametrize(("before", "after"), [(".trans", ""), ("lane / 16 * 8", "0"), ("As[lane % 16]", "As[lane / 2]")])
def test_a_wrong_one_is_found(before: str, after: str) -> None:
    assert not mma_trace(before, after).check.passed


@pytest.mark.parametrize(("pitch", "passes"), [(24, 1), (16, 2), (32, 4), (64, 8)])
def test_rows_that_share_banks_take_more_wavefronts(pitch: int, passes: int) -> None:
    trace = mma_trace("PITCH", str(pitch))
    counts = totals(count_steps(trace, steps_of(trace, "matrix")[:1]))
    warps = trace.blocks.count
    assert counts["shared_wavefronts"] == 4 * passes * warps
    assert (counts["matrix_load_instructions"], counts["shared_load_instructions"]) == (warps, 0)


def test_each_lane_reads_its_own_elements_of_each_matrix() -> None:
    trace = mma_trace()
    step = steps_of(trace, "matrix")[0]
    rows = trace.element[trace.row[step] : trace.row[step + 1], :32]
    lane = np.arange(32)
    expected = [(lane // 4 + 8 * (m % 2)) * 24 + lane % 4 * 2 + 8 * (m // 2) for m in range(4)]
    assert np.array_equal(rows, expected)


def test_a_load_of_several_matrices_is_one_instruction() -> None:
    trace = mma_trace("PITCH", "16")
    moment = Reader(Replay.of(trace)).at(steps_of(trace, "matrix")[0])
    assert str(cost(moment)) == "1 instruction, 8 wavefronts: 4 excess (bank conflicts)"


def test_a_product_adds_sixteen_terms_to_each_sum() -> None:
    replay = Replay.of(mma_trace())
    for count, step in enumerate(steps_of(replay.trace, "product"), 1):
        terms = sure(replay.terms(Reader(replay).at(step).scope))
        assert (terms.done(step) == 16 * count).all()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("asm volatile(\"ldmatrix.sync.aligned.m8n8.x4", "if (lane < 16) asm volatile(\"ldmatrix.sync.aligned.m8n8.x4",
         "not reached by all lanes of the warp"),
        ('block = ["32"]', 'block = ["48"]', "needs whole warps"),
        ("&As[lane % 16][lane / 16 * 8]", "&As[lane % 16][lane / 16 * 4]", "not a multiple of 16 bytes"),
    ],
)  # fmt: skip
def test_faults_are_named(before: str, after: str, words: str) -> None:
    outcome = outcome_of(parse_kernel(MMA.replace(before, after).replace("PITCH", "24"), "tile.cu"), 32, 16, 32)
    assert words in str(outcome.fault)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("{%2, %3, %4, %5}, {%6, %7}", "{%2, %3}, {%6, %7}", "takes 4 registers of A, 2 of B, and 2 of C and D each"),
        ("x4.shared.b16 {%0, %1, %2, %3}", "x4.shared.b16 {%0, %1}", "takes 4 registers"),
        ("m16n8k16.row.col.f16.f16.f16.f16", "m16n8k16.row.col.f16.e4m3.e4m3.f16", "is not supported"),
    ],
)
def test_what_is_written_wrongly_is_refused(before: str, after: str, words: str) -> None:
    assert before in MMA
    with pytest.raises(GemmvizError, match=words):
        trace_of(parse_kernel(MMA.replace(before, after).replace("PITCH", "24"), "tile.cu"), 32, 16, 32)
