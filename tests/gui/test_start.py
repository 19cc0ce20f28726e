"""The start of the window: the first picture plays beside the lessons until something is chosen."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip, QWidget
from pytestqt.qtbot import QtBot

from gemmviz.cuda.launch.catalog import DEFAULT_KERNEL, lesson_names
from gemmviz.gui.panels.lessons import Lessons
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.shelf import Shelf
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import DATA, sure
from tests.gui.conftest import open_file, panel_of
from tests.gui.shared_window import settled

_LONG_MS = 20_000


def opened(qtbot: QtBot, store: InMemoryStore, width: int = 1280, height: int = 720) -> MainWindow:
    window = MainWindow(store)
    window.resize(width, height)
    qtbot.addWidget(window)
    window.start()
    window.show()
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    return window


@pytest.fixture
def first(qtbot: QtBot) -> MainWindow:
    return opened(qtbot, InMemoryStore())


def shelf(window: MainWindow) -> Shelf:
    return sure(window.start_mode.panel).shelf


def test_the_first_picture_plays_beside_the_lessons_until_explore_points_out_what_can_be_changed(
    first: MainWindow, qtbot: QtBot
) -> None:
    assert first.start_mode.is_on
    assert first.session.shot.setup.kernel.name == DEFAULT_KERNEL
    assert first.session.player.is_playing
    assert not first.docks.all["settings"].isVisible()
    assert [card.name for card in shelf(first).shown] == lesson_names()
    shelf(first).order.setCurrentIndex(1)
    shelf(first).order.activated.emit(1)
    titles = [card.title for card in shelf(first).shown]
    assert titles == sorted(titles)
    sure(first.start_mode.panel).explore.click()
    assert first.docks.all["source"].isVisible()
    assert not first.start_mode.is_on
    slider = first.replay.tiles.slider
    qtbot.waitUntil(first._ring.isVisible)
    assert first._ring.geometry().contains(slider.mapTo(first, slider.rect().center()))
    assert "Drag the slider" in QToolTip.text()
    first.close()


def test_a_card_tells_the_length_and_progress_and_opens_its_lesson(first: MainWindow, qtbot: QtBot) -> None:
    contents, card = first.model.thumbnails.all, shelf(first).cards[0]
    qtbot.waitUntil(lambda: card.name in contents and bool(contents[card.name].frames), timeout=60_000)
    lesson = shipped_lesson(card.name)
    assert card.length == f"{lesson.minutes:g} minutes, {len(lesson.steps)} steps, 0 seen"
    assert len(set(contents[card.name].frames)) > 5  # it moves
    card.click()
    qtbot.waitUntil(lambda: first.model.course.lesson.name == card.name and settled(first), timeout=_LONG_MS)
    assert not first.start_mode.is_on
    assert first.docks.all["lessons"].isVisible()
    first.start_mode.begin()
    assert not first.model.course.lesson.steps
    assert card.length.endswith("1 seen")
    first.close()


def test_other_kernels_leave_the_start_and_sizes_do_not(first: MainWindow, qtbot: QtBot) -> None:
    first.replay.tiles.slider.setValue(0)
    qtbot.waitUntil(lambda: settled(first), timeout=_LONG_MS)
    assert first.start_mode.is_on
    open_file(first.model, DATA / "kernels" / "tiled.cu")
    assert not first.start_mode.is_on
    first.start_mode.begin()
    sure(first.start_mode.panel).explore.click()
    qtbot.waitUntil(lambda: settled(first), timeout=_LONG_MS)
    assert first.session.shot.setup.kernel.name == DEFAULT_KERNEL
    assert first.model.opening.followed is None
    first.close()


def test_a_window_that_ended_at_the_start_begins_there(qtbot: QtBot) -> None:
    store = InMemoryStore()
    opened(qtbot, store).close()
    again = opened(qtbot, store, 1024, 640)
    assert again.start_mode.is_on
    panel = sure(again.start_mode.panel)
    assert panel.width() < again.replay.width()
    sure(again.start_mode.panel).explore.click()
    again.close()
    assert not store["page"]  # where the next window begins


def test_the_panel_shows_the_shelf_until_a_lesson_is_open(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    panel = panel_of(window, "lessons", Lessons)
    assert panel.shelf.isVisibleTo(panel)
    assert not panel.lesson.isVisibleTo(panel)
    panel.shelf.cards[0].click()
    qtbot.waitUntil(lambda: window.model.course.is_on, timeout=_LONG_MS)
    assert panel.lesson.isVisibleTo(panel)
    assert not panel.shelf.isVisibleTo(panel)
    panel.choice.setCurrentIndex(0)  # all lessons
    panel.choice.activated.emit(0)
    assert panel.shelf.isVisibleTo(panel)


def test_the_start_page_comes_back_beside_a_replay_and_is_used_by_keys(first: MainWindow, qtbot: QtBot) -> None:
    for state in ("tiles", "benchmark", "device", "lesson"):
        check_that_the_start_comes_back(first, qtbot, state)
    sure(first.start_mode.panel).explore.click()
    assert not first.start_mode.is_on
    first.menus.all["start"].trigger()
    cards = shelf(first).shown
    qtbot.waitUntil(cards[0].hasFocus)
    QTest.keyClick(cards[0], Qt.Key.Key_Down)
    assert cards[1].hasFocus()
    QTest.keyClick(cards[1], Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: first.model.course.lesson.name == cards[1].name, timeout=_LONG_MS)
    first.close()


def check_that_the_start_comes_back(first: MainWindow, qtbot: QtBot, state: str) -> None:
    sure(first.start_mode.panel).explore.click()
    focused: QWidget = first
    match state:
        case "tiles":
            focused = first.replay.tiles.slider
        case "benchmark":
            first.model.commands.toggle_benchmark()
        case "device":
            first.model.commands.show_view("device")
        case "lesson":
            first.model.opening.open_lesson("coalescing")
            qtbot.waitUntil(lambda: first.model.course.is_on, timeout=_LONG_MS)
    assert not first.start_mode.is_on
    focused.setFocus()
    tile_width = first.session.shot.setup.parameters
    QTest.keyClick(focused, Qt.Key.Key_Home, Qt.KeyboardModifier.AltModifier)
    assert first.start_mode.is_on
    assert sure(first.start_mode.panel).isVisible()
    assert first.pages.currentWidget() is first.replay
    assert first.session.display.has_time
    assert not first.model.course.is_on
    assert state == "lesson" or first.session.shot.setup.parameters == tile_width


def test_the_tour_shows_a_replay_and_only_what_is_there(first: MainWindow, qtbot: QtBot) -> None:
    for state in ("start", "benchmark", "device", "lesson"):
        check_the_tour(first, qtbot, state)
    first.close()


def check_the_tour(first: MainWindow, qtbot: QtBot, state: str) -> None:
    match state:
        case "benchmark":
            first.model.commands.toggle_benchmark()
        case "device":
            first.model.commands.show_view("device")
        case "lesson":
            first.model.opening.open_lesson("coalescing")
            qtbot.waitUntil(lambda: first.model.course.is_on, timeout=_LONG_MS)
    first.menus.all["tour"].trigger()
    qtbot.waitUntil(lambda: first.tour is not None, timeout=_LONG_MS)
    tour = sure(first.tour)
    assert tour.stops[0][0] is first.replay.stage
    assert state == "lesson" or first.replay.timeline in [stop[0] for stop in tour.stops]
    for number, (widget, _, text) in enumerate(tour.stops):
        hole = tour._hole(number)
        assert hole.width() >= widget.width() > 30, text
        assert first.rect().intersects(hole), text
    tour.end()
