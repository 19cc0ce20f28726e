"""The pictures of a race and of a sum: what is joined, counted and drawn follows from the run."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.export.prepare import prepare
from gemmviz.launch.catalog import load_kernel
from gemmviz.launch.legality import setup_for
from gemmviz.model.race import RaceCase
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.frame import ARRIVAL, ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Lines, Rects, Scene
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.views.phases_view import phases_scene
from gemmviz.scenes.views.race_view import guilty_pair, race_scene
from gemmviz.scenes.views.sum_view import sum_scene
from gemmviz.state.shot import default_shot
from tests.conftest import piece, sure, trace_of
from tests.legible import too_small, wrong_with

THEME = load_theme("dark")
FRAMES = [(1600.0, 900.0), (1600.0, 1059.0), (1000.0, 1000.0), (2000.0, 700.0)]


def race(name: str) -> RaceCase:
    shot = replace(default_shot(), setup=setup_for(load_kernel(name)), view="race")
    case: RaceCase = prepare(shot, lambda kernel: nullcontext(Interpreter())).subject(0)
    return case


@pytest.mark.parametrize("name", ["no_first_barrier", "no_second_barrier"])
def test_the_guilty_accesses_are_joined(name: str) -> None:
    case = race(name)
    wrong, other = sure(guilty_pair(case))
    read, write = case.turns[wrong], case.turns[sure(other)]
    assert read.is_spoilt
    assert write.action.removeprefix("write ") == read.action.removeprefix("read ")
    assert write.unit != read.unit
    first, last = sorted((wrong, sure(other)))
    assert all(turn.action != write.action for turn in case.turns[first + 1 : last])  # the write that is closest
    scene = race_scene(case, ViewOptions())
    frames, line = piece(scene, "race-pair", Rects), piece(scene, "race-pair-line", Lines)
    assert (frames.stroke, line.stroke) == (THEME.warning, THEME.warning)
    assert len(frames.boxes) == 2
    ends = line.segments.reshape(2, 2)
    for x, y in ends.tolist():
        assert any(left - 1 <= x <= left + w + 1 and top - 1 <= y <= top + h + 1 for left, top, w, h in frames.boxes.tolist())
    assert min(box[2] for box in frames.boxes.tolist()) * 1.2 >= 24  # pixels on a screen of 1080 lines


def test_a_race_has_no_colours_of_the_inputs() -> None:
    scene = race_scene(race("no_first_barrier"), ViewOptions())
    used = {colour for each in scene.all if isinstance(each, Rects) for colour in (each.fill, each.stroke)}
    assert not used & {THEME.accent("A"), THEME.accent("B")}


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
