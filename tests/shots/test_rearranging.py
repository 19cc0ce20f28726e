"""Padding and swizzles of shared tiles: found by the rule of the banks, right when they run, and as good as was said."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.counts import count_steps
from gemmviz.cli.main import main
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.files.kernel_file import parse_kernel
from gemmviz.model.cases import SpeedCase
from gemmviz.model.messages import SourceError
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Cells, Hit
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.rearranging import Arrangement, Rearranged, rearranged, rearranged_text
from tests.app_model import TestModel
from tests.conftest import sampled, sure, trace_of
from tests.run.test_matrix_instructions import MMA

CONFLICTS: list[tuple[str, tuple[int, int, int], dict[str, Any]]] = [
    ("ldmatrix", (16, 8, 64), {"XORED": 0}), ("ldmatrix", (16, 8, 64), {"XORED": 3}),
    ("07_tiled_transposed", (32, 32, 32), {"TILE_WIDTH": 32, "PAD": 0}),
]  # fmt: skip


def shared_wavefronts(trace: Trace, name: str) -> int:
    """Of all accesses to an array."""
    counts = count_steps(trace, range(trace.steps))
    return sum(each.wavefronts for (_, operand), each in counts.accesses.items() if counts.arrays[operand.array].name == name)


def found_for(kernel: str, size: tuple[int, int, int], parameters: dict[str, Any]) -> tuple[Trace, list[Rearranged]]:
    trace = trace_of(kernel, *size, **parameters)
    return trace, list(rearranged(trace.setup, trace))


@pytest.mark.parametrize(("kernel", "size", "parameters"), CONFLICTS)
def test_what_is_found_runs_and_takes_what_was_said(
    kernel: str, size: tuple[int, int, int], parameters: dict[str, Any]
) -> None:
    trace, found = found_for(kernel, size, parameters)
    assert found
    for each in found:
        after = trace_kernel(sure(each.setup)).whole
        assert after.check.passed
        assert each.before == shared_wavefronts(trace, each.array) // trace.blocks.count
        assert each.wavefronts == shared_wavefronts(after, each.array) // after.blocks.count < each.before
        assert not sure(each.setup).kernel.is_shipped


def test_the_missing_bit_of_a_swizzle_is_found() -> None:
    _, (found,) = found_for("ldmatrix", (16, 8, 64), {"XORED": 3})
    assert (found.array, str(found.arrangement)) == ("tileA", "column ^ (row & 4) * 8")
    assert (found.before, found.wavefronts) == (16 + 4 * 8, 16 + 4 * 4)


def test_padding_and_a_swizzle_are_both_found() -> None:
    _, found = found_for("ldmatrix", (16, 8, 64), {"XORED": 0})
    assert [str(each.arrangement) for each in found] == ["8 elements of padding behind each row", "column ^ (row & 7) * 8"]
    assert {(each.before, each.wavefronts) for each in found} == {(16 + 4 * 32, 16 + 4 * 4)}


@pytest.mark.parametrize(
    ("pitch", "swizzle"),
    [(64, "column ^ (row & 7) * 8"), (32, "column ^ (row >> 1 & 3) * 8"), (16, "column ^ (row >> 2 & 1) * 8")],
)
def test_rows_of_a_matrix_stay_whole_though_other_accesses_are_narrow(pitch: int, swizzle: str) -> None:
    setup = setup_for(parse_kernel(MMA.replace("PITCH", str(pitch)), "k.cu"), Problem(32, 16, 32))
    padded, swizzled = rearranged(setup, trace_kernel(setup).whole)
    assert padded.arrangement.padding % 8 == 0
    assert str(swizzled.arrangement) == swizzle
    assert padded.wavefronts == 24  # 16 of stores and 2 x 4 of loads


@pytest.mark.parametrize(("kernel", "parameters"), [("04_tiled", {"TILE_WIDTH": 16}), ("02_naive", {"BLOCK": 16})])
def test_nothing_is_found_where_nothing_is_lost(kernel: str, parameters: dict[str, Any]) -> None:
    assert found_for(kernel, (32, 32, 32), parameters)[1] == []


def test_a_tile_that_is_read_through_a_pointer_is_padded_only_if_that_is_right() -> None:
    """A use without all subscripts can't be swizzled, and a pointer to the whole tile counts on its rows."""
    text = load_kernel("07_tiled_transposed").text
    kernel = parse_kernel(text.replace("__syncthreads();", "float* flat = &tileA[0][0]; __syncthreads();", 1), "k.cu")
    setup = setup_for(kernel, Problem(32, 32, 32), {"TILE_WIDTH": 32, "PAD": 0})
    assert [each.arrangement.padding for each in rearranged(setup, trace_kernel(setup).whole)] == [1, 0]
    other = parse_kernel(MMA.replace("PITCH", "64").replace("As[i / 16][i % 16]", "(&As[0][0])[i / 16 * 64 + i % 16]"), "k.cu")
    setup = setup_for(other, Problem(32, 16, 32))
    padded, swizzled = rearranged(setup, trace_kernel(setup).whole)
    assert (padded.setup, swizzled.setup) == (None, None)
    assert "the result would be wrong" in padded.reason


def flat_transpose(pitch: str = "TILE") -> Setup:
    """A transposition through a tile that is declared without rows."""
    text = load_kernel("transpose_tiled").text.replace("tile[TILE][TILE + PAD]", "tile[TILE * TILE]")
    text = text.replace("tile[y][x]", f"tile[y * {pitch} + x]").replace("tile[x][y]", f"tile[x * {pitch} + y]")
    return setup_for(parse_kernel(text, "flat.cu"), Problem(kind="transpose", rows=64, columns=64), {"TILE": 32})


def test_a_tile_without_rows_is_rearranged() -> None:
    setup = flat_transpose()
    found = list(rearranged(setup, trace_kernel(setup).whole))
    assert [str(each.arrangement) for each in found] == ["1 element of padding behind every 32", "index ^ (index / 32 & 31)"]
    for each in found:
        after = trace_kernel(sure(each.setup)).whole
        assert after.check.passed
        assert each.wavefronts == 64 == shared_wavefronts(after, "tile") // after.blocks.count
    assert "tile[(TILE * TILE) + (TILE * TILE) / 32]" in sure(found[0].setup).kernel.text
    assert "tile[(y * TILE + x) + (y * TILE + x) / 32]" in sure(found[0].setup).kernel.text


FLAT = """// gemmviz = 1
// entry = "sgemm<64, 64, 8, 4, 8>"
// args = ["M", "N", "K", "A", "B", "C"]
// block = ["128"]
// grid = ["N / 64", "M / 64"]
template <const int BM, const int BN, const int BK, const int TM, const int TN>
__global__ void sgemm(int M, int N, int K, float *A, float *B, float *C) {
  const int cRow = blockIdx.y, cCol = blockIdx.x;
  const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK];
  __shared__ float Bs[BK * BN];
  A += cRow * BM * K; B += cCol * BN; C += cRow * BM * N + cCol * BN;
  const int innerRowA = threadIdx.x / (BK / 4), innerColA = threadIdx.x % (BK / 4);
  const int innerRowB = threadIdx.x / (BN / 4), innerColB = threadIdx.x % (BN / 4);
  float threadResults[TM * TN] = {0.0};
  float regM[TM] = {0.0}, regN[TN] = {0.0};
  for (int bkIdx = 0; bkIdx < K; bkIdx += BK) {
    float4 tmp = reinterpret_cast<float4 *>(&A[innerRowA * K + innerColA * 4])[0];
    As[(innerColA * 4 + 0) * BM + innerRowA] = tmp.x;
    As[(innerColA * 4 + 1) * BM + innerRowA] = tmp.y;
    As[(innerColA * 4 + 2) * BM + innerRowA] = tmp.z;
    As[(innerColA * 4 + 3) * BM + innerRowA] = tmp.w;
    reinterpret_cast<float4 *>(&Bs[innerRowB * BN + innerColB * 4])[0] =
        reinterpret_cast<float4 *>(&B[innerRowB * N + innerColB * 4])[0];
    __syncthreads();
    A += BK; B += BK * N;
    for (int dotIdx = 0; dotIdx < BK; ++dotIdx) {
      for (int i = 0; i < TM; ++i) regM[i] = As[dotIdx * BM + threadRow * TM + i];
      for (int i = 0; i < TN; ++i) regN[i] = Bs[dotIdx * BN + threadCol * TN + i];
      for (int m = 0; m < TM; ++m) for (int n = 0; n < TN; ++n) threadResults[m * TN + n] += regM[m] * regN[n];
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m) for (int n = 0; n < TN; ++n)
      C[(threadRow * TM + m) * N + threadCol * TN + n] = threadResults[m * TN + n];
}
"""


def test_tiles_without_rows_that_vectors_store_into_are_rearranged() -> None:
    setup = setup_for(parse_kernel(FLAT, "flat.cu"), Problem(64, 64, 16))
    trace = trace_kernel(setup).whole
    found = list(rearranged(setup, trace))
    assert [(each.array, str(each.arrangement)) for each in found] == [
        ("As", "4 elements of padding behind every 64"),
        ("Bs", "4 elements of padding behind every 32"),
        ("Bs", "index ^ (index / 32 & 1) * 4"),
    ]
    for each in found:
        after = trace_kernel(sure(each.setup)).whole
        assert after.check.passed
        assert each.wavefronts == shared_wavefronts(after, each.array) < shared_wavefronts(trace, each.array) == each.before


SOURCE = """__global__ void k(float* C) { // tile[0][0]
    __shared__ float other[4], tile[WIDTH][WIDTH > 8 ? WIDTH : 8];
    tile[threadIdx.y + 1][threadIdx.x] = tile [y][x * 2]; /* tile[1] */ printf("tile");
}"""


def test_the_source_is_changed_where_the_tile_is_used() -> None:
    padded = rearranged_text(SOURCE, "tile", 2, Arrangement(padding=3))
    assert padded == SOURCE.replace("WIDTH > 8 ? WIDTH : 8]", "(WIDTH > 8 ? WIDTH : 8) + 3]")
    swizzled = rearranged_text(SOURCE, "tile", 2, Arrangement(chunk=4, mask=6, shift=1))
    assert swizzled == SOURCE.replace("[threadIdx.x]", "[(threadIdx.x) ^ ((threadIdx.y + 1) >> 1 & 6) * 4]").replace(
        "[x * 2]", "[(x * 2) ^ (y >> 1 & 6) * 4]"
    )
    for use in ("tile[i++][0]", "tile[0]", "f(tile)", "tile[tile[0][0]][0]"):
        with pytest.raises(SourceError, match="uses tile other than"):
            rearranged_text(SOURCE.replace("tile [y][x * 2]", use), "tile", 2, Arrangement(mask=1))
    with pytest.raises(SourceError):
        rearranged_text(SOURCE, "nothing", 2, Arrangement(padding=1))


ROWS = [
    "float* line = &tile[x][0]; {} line[y]", "float* line = tile[x]; {} line[y]",
    "float (&line)[TILE + PAD] = tile[x]; {} line[y]", "auto line = tile[x]; {} line[y]", "const float* line = &tile[x][y]; {} line[0]",
    "const float* line = tile[x] + y; {} line[0]", "float (*all)[TILE + PAD] = tile; {} all[x][y]",
    "float* line = &tile[x][0]; {} *(&line[y])", "float* line = tile[x & TILE - 1]; {} line[x < 64 && x >= 0 ? y : 0]",
]  # fmt: skip


def through_a_pointer(use: str, text: str = "") -> Setup:
    """A transposition whose stores read the tile through a pointer."""
    text = text or load_kernel("transpose_tiled").text
    declaration, read = use.split("{}")
    line = next(each for each in text.splitlines() if "tile[x][y]" in each and "__shared__" not in each)
    code, comment = line.split("//")
    text = text.replace(
        line, f"    {{\n        {declaration}\n    {code.replace('tile[x][y]', read.strip())}//{comment}\n    }}"
    )
    kernel = parse_kernel(text, "rows.cu")
    return setup_for(kernel, Problem(kind="transpose", rows=64, columns=64), {"TILE": 32, "PAD": 0})


@pytest.mark.parametrize("use", sampled(ROWS))
def test_a_tile_that_is_reached_through_row_pointers_is_swizzled(use: str) -> None:
    setup = through_a_pointer(use)
    found = list(rearranged(setup, trace_kernel(setup).whole))
    assert [each.reason for each in found] == ["", ""]
    for each in found:
        after = trace_kernel(sure(each.setup)).whole
        assert after.check.passed
        assert each.wavefronts == 64 == shared_wavefronts(after, "tile") // after.blocks.count


@pytest.mark.parametrize("use", ["{0}{{}} p[y]", "{1}{{}} p[y]", "{2}{{}} p[0]"])
def test_a_tile_without_rows_is_rearranged_behind_pointers(use: str) -> None:
    declared = ("float* p = tile + x * TILE;", "float* p = &tile[x * TILE];", "const float* p = tile + x * TILE + y;")
    text = load_kernel("transpose_tiled").text.replace("tile[TILE][TILE + PAD]", "tile[TILE * TILE]")
    setup = through_a_pointer(use.format(*declared), text.replace("tile[y][x]", "tile[y * TILE + x]"))
    found = list(rearranged(setup, trace_kernel(setup).whole))
    assert [(each.reason, each.wavefronts) for each in found] == [("", 64), ("", 64)]
    assert all(" p " not in sure(each.setup).kernel.text for each in found)


@pytest.mark.parametrize("use", ["float* p = &tile[x][0]; p += y; {} p[0]", "float* p = &tile[x][0]; {} *(p + y)"])
def test_a_pointer_that_moves_is_named_as_the_reason(use: str) -> None:
    setup = through_a_pointer(use)
    padded, swizzled = rearranged(setup, trace_kernel(setup).whole)
    assert padded.setup is not None
    assert swizzled.setup is None
    assert "uses p other than as an element" in swizzled.reason


@pytest.mark.parametrize("arrangement", [Arrangement(padding=8), Arrangement(chunk=8, mask=5, shift=1)])
def test_places_are_distinct_and_chunks_stay_together(arrangement: Arrangement) -> None:
    elements = np.arange(2 * 16 * 64)
    places = arrangement.moved(elements, (2, 16, 64))
    assert len(np.unique(places)) == len(elements)
    assert (places.reshape(-1, 8) == places.reshape(-1, 8)[:, :1] + np.arange(8)).all()
    assert arrangement.moved(np.array([-1]), (2, 16, 64)).tolist() == [-1]


def test_the_bits_of_a_row_move_its_chunks() -> None:
    """Row 6 of the second part: 6 >> 1 & 5 is 1, so that chunks 0 and 1 change places."""
    first = (16 + 6) * 64
    moved = Arrangement(chunk=8, mask=5, shift=1).moved(first + np.array([0, 8, 23]), (2, 16, 64)) - first
    assert moved.tolist() == [8, 0, 31]


def test_the_command_prints_a_patch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(load_kernel("ldmatrix").text, encoding="utf-8")
    assert main(["swizzle", str(path), "-D", "XORED=3"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("tileA, column ^ (row & 4) * 8: 32 wavefronts of a block instead of 48; the result is right\n")
    (tmp_path / "mine.patch").write_text(printed, encoding="utf-8")
    subprocess.run(["patch", "-s", str(path), "mine.patch"], cwd=tmp_path, check=True)
    setup = setup_for(parse_kernel(path.read_text(encoding="utf-8"), "mine.cu"), Problem(16, 8, 64), {"XORED": 3})
    assert shared_wavefronts(trace_kernel(setup).whole, "tileA") == 32
    assert main(["swizzle", str(path), "-D", "XORED=3"]) == 0
    assert "no padding and no XOR of columns takes fewer wavefronts" in capsys.readouterr().out


def test_the_window_suggests_it_and_runs_it(model: TestModel) -> None:
    session = model.session
    model.opening.choose_kernel("ldmatrix")
    model.commands.change("XORED", 0)
    model.know()
    model.commands.show_view("why")
    model.inbox.until(lambda: any(each.cure for each in why(model).causes if each.kind == "banks"))
    place, cause = next((place, each) for place, each in enumerate(why(model).causes) if each.kind == "banks")
    assert cause.sentence.startswith("Every access to ldmatrix takes 8 wavefronts, 1 needed")
    assert cause.view == "fragment"
    assert sure(cause.cure).text == "tileA: 8 elements of padding behind each row"
    cells = sure(view_named("why").still(why(model), ViewOptions()).find(f"cure-{place}"))
    assert isinstance(cells, Cells)
    model.commands.click(Hit(cells, 0, 0))
    model.know()
    assert setup_text(sure(session.shown).setup) == setup_text(sure(cause.cure).setup)
    before, after = why(model).effects
    assert (before.is_right, after.is_right) == (True, True)
    assert sure(after.wavefronts) < sure(before.wavefronts)
    assert after.label == f"{before.label}, changed source"


def why(model: TestModel) -> SpeedCase:
    case = model.session.display.subject
    assert isinstance(case, SpeedCase)
    return case


def setup_text(setup: Setup) -> str:
    return setup.kernel.text
