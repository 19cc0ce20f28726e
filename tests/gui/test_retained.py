"""A picture that is painted again only where it changes is the one that is painted as a whole."""

import dataclasses
import random
import sys
from gettext import NullTranslations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gemmviz.analysis.replay.replay import Replay
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model import messages
from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.render.qt.raster import _changed_cells
from gemmviz.scenes.kit.primitives import Cells, Primitive
from gemmviz.scenes.kit.view import View
from tests.conftest import sure

LEVELS = 8  # of 255: smooth lines are rounded differently where they are cut


def pixels(image: QImage) -> npt.NDArray[np.uint8]:
    rgb = image.convertToFormat(QImage.Format.Format_RGB32)
    rows = np.frombuffer(rgb.constBits(), np.uint8).reshape(rgb.height(), -1, 4)
    return rows[:, : rgb.width(), :3].copy()


def painted_whole(window: MainWindow) -> npt.NDArray[np.uint8]:
    """The stage's picture without anything retained."""
    stage = window.replay.stage
    scene, image, area = sure(stage.scene), QImage(stage.size(), QImage.Format.Format_RGB32), QRectF(stage.rect())
    painter, fresh = QPainter(image), ScenePainter()
    fresh.paint_ground(painter, scene, stage.view, area)
    fresh.paint_over(painter, stage.motion, stage.view, area)
    fresh.paint_top(painter, scene, stage.view, area)
    painter.end()
    return pixels(image)


def retained(window: MainWindow) -> npt.NDArray[np.uint8]:
    """The stage's picture from what it retains: the ground as a pixmap, and the layers over it."""
    stage = window.replay.stage
    image = QImage(stage.size(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.drawPixmap(0, 0, sure(stage._still).pixmap)
    for layer in (stage._moving, stage._layers.above, stage._layers.over):
        layer.paint(stage._painter, painter, stage.rect())
    painter.end()
    return pixels(image)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
def test_it_is_the_whole_picture_after_any_steps(window: MainWindow, qtbot: QtBot, seed: int) -> None:
    chance, session, page = random.Random(seed), window.session, window.replay
    page.stage.setFixedSize(900, 600)
    session.player.play(False)
    for number in range(14):
        steps = sure(session.shown).trace.steps
        for _ in range(chance.randrange(8)):  # the next picture is prepared, or a part of it
            QApplication.processEvents()
        following = page._following()
        if chance.random() < 0.6 and following is not None:
            session.navigation.go_to_step(*following)
        else:
            session.navigation.go_to_step(chance.randrange(steps), chance.choice((0.0, 0.3, 0.5, 1.0)))
        if number % 10 == 9:
            window.model.commands.show_view(chance.choice(("stage", "warp", "banks", "phases")))
        if number == 12:
            window.model.commands.choose_theme("light")
        qtbot.waitUntil(lambda: session.display.subject is not None)
        page.stage.repaint()
        differs = np.abs(retained(window).astype(int) - painted_whole(window)).max(axis=2)
        assert differs.max() <= LEVELS, (number, session.shot.view, np.argwhere(differs > LEVELS)[[0, -1]].tolist())


class Drawn:
    """The primitives that the stage paints from now on; its picture must not be built again."""

    def __init__(self, window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
        self.primitives = list[Primitive]()
        paint_over = ScenePainter.paint_over

        def counted(painter: ScenePainter, brush: QPainter, primitives: Any, *rest: Any) -> None:
            if painter is window.replay.stage._painter:
                self.primitives.extend(primitives)
            paint_over(painter, brush, primitives, *rest)

        monkeypatch.setattr(ScenePainter, "paint_over", counted)
        monkeypatch.setattr(View, "still", lambda *_: pytest.fail("the picture is built again"))


class Catalogue(NullTranslations):
    """A language that is English, and notes each text that is looked up in it."""

    def __init__(self, asked: list[str]) -> None:
        super().__init__()
        self.asked = asked

    def gettext(self, message: str) -> str:
        self.asked.append(message)
        return message


def test_between_two_frames_of_a_step_only_what_moves_is_painted(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: not window.session.is_working)
    window.session.player.play(False)
    go, page = window.session.navigation.go_to_step, window.replay
    go(8, 0.4)
    qtbot.waitUntil(lambda: page._is_prepared)
    asked = list[str]()
    with monkeypatch.context() as patch:
        drawn = Drawn(window, patch)
        patch.setattr(page.stage, "set_scene", lambda *_: pytest.fail("the picture is shown again"))
        patch.setattr(messages._language, "catalogue", Catalogue(asked))
        go(8, 0.5)
        page.stage.repaint()  # and nothing else: panels are brought up to date later
    assert not asked
    ground = {id(each) for each in sure(page.stage.scene).primitives}
    assert drawn.primitives
    assert not [each for each in drawn.primitives if id(each) in ground]


def test_the_next_step_is_built_and_painted_before_it_is_shown(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: not window.session.is_working)
    window.session.player.play(False)
    go, page = window.session.navigation.go_to_step, window.replay
    for step, moment in ((7, 1.0), (8, 0.0), (8, 1.0), (9, 0.0)):
        with monkeypatch.context() as patch:
            drawn = Drawn(window, patch) if step > 7 else None
            before = page.stage.scene
            go(step, moment)
            page.stage.repaint()
            ground = {id(each) for each in sure(page.stage.scene).primitives}
            assert page.stage.scene is not before
            assert drawn is None or not [each for each in drawn.primitives if id(each) in ground]
        assert np.abs(retained(window).astype(int) - painted_whole(window)).max() <= LEVELS
        qtbot.waitUntil(lambda: page._is_prepared)


def test_backwards_the_picture_before_is_prepared(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.session.is_working)
    session, page = window.session, window.replay
    for step, before in ((5, 4), (0, session.navigation.steps - 1)):
        session.player.play(False)
        session.navigation.go_to_step(step, 0.0)
        session.player.reverse(True)
        session.player.play(True)
        assert page._following() == (before, 1.0)


def test_nothing_is_prepared_before_its_sums_are_known(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A moment keeps the sums that were known when it was made."""
    qtbot.waitUntil(lambda: not window.session.is_working)
    window.session.player.play(False)
    page = window.replay
    with monkeypatch.context() as patch:
        patch.setattr(Replay, "knows_terms", lambda *_: False)
        window.session.navigation.go_to_step(8)
        qtbot.waitUntil(lambda: page._is_prepared)
        assert page._ahead is None
    page.draw()
    qtbot.waitUntil(lambda: page._ahead is not None)


def test_an_error_while_painting_is_reported_and_ends_nothing(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = list[BaseException]()
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: heard.append(error))
    monkeypatch.setattr(window.replay.stage._painter, "paint_over", lambda *_: 1 / 0)
    window.replay.stage.forget_still()
    window.replay.stage.repaint()
    assert [type(error) for error in heard] == [ZeroDivisionError]


def test_a_cell_whose_label_alone_differs_is_painted_again() -> None:
    labels = np.array([["a", "b"], ["c", "d"]])
    old = Cells("x", 0.0, 0.0, 10.0, np.zeros((2, 2), np.uint8), ("#000000",), ("#FFFFFF",), labels=labels)
    assert sure(
        _changed_cells(old, dataclasses.replace(old, labels=labels.copy()), Viewport(1.0, 0.0, 0.0, 1.0, 1.0))
    ).isEmpty()
    other = labels.copy()
    other[1, 1] = "e"
    changed = sure(_changed_cells(old, dataclasses.replace(old, labels=other), Viewport(1.0, 0.0, 0.0, 1.0, 1.0)))
    assert changed.contains(15, 15)
