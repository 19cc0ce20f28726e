"""The stage in the window as it opens: how much of it are matrices, and how many words stand beside them."""

import re
from functools import partial

import pytest
from msgspec import structs
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.gui.replay_page import Stage
from gemmviz.gui.widgets.source_text import SourceTextEdit
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.messages import Place
from gemmviz.model.problem import Problem
from gemmviz.scenes.kit.primitives import Cells, Hit, Labels, Scene
from tests.conftest import sure
from tests.gui.conftest import source_of
from tests.gui.shared_window import settled
from tests.legible import too_small, wrong_with

_LEAST_STAGE, _LEAST_SHARE = 0.60, 0.30  # of the window: the stage, and its cells
_MOST_WORDS, _LEAST_MARGIN, _ROUNDING = 25, 40, 0.5  # words; pixels of a window 1080 high; pixels
_WORD = re.compile(r"[^\W\d]")


@pytest.fixture(params=[(1366, 768), (1920, 1080)], ids=lambda size: f"{size[0]}x{size[1]}")
def opened(request: pytest.FixtureRequest, window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.resize(*request.param)
    window.docks.fit()
    qtbot.wait(60)
    return window


def steps_of_lines(window: MainWindow) -> list[int]:
    """The first and the last step of each line of the kernel."""
    trace = sure(window.session.shown).trace
    lines = [trace.site_of(step).place.line for step in range(trace.steps)]
    return sorted({*{line: step for step, line in enumerate(lines)}.values(), *map(lines.index, lines)})


def shown(window: MainWindow) -> Scene:
    scene = window.replay.stage.scene
    assert scene is not None
    return scene


def share_of_cells(window: MainWindow) -> float:
    """Return the share of the window's area that is cells of the matrices and of the tiles."""
    scene = shown(window)
    tables = [each for each in scene.all if isinstance(each, Cells) and each.key in ("A", "B", "C", "tile-tileA", "tile-tileB")]
    assert len(tables) == 5
    scale = window.replay.stage.width() / scene.width
    return scale**2 * sum(each.box[2] * each.box[3] for each in tables) / (window.width() * window.height())


def words_of(scene: Scene) -> list[str]:
    texts = (text for each in scene.all if isinstance(each, Labels) for text in each.texts)
    return [word for text in texts for word in text.split() if _WORD.search(word)]


def test_the_matrices_take_a_third_of_the_window_and_words_are_few(opened: MainWindow, qtbot: QtBot) -> None:
    stage = opened.replay.stage
    assert stage.width() * stage.height() >= _LEAST_STAGE * opened.width() * opened.height()
    navigation, scale = opened.session.navigation, stage.width() / shown(opened).width
    for step in steps_of_lines(opened):
        navigation.go_to_step(step)
        qtbot.waitUntil(lambda: not opened.session.is_working)
        scene = shown(opened)
        assert share_of_cells(opened) >= _LEAST_SHARE, step
        assert len(words_of(scene)) <= _MOST_WORDS, (step, words_of(scene))
        assert [*wrong_with(scene), *too_small(scene)] == []
        margin = _LEAST_MARGIN / 1080 * opened.height() - _ROUNDING
        for each in scene.all:
            if isinstance(each, Cells):
                x, y, wide, high = (scale * length for length in each.box)
                assert min(x, y) >= margin
                assert x + wide <= stage.width() - margin
                assert y + high <= stage.height() - margin


@pytest.mark.parametrize("opened", [(1366, 768), pytest.param((1920, 1080), marks=pytest.mark.nightly)], indirect=True)
def test_the_lens_stays_or_ends_as_tiles_grow_and_the_menu_says_so(opened: MainWindow, qtbot: QtBot) -> None:
    session, seen = opened.session, list[bool]()
    session.show(
        structs.replace(session.shot, setup=setup_for(load_kernel("04_tiled"), Problem(32, 32, 32), {"TILE_WIDTH": 4}))
    )
    for width in (4, 8, 16):
        opened.model.commands.change("TILE_WIDTH", width)
        qtbot.waitUntil(lambda: settled(opened), timeout=20_000)
        (c,) = (each for each in shown(opened).all if isinstance(each, Cells) and each.key == "C")
        has_lens = c.fill.shape != (32, 32)
        assert session.display.lens == ("lens" if has_lens else "whole")
        assert opened.menus.all["lens"].isChecked() == has_lens
        seen.append(has_lens)
    assert seen == sorted(seen, reverse=True)
    QTest.keyClick(opened.replay.stage, Qt.Key.Key_Z)
    qtbot.waitUntil(lambda: settled(opened), timeout=20_000)
    (c,) = (each for each in shown(opened).all if isinstance(each, Cells) and each.key == "C")
    assert (c.fill.shape != (32, 32)) != seen[-1]


@pytest.mark.parametrize("theme", ["dark", pytest.param("light", marks=pytest.mark.nightly)])
def test_the_line_of_a_step_is_read_without_scrolling(opened: MainWindow, qtbot: QtBot, theme: str) -> None:
    session, text = opened.session, source_of(opened).text
    session.show(structs.replace(session.shot, theme=theme))
    width = 1000 if opened.width() < 1400 else opened.width()
    opened.resize(width, opened.height())
    _, second, *_ = sure(session.shown).replay.phase_starts.tolist()
    for step in (*range(second), session.navigation.run_steps - 1):
        session.navigation.go_to_step(step)
        place = sure(session.now).site.place
        qtbot.waitUntil(partial(is_marked, text, place))
        line = text.document().findBlockByNumber(place.line - 1)
        box = text.document().documentLayout().blockBoundingRect(line).translated(0, -text.verticalScrollBar().value())
        assert QRectF(text.viewport().rect()).contains(box), (width, step)
        assert text.horizontalScrollBar().maximum() == 0
    assert colour_of_margin(text) == QColor(session.display.theme.panel)


def is_marked(text: SourceTextEdit, place: Place) -> bool:
    """Return whether the expression of a step is highlighted."""
    return any(mark.cursor.blockNumber() == place.line - 1 for mark in text.extraSelections())


def colour_of_margin(text: SourceTextEdit) -> QColor:
    return text.grab().toImage().pixelColor(3, text.height() - 3)


def test_what_is_said_about_a_cell_stands_beside_it(opened: MainWindow, qtbot: QtBot) -> None:
    stage = opened.replay.stage
    cells = next(each for each in shown(opened).all if isinstance(each, Cells) and each.key == "C")
    for row, column in ((0, 0), (7, 7)):
        box = stage.box_of(Hit(cells, row, column))
        point_at(stage, box.center())
        qtbot.waitUntil(partial(is_beyond, stage, box))


def point_at(stage: Stage, at: QPointF) -> None:
    """Move the mouse to a place of the stage, wherever the pointer is."""
    none = Qt.MouseButton.NoButton
    move = QMouseEvent(QEvent.Type.MouseMove, at, stage.mapToGlobal(at), none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(stage, move)


def is_beyond(stage: Stage, box: QRectF) -> bool:
    """Return whether the note's corner is right of a box and below it."""
    at = stage.mapFromGlobal(stage.tip_place)
    return at.x() >= box.right() - 2 and at.y() >= box.bottom() - 2
