from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from gemmviz.analysis.counts import Counts
from gemmviz.analysis.replay.focus import Focus, position_of, scope_of, step_at
from gemmviz.analysis.replay.grid import Grid
from gemmviz.analysis.replay.moment import LoadCounts, Reader, StepCursors
from gemmviz.analysis.replay.private import element_history
from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.tiles import EMPTY, THREADS
from gemmviz.model.messages import Cancelled
from gemmviz.model.trace import CONSTANT, Trace
from gemmviz.run.cpu.interpreter import watch_thread
from gemmviz.scenes.charts.models import cost_chart
from tests.conftest import kernel_from, moment_of, sure, trace_of


@pytest.fixture(scope="module")
def tiled() -> Reader:
    return Reader(Replay.of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4, values=True)), Focus((1, 1, 0)))


def first_step(reader: Reader, text: str, phase: int) -> int:
    trace = reader.replay.trace
    return next(s for s in range(trace.steps) if trace.site_of(s).text.startswith(text) and trace.phase[s] == phase)


def test_a_tile_holds_what_was_loaded_into_it(tiled: Reader) -> None:
    number = [array.name for array in tiled.replay.trace.arrays].index("tileA")
    assert (tiled.at(0).tiles[number].array == EMPTY).all()
    for phase in (0, 1):
        content = tiled.at(first_step(tiled, "__syncthreads", phase)).tiles[number]
        rows, columns = tiled.replay.trace.arrays[0].row_column(content.element)
        assert (content.array == 0).all()
        assert rows.reshape(4, 4).tolist() == [[r] * 4 for r in (4, 5, 6, 7)]
        assert columns.reshape(4, 4)[0].tolist() == [4 * phase + c for c in range(4)]
    assert (tiled.at(0).tiles[number].array == EMPTY).all()  # going back forgets


def test_values_agree_with_origins(tiled: Reader) -> None:
    """What a tile cell is said to be a copy of has the value that was stored there."""
    trace = tiled.replay.trace
    read: dict[tuple[int, int], float] = {}
    for step in range(trace.steps):
        site = trace.site_of(step)
        array = site.operands[0].array if site.operands else 9
        if site.kind == "load" and array < 2:
            read |= {(array, int(e)): v for e, v in zip(trace.element[step], sure(trace.value)[step], strict=True) if e >= 0}
    for row, step in enumerate(trace.origin_step.tolist()):
        for lane in range(trace.space.thread_count):
            assert sure(trace.value)[step, lane] == read[int(trace.origin_array[row, lane]), int(trace.origin[row, lane])]


def test_padding_is_a_constant() -> None:
    trace = trace_of("04_tiled", 5, 7, 3, TILE_WIDTH=2)
    assert (trace.origin_array == CONSTANT).any()
    zeros = trace.origin[trace.origin_array == CONSTANT].view(np.float32)
    assert (zeros == 0.0).all()
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
    reader = Reader(Replay.of(trace_of(kernel_from(body))))
    content = reader.at(reader.replay.steps - 1).tiles[3]
    assert content.array.reshape(4, 4).tolist() == [[0, CONSTANT, 1, -1]] * 4
    assert content.element.reshape(4, 4)[:, 0].tolist() == [0, 1, 2, 3]


def test_footprints_are_the_tiles_of_the_phase(tiled: Reader) -> None:
    for phase in (0, 1):
        step = first_step(tiled, "tileA[y][k]", phase)
        assert tiled.at(step).area(0) == (4, 8, 4 * phase, 4 * phase + 4)
        assert tiled.at(step).area(1) == (4 * phase, 4 * phase + 4, 4, 8)
        assert tiled.at(step).area(2) == (4, 8, 4, 8)


def test_phases(tiled: Reader) -> None:
    assert tiled.replay.phases == 2
    assert tiled.replay.trace.phase[0] == 0
    assert tiled.replay.trace.phase[-1] == 2  # after the last
    assert tiled.replay.phase_starts.tolist() == sorted({0, *(np.flatnonzero(np.diff(tiled.replay.trace.phase)) + 1).tolist()})
    assert Replay.of(trace_of("02_naive", 8, 8, 6, BLOCK=4)).phases == 6  # trips of the k loop


def test_reuse_map_falls_with_the_tile_width() -> None:
    """Each element of A is read once per block column: N / T times."""
    for width in (2, 4, 8):
        assert (loads(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=width), 0) == 8 // width).all()
    assert (loads(trace_of("03_coalesced", 8, 8, 8, BLOCK=4), 1) == 8).all()


def loads(trace: Trace, number: int, step: int = -1) -> np.ndarray:
    return LoadCounts(trace, number, Grid(trace.arrays[number])).after(step % trace.steps)


@given(st.lists(st.integers(0, 25), min_size=1, max_size=12), st.sampled_from([1, 3]))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_load_counts_are_the_same_whichever_way_one_comes(steps: list[int], factor: int) -> None:
    trace = _POSITIONED[0]
    grid = Grid(trace.arrays[1], factor)
    counts = LoadCounts(trace, 1, grid)
    for step in steps:
        expected = np.zeros(grid.shape, np.int64)
        for before in range(step + 1):
            if trace.site_of(before).touches(1) and trace.site_of(before).kind == "load":
                rows, columns = np.divmod(trace.element[before][trace.element[before] >= 0], 8)
                np.add.at(expected, (rows // factor, columns // factor), 1)
        assert (counts.after(step) == expected).all()


def test_owners_store_what_they_own() -> None:
    trace = trace_of("04_tiled", 7, 6, 5, TILE_WIDTH=4)
    owners = Replay.of(trace).owners
    assert len(owners.elements) == 42
    for element in range(42):
        block, thread = trace.space.indices(sure(owners.thread_of(element)))
        assert divmod(element, 6) == (block[1] * 4 + thread[1], block[0] * 4 + thread[0])
    assert owners.thread_of(99) is None
    homes = Reader(Replay.of(trace), Focus((1, 1, 0))).at(0).homes
    assert homes[0].tolist() == [4, 4]
    assert np.isnan(homes[3]).all()  # outside C


def test_flights_say_where_every_copy_goes(tiled: Reader) -> None:
    tile = [array.name for array in tiled.replay.trace.arrays].index("tileB")
    load = first_step(tiled, "B[", 1)
    (there,) = tiled.at(load).flights
    assert (there.source, there.target, there.way) == (1, tile, (0.0, 0.5))
    (stored,) = tiled.at(first_step(tiled, "tileB[y][x]", 1)).flights
    assert (stored.source, stored.target, stored.way) == (1, tile, (0.5, 1.0))
    assert stored.start.tolist() == there.start.tolist()
    assert stored.end.tolist() == there.end.tolist() == list(range(16))
    (read,) = tiled.at(first_step(tiled, "tileB[k][x]", 1)).flights
    assert (read.source, read.target) == (tile, THREADS)
    assert read.end.tolist() == list(range(16))
    assert tiled.at(first_step(tiled, "__syncthreads", 0)).flights == []
    (direct,) = moment_of(trace_of("03_coalesced", 8, 8, 8, BLOCK=4)).flights
    assert (direct.target, direct.way) == (THREADS, (0.0, 1.0))


def test_costs_so_far_end_with_all_that_the_block_pays(tiled: Reader) -> None:
    steps = tiled.replay.steps
    total = tiled.at(steps - 1).so_far("global") + tiled.at(steps - 1).so_far("shared")
    assert total == sum((tiled.at(step).cost for step in range(steps)), Counts())
    assert tiled.at(0).so_far("shared") == Counts()


def test_everyone_pays_what_all_blocks_pay() -> None:
    trace = trace_of("04_tiled", 16, 12, 16, TILE_WIDTH=8)
    blocks = [costs(trace, Focus((x, y, 0))) for x in range(2) for y in range(2)]
    assert (costs(trace, Focus(everyone=True)) == sum(blocks)).all()


def costs(trace: Trace, focus: Focus) -> np.ndarray:
    reader = Reader(Replay.of(trace), focus)
    return reader.replay.costs(reader.scope)


def test_costs_of_one_warp_add_up_to_the_block() -> None:
    trace = trace_of("04_tiled", 16, 16, 16, TILE_WIDTH=8)
    warps = [costs(trace, Focus((1, 0, 0), warp)) for warp in range(trace.space.warps_per_block)]
    assert len(warps) == 2
    assert (np.sum(list(warps), axis=0) == costs(trace, Focus((1, 0, 0)))).all()


def test_going_back_and_forth_holds_the_same_tiles() -> None:
    trace = trace_of("04_tiled", 8, 8, 256, TILE_WIDTH=4)  # 64 phases: more stores than are kept apart
    replay = Replay.of(trace)
    scope = scope_of(Focus(), trace)
    forwards, jumping = StepCursors(replay, scope), StepCursors(replay, scope)
    for step in [700, 3, trace.steps - 1, 400, 401, 400, 0, 650]:
        there = StepCursors(replay, scope).tiles(step)
        for number, content in jumping.tiles(step).items():
            assert (content.array == there[number].array).all()
            assert (content.element == there[number].element).all()
            assert (content.phase == there[number].phase).all()
    before = forwards.tiles_before(500)
    after = StepCursors(replay, scope).tiles(499)
    assert all((before[n].element == after[n].element).all() for n in after)


def test_a_wide_store_hides_the_values_of_its_neighbours() -> None:
    body = """__shared__ float s[16];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) reinterpret_cast<float4*>(s)[0] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    __syncthreads();
    C[threadIdx.x] = s[threadIdx.x];"""
    trace = trace_of(kernel_from(body), values=True)
    wide = next(s for s in range(trace.steps) if trace.site_of(s).operands and trace.site_of(s).operands[0].width == 4)
    assert element_history(moment_of(trace, wide), 3, 0).value == 1.0
    assert element_history(moment_of(trace, wide), 3, 1).value is None
    assert element_history(moment_of(trace, trace.steps - 1), 3, 1).value == 2.0


def test_a_thread_that_reads_and_writes_an_element_in_a_step_is_told_once() -> None:
    trace = trace_of(kernel_from("atomicAdd(&C[threadIdx.x / 2], A[threadIdx.x]);"))
    step = next(step for step in range(trace.steps) if trace.site_of(step).is_atomic)
    assert element_history(moment_of(trace, step), trace.result or 0, 0).now == (0, 1)


def test_loads_of_a_tile_are_those_of_what_it_holds() -> None:
    body = """int t = threadIdx.x;
    __shared__ float s[4];
    s[t] = A[t];
    float x = s[t];
    if (t == 0) s[t] = 1.0f;
    C[t] = x;"""
    trace = trace_of(kernel_from(body))
    loads = [moment_of(trace, step).tile_loads(sure(trace.number_of("s"))).tolist() for step in range(trace.steps)]
    assert loads == [[0] * 4, [0] * 4, [1] * 4, [1] * 4, [0, 1, 1, 1], [0, 1, 1, 1]]  # the fourth step is the branch


def test_loads_right_before_a_store_elsewhere_are_counted() -> None:
    body = "int t = threadIdx.x; __shared__ float s[4]; s[t] = A[t]; float x = s[t]; s[0] = 1.0f; C[t] = x;"
    trace = trace_of(kernel_from(body))
    assert moment_of(trace, trace.steps - 1).tile_loads(sure(trace.number_of("s"))).tolist() == [0, 1, 1, 1]


def test_kernels_that_read_c_first_show_where_they_write_it() -> None:
    trace = trace_of(
        kernel_from("float s = 0; for (int k = 0; k < K; ++k) s += A[k]; C[threadIdx.x] = s + 0.0f * C[threadIdx.x];")
    )
    assert moment_of(trace).area(2) == (0, 1, 0, 4)


def test_footprints_of_wide_and_narrow_accesses_end_where_they_end() -> None:
    body = "float4 v = reinterpret_cast<const float4*>(A)[threadIdx.x]; C[threadIdx.x] = v.x + A[15];"
    assert moment_of(trace_of(kernel_from(body), 4, 4, 4)).area(0) == (0, 4, 0, 4)


@given(st.integers(0, 3), st.integers(0, 30), st.data())
@settings(max_examples=40, deadline=None)
def test_a_step_is_found_again_as_one_would_look_for_it(which: int, other: int, data: st.DataObject) -> None:
    here, there = (_POSITIONED[number % len(_POSITIONED)] for number in (which, which + other))
    position = structs.replace(position_of(here, data.draw(st.integers(0, here.steps - 1))), step=10**6)
    alike = [n for n, s in enumerate(there.sites) if (s.text, s.place.line) == (position.text, position.line)]
    alike = alike or [n for n, s in enumerate(there.sites) if s.text == position.text]
    steps = [step for step in range(there.steps) if there.site[step] in alike]

    def away(step: int) -> tuple[int, ...]:
        visits = there.visits[step, : len(there.site_of(step).loops)].tolist()
        wanted = list(position.visits)
        visits = wanted[: max(0, len(wanted) - len(visits))] + visits
        trips = [abs(a - b) for a, b in zip(visits[::-1], wanted[::-1], strict=False)][::-1]
        return abs(int(there.phase[step]) - position.phase), *trips, step

    if steps:
        assert step_at(there, position) == min(steps, key=away)


_POSITIONED = [
    trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), trace_of("04_tiled", 8, 8, 12, TILE_WIDTH=2),
    trace_of("07_tiled_transposed", 8, 8, 8, TILE_WIDTH=4), trace_of("02_naive", 8, 8, 5, BLOCK=4),
]  # fmt: skip


@pytest.mark.parametrize("grid", [(1, None), (3, None), (1, (1, 5, 2, 7)), (2, (1, 3, 0, 2))])
def test_when_each_cell_of_c_is_first_stored(grid: tuple[int, tuple[int, int, int, int] | None]) -> None:
    trace = trace_of("02_naive", 10, 7, 3, BLOCK=4)
    replay, (factor, crop) = Replay.of(trace), grid
    number, array = next((n, array) for n, array in enumerate(trace.arrays) if array.name == "C")
    cells = Grid(array, factor, crop)
    found = replay.first_stored(cells)
    (r0, c0), (rows, columns) = cells.origin, cells.shape
    for row in range(rows):
        for column in range(columns):
            inside = [
                r * 7 + c
                for r in range((r0 + row) * factor, min(10, (r0 + row + 1) * factor))
                for c in range((c0 + column) * factor, min(7, (c0 + column + 1) * factor))
            ]
            stores = [s for t in trace.touches_of(number, "write") for s, r in zip(t.steps, t.rows, strict=True)
                      if np.isin(trace.element[r], inside).any()]  # fmt: skip
            assert found[row, column] == min(stores)


def test_more_steps_than_a_frame_holds_are_drawn_as_means(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = Replay.of(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    scope = Reader(replay).scope
    single = cost_chart(replay, scope, 0)
    monkeypatch.setattr("gemmviz.scenes.charts.models._MOST_BARS", 10)
    means = cost_chart(replay, scope, 0)
    assert "each bar is the mean of 3 steps" in means.notes[0]
    for bars in means.bars:
        whole = next(each for each in single.bars if each.role == bars.role and sum(each.heights) * sum(bars.heights) > 0)
        assert len(bars.x) <= 10
        if replay.steps % 3 == 0:
            assert sum(bars.heights) * 3 == pytest.approx(sum(whole.heights))


def test_the_cell_of_an_element_is_looked_up_once_however_often_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = trace_of("02_naive", 8, 8, 8, BLOCK=8)
    looked_up: list[int] = []
    grid, cells = Grid(trace.arrays[0], 2), Grid.cells

    def counted(grid: Grid, elements: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        looked_up.append(len(elements))
        return cells(grid, elements)

    monkeypatch.setattr(Grid, "cells", counted)
    loads = LoadCounts(trace, 0, grid).after(trace.steps - 1)
    assert (loads == 8 * 4).all()
    assert sum(looked_up) == 64


def test_variables_that_arrive_are_those_of_the_moment_that_was_read_before() -> None:
    reader = Reader(Replay.of(trace_of("04_tiled")))
    assert reader.at(3).watched is None
    reader.watched = watched = watch_thread(reader.replay.trace.setup, (0, 0, 0), (0, 0, 0))
    assert reader.at(3).watched is watched


class _Cancelled:
    def after(self, step: int) -> int:
        raise Cancelled


class _Counting:
    def after(self, step: int) -> int:
        return step


def test_a_cursor_whose_computation_is_cancelled_is_dropped() -> None:
    replay = Replay.of(trace_of("04_tiled"))
    cursors = StepCursors(replay, scope_of(Focus(), replay.trace))
    with pytest.raises(Cancelled):
        cursors._after("loads", _Cancelled, 5, int)
    assert cursors._after("loads", _Counting, 5, int) == 5
