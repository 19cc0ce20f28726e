"""A right click offers the same everywhere, by the meaning of what is clicked; each entry does something, or says why not."""

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.menus import point_menu, pointed_in
from gemmviz.scenes.kit.primitives import Cells, Labels
from gemmviz.session.commands import deeds
from tests.conftest import sure
from tests.gui.conftest import metrics_of, scene_of
from tests.gui.shared_window import settled

VIEWS = ("stage", "warp", "request", "memory", "banks", "sum", "occupancy", "grid", "why", "pair", "phases", "listing", "order")


def menu_at(window: MainWindow, widget: QWidget, at: QPoint) -> dict[str, QAction]:
    pointed = sure(pointed_in(widget, widget.mapToGlobal(at)))
    menu = point_menu(pointed, window.model.commands, window.docks, window.menus.all["export"], window)
    return {each.objectName(): each for each in menu.actions() if not each.isSeparator()}


def places(window: MainWindow) -> Iterator[QPoint]:
    """The middles of a cell of each table of the picture, of a text, and a corner without anything."""
    stage, scene = window.replay.stage, scene_of(window)
    view = stage.view
    for each in scene.primitives:
        if isinstance(each, Cells):
            yield view.rect(each.x, each.y, each.size, each.pitch).center().toPoint()
        elif isinstance(each, Labels) and len(each.at):
            x, y = each.at[0]
            yield view.rect(x, y - each.size / 2, each.size / 4, each.size / 4).center().toPoint()
    yield QPoint(1, 1)


def does_something(window: MainWindow, entry: QAction) -> bool:
    """Whether an entry changes what is shown, or the clipboard."""
    clipboard, source = QGuiApplication.clipboard(), window.docks.all["source"]
    before = window.session.shot
    clipboard.setText("before")
    source.hide()
    entry.trigger()
    return window.session.shot != before or clipboard.text() != "before" or source.isVisible()


@pytest.mark.parametrize("most", [2, pytest.param(12, marks=pytest.mark.nightly)])
def test_every_entry_does_something_or_says_why_not(window: MainWindow, qtbot: QtBot, most: int) -> None:
    """In every view, at places that are spread over the picture."""
    session = window.session
    for view in VIEWS:
        window.model.commands.show_view(view)
        qtbot.waitUntil(lambda: settled(window) and session.display.subject is not None, timeout=20_000)
        shot, tried = session.shot, set[str]()
        chosen = list(places(window))
        for at in chosen[:: -(-len(chosen) // most)]:
            for name, entry in menu_at(window, window.replay.stage, at).items():
                if name == "export":
                    assert entry is window.menus.all["export"]
                elif entry.isEnabled():
                    assert does_something(window, entry), (view, name)
                    tried.add(name)
                    if session.shot != shot:
                        session.show(shot)
                        qtbot.waitUntil(lambda: settled(window), timeout=20_000)
                else:
                    assert entry.toolTip(), (view, name)
        assert "source" in tried, view


def test_a_cell_of_the_result_is_followed_and_its_value_copied(window: MainWindow, qtbot: QtBot) -> None:
    stage, cells = window.replay.stage, sure(scene_of(window).find("C"))
    assert isinstance(cells, Cells)
    at = stage.view.rect(cells.x + 2 * cells.size, cells.y, cells.size, cells.pitch).center().toPoint()
    entries = menu_at(window, stage, at)
    entries["follow"].trigger()
    qtbot.waitUntil(lambda: settled(window))
    assert window.session.shot.focus.thread == 2
    assert menu_at(window, stage, at)["follow"].text() == "Follow the whole block"


def test_the_text_under_the_pointer_is_copied(window: MainWindow) -> None:
    stage = window.replay.stage
    label = next(each for each in scene_of(window).all if isinstance(each, Labels) and each.texts and len(each.texts[0]) > 3)
    x, y = np.asarray(label.at)[0]
    shift = {"start": 2.0, "middle": 0.0, "end": -2.0}[label.anchor]
    at = stage.view.rect(x + shift, y - label.size / 3, 0, 0).center().toPoint()
    menu_at(window, stage, at)["copy"].trigger()
    assert QGuiApplication.clipboard().text() == label.texts[0]


def test_rows_and_the_timeline_have_the_menu_too(window: MainWindow, qtbot: QtBot) -> None:
    table = metrics_of(window).accesses
    qtbot.waitUntil(lambda: table.rowCount() > 1)
    row = next(row for row in range(table.rowCount()) if not sure(table.item(row, 0)).isSelected())
    at = table.visualItemRect(sure(table.item(row, 0))).center() + table.viewport().pos()
    step = window.session.now.step if window.session.now is not None else -1
    menu_at(window, table, at)["source"].trigger()
    assert sure(window.session.now).step != step
    slider = window.replay.timeline.slider
    entries = menu_at(window, slider, QPoint(round(slider.tracks.right) - 2, slider.height() // 2))
    entries["source"].trigger()
    assert sure(window.session.now).step == sure(window.session.now).trace.steps - 1
    assert (entries["follow"].isEnabled(), entries["copy"].isEnabled()) == (False, False)


@pytest.mark.parametrize("floats", [False, True])
def test_a_right_click_opens_the_menu(window: MainWindow, floats: bool) -> None:
    metrics = metrics_of(window)
    window.docks.all["metrics"].setFloating(floats)
    for widget in (window.replay.stage, window.replay.timeline.slider, metrics.costs.viewport()):
        at = QPoint(widget.width() // 2, widget.height() // 2)
        QApplication.sendEvent(widget, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, widget.mapToGlobal(at)))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu), widget
        assert {"follow", "source", "why", "copy", "export"} == {each.objectName() for each in menu.actions() if each.text()}
        menu.close()


def test_no_value_is_copied_while_a_question_is_open(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    pointed = sure(pointed_in(window.replay.stage, window.replay.stage.mapToGlobal(QPoint(1, 1))))
    monkeypatch.setattr(type(window.session.display), "counted", 0.0)
    copy = next(each for each in deeds(pointed, window.model.commands, lambda: None, lambda text: None) if each.id == "copy")
    assert copy.why_not == "A question is open"
