"""Frames of any size: a view whose picture has no room says so, and nothing is infinite, zero or endless."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.run.cpu.executor import trace_kernel
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Recording
from gemmviz.scenes.catalog import view_named, views, views_of
from gemmviz.scenes.kit.primitives import Cells, Labels, boxes, label_step
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.view import LEAST_WIDTH, ViewOptions
from gemmviz.scenes.stage import layout
from gemmviz.scenes.stage.layout import plan_of
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view
from tests.conftest import moment_of, sure, trace_of

_FRAMES = ((1.0, 1.0, True), (1100.0, 165.0, False), (1100.0, 250.0, False), (LEAST_WIDTH, 300.0, False), (1600.0, 380.0, True))


@cache
def _moments() -> tuple[Moment, ...]:
    vectors = trace_kernel(setup_for(load_kernel("vector_add")), None, Recording(values=True)).whole
    tiled = trace_of("04_tiled", 8, 8, 8, values=True)
    return moment_of(tiled, 3, Focus(warp=0)), moment_of(tiled, tiled.steps // 2), moment_of(vectors, 0)


def test_every_view_draws_a_frame_of_any_size() -> None:
    launches = {}
    for name in ("block", "terms", "trip", "cache", "reach", "switch", "device"):
        shot = Shot(setup_for(load_kernel("04_tiled")), view=name)
        launches[name] = subject_of_view(name).at(Knowledge(shot, Interpreter()), 0)
    for number, (width, height, words) in enumerate(_FRAMES):
        options = ViewOptions(width=width, height=height, words=words, moment=(0.4, 1.0)[number % 2], values=True)
        for view in views_of(Moment).values():
            view.scene(_moments()[number % 3], options)
        for name, case in launches.items():
            view_named(name).scene(case, options)


def test_a_view_without_room_says_so_and_moves_nothing() -> None:
    moment, view = _moments()[0], view_named("banks")
    low = ViewOptions(height=132.0 + 116.0 + view.least - 1.0, moment=0.4)
    message = view.still(moment, low).find("message")
    assert isinstance(message, Labels)
    assert "too little space" in " ".join(message.texts)
    assert view.motion(moment, low) == ()
    assert view.still(moment, ViewOptions(height=low.height + 1.0)).find("message") is None
    assert all(view.least >= 100.0 for view in views().values())


def test_cells_and_hatching_stay_finite() -> None:
    moment = _moments()[2]
    plan = plan_of(moment, ViewOptions(width=160.0, height=20.0))
    assert all(table.cell > 0 for table in plan.matrices.values())
    assert len(hatching("lost", boxes((0, 0, 680, 1e-6)), "#ff0000").segments) < 2000
    assert [label_step(pitch, 20.0, 12) for pitch in (-1.0, 0.0, 1e-9, 3.0, 6.0, 20.0)] == [12, 12, 12, 8, 4, 1]
    assert label_step(1.0, 20.0, 0) == 1


def test_values_of_a_vector_whose_last_row_is_shorter() -> None:
    trace = trace_kernel(setup_for(load_kernel("vector_add")).changed(n=50), None, Recording(values=True)).whole
    scene = view_named("stage").scene(moment_of(trace, trace.steps - 1), ViewOptions(values=True, lens="whole", height=1800.0))
    cells = [each for each in scene.all if isinstance(each, Cells) and each.labels is not None and each.fill.size == 64]
    assert cells
    for each in cells:
        assert (np.ravel(sure(each.labels))[50:] == "").all()


def test_the_largest_cells_are_found_without_trying_all_arrangements_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, tried = layout._arranged, [0]

    def counted(*args: Any) -> Any:
        tried[0] += 1
        return whole(*args)

    monkeypatch.setattr(layout, "_arranged", counted)
    plan_of(_moments()[2], ViewOptions(width=1234.0, height=777.0, lens="whole"))
    assert 0 < tried[0] < 3 * 200  # three rooms; there are eight arrangements, and each search takes forty steps
