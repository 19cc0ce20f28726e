"""The still part of a picture, painted from step to step, against one painted as a whole: pixel by pixel."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QImage, QPainter, QPixmap
from PySide6.QtWidgets import QApplication

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.render.qt.changes import changed_places, drawn, merged, size_of
from gemmviz.render.qt.ground import Ground
from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Rects, Scene, boxes
from gemmviz.scenes.kit.theme import load_theme
from gemmviz.scenes.views.stage_view import stage_scene
from tests.conftest import piece, trace_of

SIZE = QSize(1230, 701)


@dataclass(frozen=True)
class Case:
    """A kernel in a small run, and how it is seen."""

    kernel: str
    size: tuple[int, int, int]
    parameters: dict[str, int]
    look: dict[str, Any]
    focus: Focus | None = None
    zoom: float = 1.0


CASES = {
    "tiled by warp": Case("04_tiled", (8, 8, 8), {"TILE_WIDTH": 4}, {"layer": "warp"}),
    "tiled, zoomed, code": Case("04_tiled", (16, 16, 16), {"TILE_WIDTH": 8}, {"code": True}, Focus(thread=9), 3.3),
    "lens": Case("04_tiled", (64, 64, 64), {"TILE_WIDTH": 16}, {"lens": "lens", "layer": "lane"}),
    "ragged edges": Case("04_tiled", (10, 9, 7), {"TILE_WIDTH": 4}, {"layer": "reuse", "code": True}, None, 2.7),
    "untiled, light, values": Case("02_naive", (5, 6, 7), {}, {"theme": load_theme("light"), "values": True}),
    "registers, loads so far": Case("08_register_tiled", (16, 16, 16), {}, {"layer": "reuse"}),
}


def scenes(case: Case) -> Iterator[Scene]:
    """Steps forwards, some far apart, and back, with copies under way and arrived."""
    reader = Reader(Replay.of(trace_of(case.kernel, *case.size, **case.parameters)), case.focus)
    steps = reader.replay.trace.steps
    for number in (*range(0, min(steps, 26)), steps // 2, steps - 1, 3, 4):
        step = min(number, steps - 1)
        yield stage_scene(reader.at(step), ViewOptions(moment=0.5 if number % 3 else 1.0, **case.look))


def seen(scene: Scene, zoom: float, ratio: float) -> Viewport:
    fitted = Viewport.fit(scene, SIZE.width(), SIZE.height())
    return Viewport(fitted.scale * zoom, fitted.dx - 0.31 * (zoom - 1) * 1600, fitted.dy - 0.2 * (zoom - 1) * 900, ratio, zoom)


def whole(scene: Scene, view: Viewport) -> QImage:
    pixels = QPixmap(round(SIZE.width() * view.ratio), round(SIZE.height() * view.ratio))
    pixels.setDevicePixelRatio(view.ratio)
    brush = QPainter(pixels)
    ScenePainter().paint_ground(brush, scene, view, QRectF(0, 0, SIZE.width(), SIZE.height()))
    brush.end()
    return pixels.toImage()


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("name", CASES)
def test_painting_what_differs_gives_the_pixels_of_the_whole(qapp: QApplication, name: str, ratio: float) -> None:
    case = CASES[name]
    ground: Ground | None = None
    for number, scene in enumerate(scenes(case)):
        view = seen(scene, case.zoom, ratio)
        ground = ground or Ground(ScenePainter(), SIZE, view)
        assert ground.of(scene).toImage() == whole(scene, view), number


def test_one_cell_that_changes_is_all_that_is_painted(qapp: QApplication) -> None:
    scene = next(scenes(CASES["tiled by warp"]))
    table, view = piece(scene, "C", Cells), seen(scene, 1.0, 1.0)
    fill = table.fill.copy()
    fill[2, 3] ^= 1
    other = [replace(table, fill=fill) if each is table else each for each in scene.primitives]
    old = drawn(scene.primitives, [], view)
    places = changed_places(old, drawn(other, old, view), view)
    side = table.size * view.scale
    assert places is not None
    ((left, top, right, bottom),) = places
    assert side < right - left < 1.5 * side + 8
    assert side < bottom - top < 1.5 * side + 8
    assert abs((left + right) / 2 - (table.x + 3.5 * table.size) * view.scale - view.dx) < 1


@pytest.mark.parametrize("change", [lambda pair: pair[::-1], lambda pair: [replace(pair[1], fill=pair[1].fill ^ 1), pair[0]]])
def test_another_order_is_painted_as_a_whole(qapp: QApplication, change: Callable[[list[Any]], list[Any]]) -> None:
    scene = next(scenes(CASES["tiled by warp"]))
    table, view = piece(scene, "C", Cells), seen(scene, 1.0, 1.0)
    pair = [Rects("over", boxes(table.box), "#aa0000"), table]
    ground = Ground(ScenePainter(), SIZE, view)
    for order in (pair, change(pair)):
        now = replace(scene, primitives=tuple(order))
        assert ground.of(now).toImage() == whole(now, view)


def test_another_background_is_painted_as_a_whole(qapp: QApplication) -> None:
    scene = next(scenes(CASES["tiled by warp"]))
    ground = Ground(ScenePainter(), SIZE, seen(scene, 1.0, 1.0))
    ground.of(scene)
    other = replace(scene, background="#ffffff")
    assert ground.of(other).toImage() == whole(other, ground.view)


def test_places_are_merged_until_none_overlap() -> None:
    generator = np.random.default_rng(7)
    corners = generator.integers(0, 200, (40, 2))
    places = [
        (x, y, x + w, y + h)
        for (x, y), (w, h) in zip(corners.tolist(), generator.integers(1, 30, (40, 2)).tolist(), strict=True)
    ]
    found, covered = merged(places), np.zeros((230, 230), int)
    for left, top, right, bottom in found:
        covered[top:bottom, left:right] += 1
    assert covered.max() == 1
    assert sum(map(size_of, found)) == covered.sum()
    assert all(covered[top:bottom, left:right].all() for left, top, right, bottom in places)
