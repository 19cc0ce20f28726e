import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemmviz.analysis.counts import Counts
from gemmviz.analysis.flights import THREADS
from gemmviz.analysis.focus import Focus
from gemmviz.analysis.grid import Grid
from gemmviz.analysis.history import history
from gemmviz.analysis.replay import Replay
from gemmviz.analysis.reuse import LoadCounts
from gemmviz.analysis.tiles import EMPTY
from gemmviz.model.trace import CONSTANT
from tests.conftest import kernel_from, trace_of


@pytest.fixture(scope="module")
def tiled() -> Replay:
    return Replay(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4, values=True), Focus((1, 1, 0)))


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
        assert (loads(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=width), 0) == 8 // width).all()
    assert (loads(trace_of("03_coalesced", 8, 8, 8, BLOCK=4), 1) == 8).all()


def loads(trace, number: int, step: int = -1) -> np.ndarray:
    return LoadCounts(trace, number, Grid(trace.arrays[number])).after(step % trace.steps)


@given(st.lists(st.integers(0, 25), min_size=1, max_size=12), st.sampled_from([1, 3]))
def test_load_counts_are_the_same_whichever_way_one_comes(steps: list[int], factor: int) -> None:
    trace = trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4)
    grid = Grid(trace.arrays[1], factor)
    counts = LoadCounts(trace, 1, grid)
    for step in steps:
        expected = np.zeros(grid.shape, np.int64)
        for before in range(step + 1):
            if trace.site_of(before).array == 1 and trace.site_of(before).kind == "load":
                rows, columns = np.divmod(trace.element[before][trace.element[before] >= 0], 8)
                np.add.at(expected, (rows // factor, columns // factor), 1)
        assert (counts.after(step) == expected).all()


def test_owners_store_what_they_own() -> None:
    trace = trace_of("04_tiled", 7, 6, 5, TILE_WIDTH=4)
    owners = Replay(trace).owners
    assert len(owners.elements) == 42
    for element in range(42):
        block, thread = trace.space.thread_of(owners.lane_of(element))
        assert divmod(element, 6) == (block[1] * 4 + thread[1], block[0] * 4 + thread[0])
    assert owners.lane_of(99) is None
    homes = Replay(trace, Focus((1, 1, 0))).homes
    assert homes[0].tolist() == [4, 4]
    assert np.isnan(homes[3]).all()  # outside C


def test_flights_say_where_every_copy_goes(tiled: Replay) -> None:
    tile = [array.name for array in tiled.trace.arrays].index("tileB")
    load = first_step(tiled, "B[", 1)
    (there,) = tiled.flights(load)
    assert (there.source, there.target, there.way) == (1, tile, (0.0, 0.5))
    (stored,) = tiled.flights(first_step(tiled, "tileB[y][x]", 1))
    assert (stored.source, stored.target, stored.way) == (1, tile, (0.5, 1.0))
    assert stored.start.tolist() == there.start.tolist()
    assert stored.end.tolist() == there.end.tolist() == list(range(16))
    (read,) = tiled.flights(first_step(tiled, "tileB[k][x]", 1))
    assert (read.source, read.target) == (tile, THREADS)
    assert read.end.tolist() == list(range(16))
    assert tiled.flights(first_step(tiled, "__syncthreads", 0)) == []
    (direct,) = Replay(trace_of("03_coalesced", 8, 8, 8, BLOCK=4)).flights(0)
    assert (direct.target, direct.way) == (THREADS, (0.0, 1.0))


def test_costs_so_far_end_with_all_that_the_block_pays(tiled: Replay) -> None:
    total = tiled.so_far(tiled.steps - 1, "global") + tiled.so_far(tiled.steps - 1, "shared")
    assert total == sum((tiled.cost(step) for step in range(tiled.steps)), Counts())
    assert tiled.so_far(0, "shared") == Counts()


def test_everyone_pays_what_all_blocks_pay() -> None:
    trace = trace_of("04_tiled", 16, 12, 16, TILE_WIDTH=8)
    blocks = [Replay(trace, Focus((x, y, 0))) for x in range(2) for y in range(2)]
    assert (Replay(trace, Focus(everyone=True)).costs == sum(replay.costs for replay in blocks)).all()


def test_costs_of_one_warp_add_up_to_the_block() -> None:
    trace = trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8)
    block = Replay(trace, Focus((1, 0, 0)))
    warps = [Replay(trace, Focus((1, 0, 0), warp)) for warp in range(trace.space.warps)]
    assert len(warps) == 2
    assert (sum(replay.costs for replay in warps) == block.costs).all()


def test_going_back_and_forth_holds_the_same_tiles() -> None:
    trace = trace_of("04_tiled", 8, 8, 256, TILE_WIDTH=4)  # 64 phases: more stores than are kept apart
    forwards = Replay(trace)
    jumping = Replay(trace)
    for step in [700, 3, trace.steps - 1, 400, 401, 400, 0, 650]:
        there = Replay(trace).tiles(step)
        for number, content in jumping.tiles(step).items():
            assert (content.array == there[number].array).all()
            assert (content.element == there[number].element).all()
            assert (content.phase == there[number].phase).all()
    before = forwards.tiles_before(500)
    after = Replay(trace).tiles(499)
    assert all((before[n].element == after[n].element).all() for n in after)


def test_a_wide_store_hides_the_values_of_its_neighbours() -> None:
    body = """__shared__ float s[16];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) reinterpret_cast<float4*>(s)[0] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    __syncthreads();
    C[threadIdx.x] = s[threadIdx.x];"""
    trace = trace_of(kernel_from(body), values=True)
    replay = Replay(trace)
    wide = next(step for step in range(trace.steps) if trace.site_of(step).width == 4)
    assert history(replay, 3, 0, wide).value == 1.0
    assert history(replay, 3, 1, wide).value is None
    assert history(replay, 3, 1, trace.steps - 1).value == 2.0


def test_kernels_that_read_c_first_show_where_they_write_it() -> None:
    trace = trace_of(
        kernel_from("float s = 0; for (int k = 0; k < K; ++k) s += A[k]; C[threadIdx.x] = s + 0.0f * C[threadIdx.x];")
    )
    replay = Replay(trace)
    assert replay.footprint(2, 0) == (0, 1, 0, 4)


def test_footprints_of_wide_and_narrow_accesses_end_where_they_end() -> None:
    body = "float4 v = reinterpret_cast<const float4*>(A)[threadIdx.x]; C[threadIdx.x] = v.x + A[15];"
    assert Replay(trace_of(kernel_from(body), 4, 4, 4)).footprint(0, 0) == (0, 4, 0, 4)
