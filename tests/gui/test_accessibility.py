"""The window without eyes or mouse: names of all elements, tables over pictures, keys, and what is announced."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QTabBar,
    QTableView,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gemmviz.gui import replay_page
from gemmviz.gui.chart_plot import ChartPlot
from gemmviz.gui.export_dialog import ExportDialog
from gemmviz.gui.kernel_picker import KernelChooser
from gemmviz.gui.launch_form import LaunchDialog
from gemmviz.gui.widgets.fact_table import FactTable
from gemmviz.gui.widgets.input import FocusRing
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.window.menus import AboutBox
from gemmviz.session.state import TurnTo
from gemmviz.shots.picture import step_sentence
from tests.conftest import sure
from tests.gui.accessible_tree import Element, elements
from tests.gui.conftest import open_file, pictured

PLAIN = Path(__file__).parent.parent / "data" / "plain"


@pytest.fixture
def reader(qapp: QApplication) -> Iterator[None]:
    """An assistive technology is in use."""
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is announced about steps."""
    sentences: list[str] = []
    monkeypatch.setattr(replay_page, "announce", lambda widget, sentence: sentences.append(sentence))
    return sentences


def nameless(root: QWidget) -> list[Element]:
    QApplication.processEvents()
    return [each for each in elements(root) if each.is_nameless]


def table(window: MainWindow, name: str) -> FactTable:
    return next(each for each in window.replay.stage.tables.tables if each.accessibleName().startswith(name))


def texts(view: QTableView) -> list[str]:
    """The names of a table's cells, as a screen reader gets them."""
    interface = sure(QAccessible.queryAccessibleInterface(view))
    children = (sure(interface.child(number)) for number in range(interface.childCount()))
    return [child.text(QAccessible.Text.Name) for child in children if child.role() == QAccessible.Role.Cell]


def test_every_element_of_the_window_has_a_name(reader: None, full_window: MainWindow, qtbot: QtBot) -> None:
    window = full_window
    window.replay.stage.tables.update()
    assert len(list(elements(window))) > 300
    assert not nameless(window)
    for name, dock in window.docks.all.items():
        dock.show()
        dock.raise_()
        qtbot.wait(60)
        assert not nameless(dock), name
    menus = [menu for menu in window.menus._menus.values()]
    assert len(menus) > 12
    for menu in menus:
        menu.popup(QPoint(10, 10))
        assert not nameless(menu), menu.title()
        menu.hide()


def test_every_element_of_the_benchmark_has_a_name(reader: None, window: MainWindow, qtbot: QtBot) -> None:
    window.model.commands.toggle_benchmark()
    qtbot.waitUntil(lambda: window.benchmark.plot is not None and bool(window.benchmark.plot.tables.tables), timeout=10_000)
    assert not nameless(window)
    plot = window.benchmark.plot
    assert isinstance(plot, ChartPlot)
    (points,) = plot.tables.tables
    chart = sure(plot.chart)
    assert len(texts(points)) == 4 * sum(len(curve.points) for curve in chart.curves)
    assert chart.curves[0].texts[0] in texts(points)
    assert chart.title in plot.accessibleDescription()


def test_every_element_of_the_dialogs_has_a_name(reader: None, window: MainWindow, qtbot: QtBot) -> None:
    pictured(window, qtbot, lambda: open_file(window.model, PLAIN / "student.cu"))
    dialogs: list[QDialog] = [ExportDialog(window.model, window, "png"), AboutBox(window)]
    dialogs.append(KernelChooser(window.model, [PLAIN / "student.cu", PLAIN / "two_kernels.cu"], window))
    for dialog in dialogs:
        dialog.show()
        assert not nameless(dialog), type(dialog)
        dialog.close()
    window.launch.edit.click()
    (launch,) = (each for each in window.findChildren(LaunchDialog) if each.isVisible())
    assert not nameless(launch)


def test_every_element_of_the_start_the_tour_and_a_lesson_has_a_name(reader: None, window: MainWindow, qtbot: QtBot) -> None:
    window.start_mode.begin()
    qtbot.wait(60)
    assert not nameless(window)
    sure(window.start_mode.panel).explore.click()
    window.start_tour()
    qtbot.waitUntil(lambda: window.tour is not None)
    assert not nameless(sure(window.tour))
    sure(window.tour).end()
    window.model.opening.open_lesson("shared-memory")
    qtbot.waitUntil(lambda: window.model.course.is_on and not window.session.is_busy, timeout=20_000)
    window.docks.favour("lessons")
    qtbot.waitUntil(lambda: not nameless(window))


def test_every_element_of_the_lecture_has_a_name(reader: None, window: MainWindow, qtbot: QtBot) -> None:
    window.lecture.begin()
    window.lecture.show_presenter()
    qtbot.wait(100)
    assert not nameless(sure(window.lecture.wall))
    assert not nameless(sure(window.lecture.presenter))


def test_a_cell_says_element_value_address_and_who_touches_it(reader: None, window: MainWindow, qtbot: QtBot) -> None:
    window.docks.reset()
    window.docks.favour("metrics")  # beside it the stage has room for the lanes of a request
    window.session.navigation.go(0)

    def tells_lanes() -> bool:
        window.replay.stage.tables.update()
        return any(each.accessibleName().startswith("lanes") for each in window.replay.stage.tables.tables)

    qtbot.waitUntil(tells_lanes)
    cells = texts(table(window, "A, global memory"))
    assert len(cells) == 64
    first = cells[0]
    assert first.startswith("A, row 0, column 0: value ")
    assert "read now by thread (0, 0) of warp 0" in first
    assert "element 0, byte 0: sector 0, line 0" in first
    assert "not touched at this step" in cells[63]
    tile = texts(table(window, "tileA, shared memory"))
    assert "nothing stored yet" in tile[5]
    assert "byte 20: bank 5" in tile[5]
    assert texts(table(window, "lanes"))[1] == "lane 1 of warp 0, thread (1, 0): A, row 0, column 1"
    lines = texts(table(window, "Texts"))
    assert any("4 sectors" in line for line in lines)


def test_nothing_is_made_for_those_who_see(new_window: MainWindow, qtbot: QtBot) -> None:
    assert not QAccessible.isActive()
    new_window.session.navigation.go(3)
    qtbot.wait(100)
    assert not new_window.findChildren(FactTable)


def test_tables_are_dropped_once_the_keyboard_has_left(window: MainWindow, qtbot: QtBot) -> None:
    stage = window.replay.stage
    qtbot.keyClick(stage, Qt.Key.Key_Tab)
    assert stage.tables.tables
    window.session.navigation.go(3)
    qtbot.wait(100)
    assert stage.tables.tables  # one has the focus
    stage.setFocus()
    window.session.navigation.go(4)
    qtbot.waitUntil(lambda: not stage.tables.tables)


def test_the_keyboard_goes_through_the_cells(window: MainWindow, qtbot: QtBot) -> None:
    window.docks.reset()
    window.docks.favour("metrics")
    qtbot.wait(60)
    stage = window.replay.stage
    said: list[list[str]] = []
    window.model.pointer.lines_changed.connect(said.append)
    qtbot.keyClick(stage, Qt.Key.Key_Tab)
    first = QApplication.focusWidget()
    assert isinstance(first, FactTable)
    assert first.accessibleName() == "A, global memory, 8 by 8"
    step = window.session.navigation.step
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(first, key)
    qtbot.waitUntil(lambda: any(lines and lines[0] == "A[1, 2]" for lines in said))
    assert window.session.navigation.step == step  # the arrows moved over the cells alone
    seen = []
    for _ in range(12):
        seen.append(sure(QApplication.focusWidget()).accessibleName().partition(",")[0])
        qtbot.keyClick(sure(QApplication.focusWidget()), Qt.Key.Key_Tab)
    assert seen[:7] == ["A", "B", "C", "tileA", "tileB", "lanes", "Texts"]
    assert "Step" in seen
    result = table(window, "C")
    result.setFocus()
    qtbot.keyClick(result, Qt.Key.Key_End)
    qtbot.keyClick(result, Qt.Key.Key_Return)
    assert window.session.shot.focus.thread is not None  # the thread of the cell is followed
    qtbot.keyClick(sure(QApplication.focusWidget()), Qt.Key.Key_Escape)
    assert stage.hasFocus()


def test_tab_stops_at_nothing_that_is_hidden_behind_another_panel(full_window: MainWindow, qtbot: QtBot) -> None:
    window = full_window
    behind = {name for name, dock in window.docks.all.items() if dock.isVisible() and dock.visibleRegion().isEmpty()}
    assert behind  # panels that are tabs behind others
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        window.replay.stage.setFocus()
        stops: list[QWidget] = []
        while (widget := sure(QApplication.focusWidget())) not in stops:
            stops.append(widget)
            qtbot.keyClick(widget, key)
        assert len(stops) > 20
        docks = {dock.objectName() for dock in window.docks.all.values() if any(dock.isAncestorOf(each) for each in stops)}
        assert docks
        assert not docks & behind


def test_a_table_keeps_its_cell_from_step_to_step(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window.replay.stage, Qt.Key.Key_Tab)
    first = QApplication.focusWidget()
    assert isinstance(first, FactTable)
    for _ in range(3):
        qtbot.keyClick(first, Qt.Key.Key_Down)
    before = texts(first)[24]
    window.session.navigation.go(window.session.navigation.step + 4)
    qtbot.waitUntil(lambda: texts(first)[24] != before)
    assert (first.currentIndex().row(), first.currentIndex().column()) == (3, 0)
    assert QApplication.focusWidget() is first


def test_the_focus_is_seen_in_every_theme(window: MainWindow, qtbot: QtBot) -> None:
    stage = window.replay.stage
    for theme in ("dark", "light", "print"):
        window.model.commands.choose_theme(theme)
        QApplication.processEvents()
        stage.setFocus()
        plain = stage.grab().toImage()
        qtbot.keyClick(stage, Qt.Key.Key_Tab)
        cells = QApplication.focusWidget()
        assert isinstance(cells, FactTable)
        ring = cells.visualRect(cells.currentIndex())
        stage.grab()
        shown = stage.grab().toImage()
        across = [QPoint(x, ring.center().y()) for x in range(ring.left() - 4, ring.left() + 6)]
        assert any(shown.pixelColor(at) == stage.palette().text().color() for at in across), theme
        assert any(shown.pixelColor(at) != plain.pixelColor(at) for at in across), theme


def test_every_stop_of_tab_shows_the_focus(full_window: MainWindow, qtbot: QtBot) -> None:
    """Of the stops that draw nothing in Qt's own styles: scrolling panels, the source, and a picture's texts."""
    window = full_window
    window.replay.stage.setFocus()
    bare: set[str] = set()
    stops: list[QWidget] = []
    while (widget := sure(QApplication.focusWidget())) not in stops:
        stops.append(widget)
        if isinstance(widget, QScrollArea | QTextEdit) or widget.accessibleName() == "Texts":
            bare.add(widget.accessibleName())
            at = widget.mapTo(window, QPoint(widget.width() // 2, 3))
            assert window.grab().toImage().pixelColor(at) == window.palette().text().color(), widget.accessibleName()
        qtbot.keyClick(widget, Qt.Key.Key_Tab)
    assert bare >= {"Settings", "Source", "Metrics", "Texts"}
    window.replay.stage.setFocus()
    assert [each for each in window.findChildren(FocusRing) if each.isVisible()] == []


def test_a_step_is_announced_where_it_rests(reader: None, heard: list[str], new_window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(heard), timeout=5_000)
    heard.clear()
    for step in range(1, 6):
        new_window.session.navigation.go(step)
    qtbot.waitUntil(lambda: bool(heard), timeout=5_000)
    now = sure(new_window.session.now)
    assert heard == [f"Step 6 of {now.trace.steps}: {step_sentence(now)}"]
    new_window.session.navigation.go(4)
    new_window.session.navigation.go(5)  # back where it was before it rested elsewhere
    qtbot.wait(500)
    assert len(heard) == 1


def test_an_open_question_is_not_answered_by_the_words(reader: None, window: MainWindow, qtbot: QtBot) -> None:
    window.session.navigation.go(0)
    window.session.apply(TurnTo("course", window.session.state.course, "hidden"))
    window.replay.stage.tables.update()
    assert "A question is open" in window.replay.stage.accessibleDescription()
    cells = texts(table(window, "A, global memory"))
    assert "loads so far: ? by block" in cells[0]
    assert not [each for each in cells if re.search(r"loads so far: \d", each)]
    window.session.apply(TurnTo("course", window.session.state.course, "shown"))
    window.replay.stage.tables.update()
    assert "1 request moves 4 sectors" in window.replay.stage.accessibleDescription()


@pytest.mark.nightly
def test_a_step_is_as_quick_with_a_reader(reader: None, window: MainWindow, qtbot: QtBot) -> None:
    """The tables follow after the picture is painted, in less than a frame."""
    window.replay.stage.tables.update()
    times = []
    for step in range(window.session.navigation.run_steps):
        window.session.navigation.go(step)
        began = time.perf_counter()
        window.replay.stage.tables.update()
        times.append(time.perf_counter() - began)
    assert sorted(times)[len(times) // 2] < 0.016


def test_menus_are_named_as_they_are_titled(window: MainWindow) -> None:
    assert {menu.accessibleName() for menu in window.menuBar().findChildren(QMenu)} >= {"File", "View", "Watch"}


def test_a_panel_that_the_menu_shows_is_seen(full_window: MainWindow, qtbot: QtBot) -> None:
    window = full_window
    dock = window.docks.all["lessons"]
    assert dock.visibleRegion().isEmpty()  # a tab behind the source
    dock.toggleViewAction().trigger()
    dock.toggleViewAction().trigger()
    qtbot.waitUntil(lambda: not dock.visibleRegion().isEmpty())


def test_the_arrows_choose_a_panel_in_its_tabs(full_window: MainWindow, qtbot: QtBot) -> None:
    window = full_window
    bar = next(each for each in window.findChildren(QTabBar) if each.accessibleName() == "Panels" and each.count() > 2)
    bar.setFocus()
    step, chosen = window.session.navigation.step, bar.currentIndex()
    qtbot.keyClick(bar, Qt.Key.Key_Right)
    assert bar.currentIndex() == chosen + 1
    assert window.session.navigation.step == step  # outside of the tabs, this arrow steps
    assert QApplication.focusWidget() is bar


def test_the_letters_of_the_menus_open_them(full_window: MainWindow) -> None:
    """A letter that a label has too opens neither at once."""
    window = full_window
    menus = {_letter(action.text()) for action in window.menuBar().actions()}
    assert len(menus) == len(window.menuBar().actions())
    labels = [each.text() for each in window.findChildren(QLabel) if each.buddy() is not None]
    buttons = [each.text() for each in window.findChildren(QPushButton) if each.window() is window]
    letters = [letter for letter in map(_letter, (*labels, *buttons)) if letter]
    assert len(letters) > 5
    assert not menus & {*letters}


def _letter(text: str) -> str:
    return QKeySequence.mnemonic(text).toString()
