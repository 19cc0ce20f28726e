"""The pictures of a race and of a sum: what is joined, counted and drawn follows from the run."""

from contextlib import nullcontext

import numpy as np
import pytest
from msgspec import structs

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.model.problem import Problem
from gemmviz.model.trace import RaceCase
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.cpu.race import race_of
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.kit.view import ARRIVAL, ViewOptions
from gemmviz.scenes.stage.race import RacePlan, pair_of
from gemmviz.scenes.views.orders_view import VIEWS, race_motion
from gemmviz.scenes.views.phase_view import phases_scene
from gemmviz.scenes.views.sum_view import sum_scene
from gemmviz.shots.export import prepare
from gemmviz.shots.shot import default_shot
from tests.conftest import piece, sure, trace_of
from tests.legible import too_small, wrong_with

THEME = load_theme("dark")
FRAMES = [(1600.0, 900.0), (1600.0, 1059.0), (1000.0, 1000.0), (2000.0, 700.0)]


def race(name: str) -> RaceCase:
    shot = structs.replace(default_shot(), setup=setup_for(load_kernel(name)), view="race")
    case: RaceCase = prepare(shot, lambda kernel: nullcontext(Interpreter())).subject(0)
    return case


@pytest.mark.parametrize("name", ["no_first_barrier", "no_second_barrier"])
def test_an_arrow_goes_from_the_write_to_the_wrong_read(name: str) -> None:
    case = race(name)
    write, read = (case.turns[place] for place in sure(pair_of(case)))
    assert read.is_spoilt
    assert write.what == read.what
    assert write.unit != read.unit
    scene = VIEWS["race"].scene(case, ViewOptions())
    frames, arrow = piece(scene, "race-pair", Rects), piece(scene, "race-arrow", Lines)
    assert (frames.stroke, arrow.stroke) == (THEME.warning, THEME.warning)
    ends = arrow.segments[0].reshape(2, 2).tolist()
    for (x, y), (left, top, wide, high) in zip(ends, frames.boxes.tolist(), strict=True):
        assert left - 4 <= x <= left + wide + 4
        assert top - 4 <= y <= top + high + 4
    assert min(box[2] for box in frames.boxes.tolist()) * 1.2 >= 24  # pixels on a screen of 1080 lines


@pytest.mark.parametrize(("name", "sizes"), [("no_first_barrier", (4, 2)), ("no_second_barrier", (4, 2)),
                                             ("no_second_barrier", (32, 16))])  # fmt: skip
def test_the_turns_play_then_the_arrow_and_the_wrong_elements_last(name: str, sizes: tuple[int, int]) -> None:
    setup = setup_for(load_kernel(name), Problem(sizes[0], sizes[0], sizes[0]), {"TILE_WIDTH": sizes[1]})
    case = race_of(setup)
    turns, arrows, wrong, cells = [], [], [], []
    for moment in np.linspace(0, 1, 31).tolist():
        motion = race_motion(case, ViewOptions(moment=moment))
        turns.append(sum(len(each.boxes) for each in motion if isinstance(each, Rects) and each.key.startswith("race-turns")))
        arrows.append(any(each.key == "race-arrow" for each in motion))
        wrong.append(sum(len(each.boxes) for each in motion if isinstance(each, Rects) and each.key == "result-wrong"))
        cells.append(sum(int((each.fill > 0).sum()) for each in motion if isinstance(each, Cells) and "sh_" in each.key))
    assert turns == sorted(turns)
    assert turns[0] == 0
    assert turns[-1] == len(RacePlan(case, ViewOptions()).shown)
    assert cells == sorted(cells)
    assert turns[arrows.index(True)] == turns[-1]
    assert arrows.index(True) < next(place for place, count in enumerate(wrong) if count)
    assert wrong[-1] == case.spoilt.sum()


def test_a_tile_holds_what_was_stored_and_shows_what_was_read() -> None:
    case = race("no_second_barrier")
    scene = VIEWS["race"].scene(case, ViewOptions())
    labels = sure(piece(scene, "race-sh_A", Cells).labels)
    stores = {
        turn.cells: turn.value
        for turn in case.turns[: sure(case.pair)[1] + 1]
        if turn.action == "write" and turn.array == "sh_A"
    }
    assert {(cell,): text for cell, text in enumerate(labels.ravel().tolist())} == {
        cells: f"{value:.3g}" for cells, value in stores.items()
    }
    fill = piece(scene, "race-sh_A", Cells)
    assert [fill.palette[entry] for entry in fill.fill.ravel().tolist()].count(THEME.warning) == 1


def test_the_wrong_value_stands_beside_the_right_one() -> None:
    case = race("no_first_barrier")
    (row, column), words = (
        np.argwhere(case.spoilt)[0],
        piece(VIEWS["race"].scene(case, ViewOptions()), "result-first", Labels).texts[0],
    )
    assert words == f"C[{row}, {column}] is {case.wrong[row, column]:.3g}, right is {case.right[row, column]:.3g}"


@pytest.mark.parametrize("sizes", [(4, 2), (32, 16), pytest.param((64, 32), marks=pytest.mark.nightly)])
def test_the_words_of_a_race_can_be_read(sizes: tuple[int, int]) -> None:
    case = race_of(
        setup_for(load_kernel("no_second_barrier"), Problem(*(sizes[0],) * 3), {"TILE_WIDTH": sizes[1]}), what="race"
    )
    for width, height in FRAMES:
        assert wrong_with(VIEWS["race"].scene(case, ViewOptions(width=width, height=height))) == [], (width, height)


def sum_at(step: int, moment: float = 1.0, frame: tuple[float, float] = FRAMES[0]) -> Scene:
    trace = trace_of("04_tiled", 8, 8, 8, values=True, TILE_WIDTH=4)
    return sum_scene(Reader(Replay.of(trace)).at(step), ViewOptions(moment=moment, width=frame[0], height=frame[1]))


def test_bars_of_products_follow_each_other() -> None:
    scene = sum_at(12)  # four products of the first phase
    bars = [piece(scene, f"product-{k}", Rects).boxes[0] for k in range(4)]
    signs = [float(piece(scene, f"value-{k}", Labels).texts[0]) for k in range(4)]
    zero = piece(scene, "sum-zero", Lines).segments[0, 1]
    unit = bars[0][3] / abs(signs[0])
    at = zero
    for (_, top, _, high), value in zip(bars, signs, strict=True):
        after = at - value * unit
        assert top == pytest.approx(min(at, after), abs=3)
        assert high == pytest.approx(abs(value) * unit, rel=0.05, abs=3)
        at = after
    assert scene.find("product-4") is None
    total = float(piece(scene, "sum-value", Labels).texts[0].removeprefix("sum = "))
    assert total == pytest.approx(sum(signs), rel=0.01)


def test_a_product_is_shown_once_its_factors_have_arrived() -> None:
    assert sum_at(6, 0.5).find("product-0") is None
    assert sum_at(6, ARRIVAL).find("product-0") is not None
    assert piece(sum_at(6, 0.5), "sum-account", Labels).texts == ("thread (0, 0): 0 of 8 terms",)


@pytest.mark.parametrize(("step", "trips"), [(0, "16 trips"), (7, "trip 1 of 16"), (16, "trip 2 of 16")])
def test_a_loop_over_elements_counts_the_trips_of_all(step: int, trips: str) -> None:
    reader = Reader(Replay.of(trace_of("flattened", 4, 4, 4, values=True)))
    scene = sum_scene(reader.at(step), ViewOptions())
    assert piece(scene, "loop-0-trip", Labels).texts == (trips,)


@pytest.mark.parametrize("frame", FRAMES)
def test_sums_and_phases_can_be_read(frame: tuple[float, float]) -> None:
    trace = trace_of("04_tiled", 8, 8, 8, values=True, TILE_WIDTH=4)
    reader, options = Reader(Replay.of(trace)), ViewOptions(width=frame[0], height=frame[1])
    for step in (0, 12, trace.steps - 1):
        for scene in (sum_at(step, frame=frame), phases_scene(reader.at(step), options)):
            assert wrong_with(scene) == []
            assert too_small(scene) == []


def test_no_half_of_the_sum_is_empty() -> None:
    scene = sum_at(28)
    drawn = [each.boxes for each in scene.primitives if isinstance(each, Rects)]
    bottoms = np.concatenate([boxes[:, 1] + boxes[:, 3] for boxes in drawn])
    assert bottoms.max() > 0.6 * 900
