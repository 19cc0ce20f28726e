"""What moves: chips and strips from their cells to their cells, bars that fill from waiting threads."""

from itertools import product

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.tiles import THREADS
from gemmviz.model.trace import Trace
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Primitive, Rects, Squares
from gemmviz.scenes.kit.theme import channels, load_theme
from gemmviz.scenes.kit.view import ARRIVAL, Layer, ViewOptions
from gemmviz.scenes.stage.cells import boxes_around, boxes_of_runs, runs
from gemmviz.scenes.stage.layout import places, plan_of
from gemmviz.scenes.stage.motion import FAN, Courses, together
from tests.conftest import kernel_from, sure, trace_of

THEME = load_theme("dark")


def read(trace: Trace, focus: Focus | None = None) -> Reader:
    return Reader(Replay.of(trace), focus)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return read(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4), Focus((1, 0, 0)))


@pytest.fixture(scope="module")
def large() -> Reader:
    return read(trace_of("04_tiled", 64, 64, 64, TILE_WIDTH=32, blocks="0:1,0:1"))


def step_of(reader: Reader, text: str) -> int:
    return next(step for step in range(reader.replay.steps) if reader.replay.trace.site_of(step).text.startswith(text))


def motion(moment: Moment, at: float, layer: Layer = "matrix") -> tuple[Primitive, ...]:
    return view_named("stage").motion(moment, ViewOptions(moment=at, layer=layer))


def moving(moment: Moment, at: float, layer: Layer = "matrix") -> list[Squares]:
    return [each for each in motion(moment, at, layer) if isinstance(each, Squares)]


def strips(moment: Moment, at: float) -> np.ndarray:
    found = [
        e.boxes for e in motion(moment, at) if isinstance(e, Rects) and e.key.startswith("moving") and "trail" not in e.key
    ]
    return np.concatenate(found)


@pytest.mark.parametrize("layer", ["matrix", "warp"])
def test_copies_travel_from_the_matrix_to_the_tile_to_the_thread(reader: Reader, layer: Layer) -> None:
    def first(step: int, at: float) -> np.ndarray:
        box: np.ndarray = moving(reader.at(step), at, layer)[0].boxes[0]
        centre: np.ndarray = box[:2] + box[2] / 2
        return centre

    def place(step: int, number: int, element: int) -> np.ndarray:
        now = reader.at(step)
        place: np.ndarray = places(now, plan_of(now, ViewOptions()), number, np.array([element]))[0]
        return place

    load, store, used = 0, step_of(reader, "tileA[y][x]"), step_of(reader, "tileA[y][k]")
    end = ARRIVAL * 0.9999999
    assert first(load, 0.0) == pytest.approx(place(load, 0, 0))
    assert first(store, 0.0) == pytest.approx(first(load, end), abs=0.01)  # it waits in a register
    assert first(store, end) == pytest.approx(place(store, 3, 0), abs=0.01)
    assert first(used, end) == pytest.approx(place(used, THREADS, 0), abs=0.01)
    assert motion(reader.at(load), 1.0) == ()
    settled = [each.key for each in motion(reader.at(store), ARRIVAL) if each.key.startswith(("moving", "fading"))]
    assert settled == ["fading-3"]  # only a ring around what has arrived


def test_lanes_go_one_after_the_other(reader: Reader) -> None:
    now = reader.at(step_of(reader, "tileA[y][x]"))
    start, early, end = (moving(now, at)[0].boxes[:, 1] for at in (0.0, 0.2, ARRIVAL * 0.9999999))
    way = np.abs(early - start) / np.abs(end - start)
    assert (np.diff(way) < 0).all()
    assert 0.2 < way[0] < 0.3


def test_a_broadcast_travels_as_one_chip_and_parts_on_the_last_third(reader: Reader) -> None:
    now = reader.at(step_of(reader, "tileA[y][k]"))
    early, late = (moving(now, at)[0] for at in (0.3, 0.8))
    assert set(sure(early.labels).tolist()) == {"×4"}
    assert len(np.unique(np.round(early.boxes, 3), axis=0)) == 4
    assert len(np.unique(np.round(late.boxes, 3), axis=0)) == 16
    assert "×4" not in sure(late.labels).tolist()
    still = view_named("stage").motion(now, ViewOptions(moment=0.3, shows_flights=False))
    assert still[0].key == "fading-3"


def test_courses_are_straight_and_part_after_two_thirds() -> None:
    start, end = boxes_around(np.zeros((2, 2)), 2.0), boxes_around(np.array([[90.0, 0.0], [90.0, 30.0]]), 2.0)
    courses = Courses(start, end, together(start))
    assert courses.parts
    for passed in np.linspace(0.0, 1.0, 41).tolist():
        share, boxes = float(courses.shares(passed)[0, 0]), courses.at(passed)
        assert boxes[0, 0] + 1.0 == pytest.approx(90.0 * share)
        assert (abs(boxes[0, 1] - boxes[1, 1]) < 1e-9) == (share <= FAN)
    assert courses.at(1.0) == pytest.approx(end)


def test_many_copies_are_one_strip_a_warp(large: Reader) -> None:
    load, used = large.at(0), large.at(step_of(large, "tileB[k][x]"))
    boxes = strips(load, 0.3)
    assert len(boxes) == 32
    assert (boxes[:, 2] > 25 * boxes[:, 3]).all()  # each a row of 32 cells
    assert not moving(load, 0.3)
    assert len(np.unique(np.round(strips(used, 0.3), 2), axis=0)) == 1  # all warps read one row of the tile
    assert len(np.unique(np.round(strips(used, 0.8), 2), axis=0)) == 32
    down = read(trace_of("02_naive", 64, 64, 4, BLOCK=32, blocks="0:1,0:1")).at(0)
    assert (strips(down, 0.1)[:, 3] > strips(down, 0.1)[:, 2]).all()  # a warp of the naive kernel reads a column


def test_runs_end_where_neighbours_are_apart_or_turn() -> None:
    middle = np.array([[0.0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [9, 9]])
    same = np.zeros((6, 2))
    assert runs(((middle, 1.0), (same, 1.0)), np.zeros(6, np.int64)).tolist() == [0, 0, 0, 1, 1, 2]
    assert runs(((middle[:3], 1.0),), np.array([0, 1, 1])).tolist() == [0, 1, 1]
    assert boxes_of_runs(boxes_around(middle[:3], 1.0), np.zeros(3, np.int64)).tolist() == [[-0.5, -0.5, 3.0, 1.0]]


def test_chips_keep_the_colour_of_their_matrix_and_are_never_white() -> None:
    trace = trace_of("04_tiled", 6, 6, 6, values=True, TILE_WIDTH=4)
    reader = read(trace)
    for step in range(trace.steps):
        for chips in moving(reader.at(step), 0.4):
            used = {chips.palette[each] for each in np.unique(chips.fill).tolist()}
            assert used <= {*(THEME.accent(name) for name in "ABC"), THEME.faint}
            assert THEME.text not in used
    padded = next(s for s in range(trace.steps) if trace.phase[s] == 1 and trace.site_of(s).text.startswith("tileA[y][x]"))
    fill = {each.key: {each.palette[f] for f in each.fill.tolist()} for each in moving(reader.at(padded), 0.4)}
    assert {THEME.accent("A")} in fill.values()
    assert {THEME.faint} in fill.values()  # zeros from outside A are no elements of it


def test_a_stored_sum_grows_in_its_cell(reader: Reader) -> None:
    now = reader.at(reader.replay.steps - 1)
    (early,), (late,) = moving(now, 0.05), moving(now, ARRIVAL * 0.999)
    assert early.palette == (THEME.accent("C"),)
    assert len(late.boxes) == 16
    assert (late.boxes[:, 2] > 2 * early.boxes[:, 2]).all()
    assert early.boxes[:, :2] + early.boxes[:, 2:] / 2 == pytest.approx(late.boxes[:, :2] + late.boxes[:, 2:] / 2)


def bar(moment: Moment, at: float) -> tuple[np.ndarray, np.ndarray]:
    parts = {each.key: each for each in motion(moment, at) if isinstance(each, Rects)}
    return parts["barrier-0-bar"].boxes[0], parts["barrier-0-filled"].boxes


def test_a_bar_fills_from_waiting_threads_and_lifts(reader: Reader) -> None:
    now = reader.at(next(s for s in range(reader.replay.steps) if reader.replay.trace.site_of(s).is_barrier))
    whole, filled = bar(now, 0.55)
    assert filled[:, 2].sum() == pytest.approx(whole[2])
    assert (filled[:, 1] == whole[1]).all()
    _, coming = bar(now, 0.1)
    assert len(coming) == 16
    assert np.ptp(coming[:, 1]) > 0  # some are on their way
    lifted, _ = bar(now, 0.9)
    assert lifted[1] == whole[1]
    assert lifted[3] < 0.5 * whole[3]
    assert motion(now, 1.0) == ()
    colours = [each for part in motion(now, 0.55) if isinstance(part, Rects) for each in (part.fill, part.stroke) if each]
    assert THEME.warning not in colours
    assert all(channels(each) != channels(THEME.text) for each in colours)


@pytest.mark.parametrize("frame", [(1600.0, 900.0), (1433.0, 704.0), (990.0, 558.0)])
def test_a_bar_covers_no_mark_of_an_incomplete_sum(frame: tuple[float, float]) -> None:
    reader = read(trace_of("04_tiled", 8, 8, 8, TILE_WIDTH=4))
    waiting = [step for step in range(14, reader.replay.steps) if reader.replay.trace.site_of(step).is_barrier]
    assert waiting
    for step, at in product(waiting, (0.55, 0.7, 0.9, 1.0)):
        now, options = reader.at(step), ViewOptions(moment=at, width=frame[0], height=frame[1], shows_flights=at < 1.0)
        drawn = {each.key: each for each in view_named("stage").scene(now, options).all if isinstance(each, Rects)}
        x, top, wide, high = drawn["barrier-0-bar"].boxes[0]
        marks = drawn["sums"].boxes
        assert len(marks) == 16
        apart = (marks[:, 1] >= top + high) | (marks[:, 1] + marks[:, 3] <= top) | (marks[:, 0] >= x + wide)
        assert apart.all(), (step, at)


def test_a_bar_is_filled_by_the_share_of_threads_that_arrive() -> None:
    spec = kernel_from("if (threadIdx.x > 2) return; C[threadIdx.x] = A[0]; __syncthreads(); C[threadIdx.x] = B[0];")
    trace = trace_of(spec)
    now = read(trace).at(next(s for s in range(trace.steps) if trace.site_of(s).is_barrier))
    whole, filled = bar(now, 0.55)
    assert filled[:, 2].sum() == pytest.approx(0.75 * whole[2])


def test_each_warp_has_a_bar_where_it_waits_for_itself() -> None:
    spec = kernel_from("C[threadIdx.x] = A[0]; __syncwarp(); C[threadIdx.x] = B[0];", block='["64"]')
    trace = trace_of(spec, 8, 8, 4)
    now = read(trace).at(next(s for s in range(trace.steps) if trace.site_of(s).is_barrier))
    assert {each.key for each in motion(now, 0.55) if each.key.endswith("-bar")} == {"barrier-0-bar", "barrier-32-bar"}
