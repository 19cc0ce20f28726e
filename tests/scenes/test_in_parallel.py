"""Many threads may draw one replay at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.catalog import view_named, views_of
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.scenes.kit.view import LAYERS, ViewOptions
from tests.conftest import sampled, trace_of

THREADS = 4


def drawn(replay: Replay, view: str, every: int, backwards: bool) -> list[Scene]:
    """Every so many steps through several focuses; the stage in every layer."""
    found = []
    for focus in (Focus(), Focus((1, 0, 0), None, 5), Focus(everyone=True)):
        reader = Reader(replay, focus)
        steps = range(0, replay.steps, every)
        for step in reversed(steps) if backwards else steps:
            for layer in LAYERS[:: 1 if every == 1 else 4] if view == "stage" else LAYERS[:1]:
                found.append(
                    (focus, step, layer, view_named(view).scene(reader.at(step), ViewOptions(layer=layer, moment=0.4)))
                )
    return [scene for _, _, _, scene in sorted(found, key=lambda each: (str(each[0]), each[1], each[2]))]


@pytest.mark.parametrize("every", [30, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("view", ["stage", *sampled((view for view in views_of(Moment) if view != "stage"), 8)])
def test_four_threads_draw_what_one_draws(view: str, every: int) -> None:
    trace = trace_of("04_tiled", 8, 8, 12, TILE_WIDTH=4, values=True)
    alone = drawn(Replay.of(trace), view, every, backwards=False)
    shared = Replay.of(trace)
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(lambda number: drawn(shared, view, every, backwards=number % 2 == 1), range(THREADS)))
    for found in together:
        assert found == alone
    assert scene_svg(together[0][-1], "named") == scene_svg(alone[-1], "named")
