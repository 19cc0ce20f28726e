"""The default window says each fact of the run once: in a widget, on the timeline, or in the picture of the stage."""

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDockWidget, QMainWindow, QTextEdit
from pytestqt.qtbot import QtBot

from gemmviz.gui.window.main_window import MainWindow
from gemmviz.scenes.kit.primitives import Labels
from gemmviz.scenes.kit.timeline import timeline_names
from tests.conftest import sure
from tests.gui.conftest import scene_of, shown_of
from tests.gui.widget_texts import texts_below


def shown_texts(window: MainWindow) -> Iterator[str]:
    """All texts that can be seen: of the widgets, of the source, of the timeline, and of the picture."""
    yield window.windowTitle()
    for widget, kind, text in texts_below(window):
        is_frame = isinstance(widget, QMainWindow | QComboBox)
        if kind in ("text", "tab", "title", "cell") and widget.isVisible() and not is_frame:
            yield text
    yield from (box.currentText() for box in window.findChildren(QComboBox) if box.isVisible())
    for source in window.findChildren(QTextEdit):
        yield from source.toPlainText().splitlines() if source.isVisible() else ()
    slider = window.replay.timeline.slider
    for scene in (timeline_names(shown_of(window).replay, slider._whole, window.model.theme), scene_of(window).all):
        for each in scene:
            yield from each.texts if isinstance(each, Labels) else ()


def facts_of(window: MainWindow) -> dict[str, str]:
    """What the present step is about, as patterns of the texts that say it."""
    now = sure(window.session.now)
    step, block = now.step + 1, ", *".join(map(str, now.focus.block[:2]))
    phase = 1 + sum(start <= now.step for start in shown_of(window).replay.phase_starts.tolist()[1:])
    return {
        "kernel": re.escape(now.trace.setup.kernel.name),
        "step": rf"\bstep {step}\b|^{step} / ",
        "phase": rf"\bphase {phase}\b",
        "statement": re.escape(now.site.text),
        "line": rf"\bline {now.site.place.line}\b",
        "block": rf"\bblock.\({block}\)",
    }


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080), (1024, 768)])
def test_each_fact_stands_once(window: MainWindow, qtbot: QtBot, size: tuple[int, int]) -> None:
    window.resize(*size)
    window.docks.fit()
    assert [dock.objectName() for dock in window.findChildren(QDockWidget) if dock.isVisible()] == ["source"]
    for key in (Qt.Key.Key_Home, Qt.Key.Key_PageDown, Qt.Key.Key_Right):
        QTest.keyClick(window, key)
        qtbot.waitUntil(lambda: not window.session.is_working, timeout=20_000)
        qtbot.wait(100)  # the panels follow
        texts = [text.replace("\xa0", " ") for text in shown_texts(window)]
        said = {fact: [text for text in texts if re.search(pattern, text)] for fact, pattern in facts_of(window).items()}
        assert {fact: places for fact, places in said.items() if len(places) > 1} == {}
        assert len(said["kernel"]) == len(said["step"]) == len(said["statement"]) == 1
        told = [fact for each in scene_of(window).all if isinstance(each, Labels) for fact in each.tells]
        assert len(told) == len({*told, "step", "phase"} - {"step", "phase"})  # these two are the timeline's
