import numpy as np
import pytest

from gemmviz.analysis.replay import EMPTY, Replay
from gemmviz.analysis.reuse import accesses_per_element
from gemmviz.model.trace import CONSTANT
from tests.conftest import kernel_from, trace_of


@pytest.fixture(scope="module")
def tiled() -> Replay:
    return Replay(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4, values=True), (1, 1, 0))


def first_step(replay: Replay, text: str, phase: int) -> int:
    trace = replay.trace
    return next(s for s in range(trace.steps) if trace.site_of(s).text.startswith(text) and trace.phase[s] == phase)


def test_a_tile_holds_what_was_loaded_into_it(tiled: Replay) -> None:
    number = [array.name for array in tiled.trace.arrays].index("tileA")
    assert (tiled.tiles(0)[number].array == EMPTY).all()
    for phase in (0, 1):
        content = tiled.tiles(first_step(tiled, "__syncthreads", phase))[number]
        rows, columns = tiled.trace.arrays[0].row_column(content.element)
        assert (content.array == 0).all()
        assert rows.reshape(4, 4).tolist() == [[r] * 4 for r in (4, 5, 6, 7)]
        assert columns.reshape(4, 4)[0].tolist() == [4 * phase + c for c in range(4)]
    assert (tiled.tiles(0)[number].array == EMPTY).all()  # going back forgets


def test_values_agree_with_origins(tiled: Replay) -> None:
    """What a tile cell is said to be a copy of has the value that was stored there."""
    trace = tiled.trace
    read = {}
    for step in range(trace.steps):
        site = trace.site_of(step)
        if site.kind == "load" and site.array < 2:
            read |= {(site.array, int(e)): v for e, v in zip(trace.element[step], trace.value[step], strict=True) if e >= 0}
    for row, step in enumerate(trace.origin_step.tolist()):
        for lane in range(trace.space.lanes):
            assert trace.value[step, lane] == read[int(trace.origin_array[row, lane]), int(trace.origin[row, lane])]


def test_padding_is_a_constant() -> None:
    trace = trace_of("04_tiled", 5, 7, 3, TILE_WIDTH=2)
    assert (trace.origin_array == CONSTANT).any()
    assert trace.check.passed


def test_origins_survive_registers_vectors_and_shuffles() -> None:
    body = """__shared__ float s[16];
    float4 v = reinterpret_cast<const float4*>(A)[threadIdx.x];
    float r[2]; r[1] = v.z;
    s[threadIdx.x] = r[1];
    s[threadIdx.x + 4] = __shfl_xor_sync(0xffffffff, v.x, 1);
    s[threadIdx.x + 8] = v.x + 1.0f;"""
    trace = trace_of(kernel_from(body))
    assert trace.origin[0].tolist() == [2, 6, 10, 14]
    assert trace.origin[1].tolist() == [4, 0, 12, 8]
    assert trace.origin_array[2].tolist() == [-1] * 4


def test_wide_stores_remember_each_element() -> None:
    body = """__shared__ float s[16];
    reinterpret_cast<float4*>(s)[threadIdx.x] = make_float4(A[threadIdx.x], 0.0f, B[0], A[0] * 2.0f);"""
    replay = Replay(trace_of(kernel_from(body)))
    content = replay.tiles(replay.steps - 1)[3]
    assert content.array.reshape(4, 4).tolist() == [[0, CONSTANT, 1, -1]] * 4
    assert content.element.reshape(4, 4)[:, 0].tolist() == [0, 1, 2, 3]


def test_footprints_are_the_tiles_of_the_phase(tiled: Replay) -> None:
    for phase in (0, 1):
        step = first_step(tiled, "tileA[y][k]", phase)
        assert tiled.footprint(0, step) == (4, 8, 4 * phase, 4 * phase + 4)
        assert tiled.footprint(1, step) == (4 * phase, 4 * phase + 4, 4, 8)
        assert tiled.footprint(2, step) == (4, 8, 4, 8)


def test_phases(tiled: Replay) -> None:
    assert tiled.phases == 2
    assert tiled.trace.phase[0] == 0
    assert tiled.trace.phase[-1] == 2  # after the last
    assert tiled.phase_starts.tolist() == sorted({0, *(np.flatnonzero(np.diff(tiled.trace.phase)) + 1).tolist()})
    assert Replay(trace_of("02_naive", 8, 8, 6, BLOCK=4)).phases == 6  # trips of the k loop


def test_reuse_map_falls_with_the_tile_width() -> None:
    """Each element of A is read once per block column: N / T times."""
    for width in (2, 4, 8):
        counts = accesses_per_element(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=width), 0)
        assert (counts == 8 // width).all()
    assert (accesses_per_element(trace_of("03_coalesced", 8, 8, 8, BLOCK=4), 1) == 8).all()


def test_costs_of_one_warp_add_up_to_the_block() -> None:
    trace = trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8)
    block = Replay(trace, (1, 0, 0))
    warps = [Replay(trace, (1, 0, 0), warp) for warp in range(trace.space.warps)]
    assert len(warps) == 2
    assert (sum(replay.costs for replay in warps) == block.costs).all()
