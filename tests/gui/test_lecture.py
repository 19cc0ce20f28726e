"""The lecture, as a presenter's keys move it."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.gui.lecture.lecture_window import _answers
from gemmviz.gui.lecture.overlay import StepMap
from gemmviz.gui.lecture.wall import Wall
from gemmviz.gui.panels.views import SavedViews
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.scenes.kit.primitives import Labels, Primitive, Scene
from gemmviz.scenes.kit.sentence import beat, reading_seconds
from gemmviz.session.display import WAITING
from gemmviz.session.lessons import LessonPlayer
from gemmviz.session.session import Session
from gemmviz.teaching.captions import caption_of
from gemmviz.teaching.lesson_file import read_lesson, save_lesson, shipped_lesson
from tests.conftest import sure
from tests.gui.conftest import panel_of, settings_of

Key = Qt.Key


@pytest.fixture
def window(window: MainWindow) -> MainWindow:
    """Steps taken by hand are there at once."""
    window.session.player.animate(False)
    return window


@pytest.fixture
def wall(window: MainWindow, qtbot: QtBot) -> Wall:
    window.lecture.begin()
    found = sure(window.lecture.wall)
    qtbot.waitUntil(found.isActiveWindow)
    found.resize(1920, 1080)
    return found


def caption_at(session: Session) -> str:
    """The sentence of the step that is shown."""
    return beat(sure(session.now), session.shot.labels).text


def press(wall: Wall, *keys: Key) -> None:
    """Press keys, each when the picture of the one before is there."""
    for key in keys:
        QTest.keyClick(wall, key)
        settle(wall)


def settle(wall: Wall, most_s: float = 20.0) -> None:
    """Let the program do all that a key asked for."""
    end = time.monotonic() + most_s
    QCoreApplication.processEvents()
    while wall.is_waiting and time.monotonic() < end:
        QTest.qWait(1)
    QCoreApplication.processEvents()


def test_a_key_shows_the_picture_alone(window: MainWindow, qtbot: QtBot) -> None:
    window.menus.all["lecture"].trigger()
    wall = sure(window.lecture.wall)
    qtbot.waitUntil(wall.isActiveWindow)
    assert wall.isFullScreen()
    wall.resize(1920, 1080)
    scene = sure(wall.stage.scene)
    sizes = [each.size for each in scene.words if isinstance(each, Labels) and each.key in ("title", "action", "cost")]
    assert min(sizes) >= 0.022 * scene.height
    press(wall, Key.Key_Escape)
    assert not window.lecture.is_on


def test_arrows_and_pages_move_it(window: MainWindow, wall: Wall) -> None:
    press(wall, Key.Key_Right, Key.Key_Right, Key.Key_Left)
    assert window.session.navigation.run_step == 1
    press(wall, Key.Key_PageDown)
    assert window.session.navigation.run_step == 14  # the next phase, where no view was kept
    press(wall, Key.Key_Home, Key.Key_Space)
    assert window.session.player.is_playing
    press(wall, Key.Key_Space)
    assert not window.session.player.is_playing


def test_pages_walk_the_views_that_were_kept(window: MainWindow, wall: Wall, tmp_path: Path) -> None:
    session, marks = window.session, window.model.saved_views
    marks.keep("The first load of a tile")
    session.navigation.go_to_step(20)
    marks.keep()
    marks.edit(1, title="Later", notes="ask why")
    press(wall, Key.Key_PageUp)
    assert (session.navigation.run_step, marks.at) == (0, 0)
    said = [
        " ".join(each.texts)
        for each in sure(wall.stage.scene).words
        if isinstance(each, Labels) and each.key.startswith("band-caption")
    ]
    assert said == ["The first load of a tile"]
    press(wall, Key.Key_PageDown)
    assert (session.navigation.run_step, marks.at) == (20, 1)
    press(wall, Key.Key_PageDown)
    assert marks.at == 1  # there is no other one
    assert wall.overlay.message.startswith("The end of ")
    press(wall, Key.Key_PageDown)
    assert wall.overlay.message.startswith("The end of ")
    press(wall, Key.Key_PageUp)
    assert len(wall.overlay.message) == 0
    press(wall, Key.Key_PageDown)
    save_lesson(marks.lesson, tmp_path / "l.toml")
    marks.remove(0)
    window.model.opening.open(tmp_path / "l.toml")
    assert read_lesson(tmp_path / "l.toml").steps[1].notes == "ask why"


def test_a_view_comes_bit_by_bit(window: MainWindow, wall: Wall) -> None:
    session, marks = window.session, window.model.saved_views
    session.navigation.go_to_step(20)
    marks.keep("All of it")
    marks.build(0, "phases")
    marks.go(0)
    settle(wall)
    steps, captions = [session.navigation.run_step], [marks.said.caption]
    while marks.part + 1 < marks.parts:
        press(wall, Key.Key_PageDown)
        steps.append(session.navigation.run_step)
        captions.append(marks.said.caption)
    assert steps == [3, 10, 13, 17, 20]  # each phase: the tiles filled, in use, the last step
    assert captions[0] == "16 threads each store one element of B into tileB"
    assert captions[2] == "16 threads wait at the barrier"
    assert captions[-1] == "All of it"
    assert captions.count("All of it") == 1
    marks.build(0, "lanes")
    marks.go(0)
    settle(wall)
    assert session.shot.focus.thread == 0
    press(wall, Key.Key_PageDown)
    assert session.shot.focus.thread == 1


def test_page_up_shows_what_was_shown_before(window: MainWindow, wall: Wall) -> None:
    """Also the last part of a view that is revealed step by step."""
    session, marks = window.session, window.model.saved_views
    session.navigation.go_to_step(4)
    marks.keep("Four")
    marks.build(0, "steps")
    session.navigation.go_to_step(8)
    marks.keep("Eight")
    settle(wall)
    press(wall, Key.Key_PageUp)
    assert (marks.at, marks.part, marks.parts) == (0, 4, 5)
    assert (session.navigation.run_step, session.shot.moment) == (4, 1.0)
    assert marks.said.caption == "Four"
    press(wall, Key.Key_PageUp)
    assert (marks.part, session.navigation.run_step) == (3, 3)
    assert marks.said.caption.startswith("16 threads each store one element of B")


def test_caption_and_page_keys_follow_a_picture_that_another_key_moved(window: MainWindow, wall: Wall) -> None:
    session, marks = window.session, window.model.saved_views
    session.navigation.go_to_step(8)
    marks.keep("Eight")
    marks.build(0, "steps")
    marks.keep("The end")
    marks.go(0)
    settle(wall)
    first = marks.said.caption
    press(wall, *[Key.Key_Right] * 5)
    assert session.navigation.run_step == 5
    assert marks.said.caption == caption_at(session) != first
    press(wall, Key.Key_PageDown)
    assert session.navigation.run_step == 6
    press(wall, Key.Key_Left, Key.Key_Left, Key.Key_PageUp)
    assert session.navigation.run_step == 3
    press(wall, Key.Key_End)
    assert marks.said.caption == "Eight"  # after the last part: that of the whole view
    press(wall, Key.Key_PageDown)
    assert (marks.at, marks.said.caption) == (1, "The end")


def test_the_spotlight_ends_with_its_step(window: MainWindow, wall: Wall) -> None:
    window.model.course.begin(shipped_lesson("shared-memory"))
    settle(wall)
    press(wall, Key.Key_S)
    assert wall.overlay.tool == "spotlight"
    press(wall, Key.Key_PageDown)
    assert (window.model.course.at, wall.overlay.tool) == (1, "")


def test_page_down_moves_then_finishes_then_goes_on(window: MainWindow, wall: Wall) -> None:
    session, marks = window.session, window.model.saved_views
    session.player.animate(True)
    for step in (2, 3, 9):
        session.navigation.go_to_step(step)
        marks.keep(f"Step {step}")
    marks.go(0)
    settle(wall)
    press(wall, Key.Key_PageDown)
    assert wall.is_moving
    assert not wall.stage.is_travelling  # the next step of the same run is its own motion
    assert marks.at == 1
    assert session.shot.moment < 1.0
    press(wall, Key.Key_PageDown)
    assert not wall.is_moving
    assert (marks.at, session.navigation.run_step, session.shot.moment) == (1, 3, 1.0)
    press(wall, Key.Key_PageDown)
    assert wall.stage.is_travelling  # a distant step: the picture changes, then the step plays
    assert (marks.at, session.navigation.run_step) == (2, 9)
    QTest.qWait(1500)
    assert not wall.is_moving
    assert session.shot.moment == 1.0
    press(wall, Key.Key_PageUp)
    assert not wall.is_moving
    assert marks.at == 1
    session.player.set_calm(True)
    press(wall, Key.Key_PageDown)
    assert not wall.is_moving


@pytest.mark.nightly
def test_page_down_drops_blocks_into_an_sm(window: MainWindow, wall: Wall) -> None:
    """A view without time has a motion of its own: its blocks fall, and their number is shown once they lie."""
    session, marks = window.session, window.model.saved_views
    session.player.animate(True)
    marks.keep("The stage")
    window.model.commands.show_view("occupancy")
    settle(wall)
    marks.keep("The blocks")
    marks.go(0)
    settle(wall)
    press(wall, Key.Key_PageDown)
    counts = []
    end = time.monotonic() + 4.0
    while wall.is_moving and time.monotonic() < end:
        counts.append(sum(each.key.endswith("-warps") or each.key.startswith("block-") for each in wall.stage.motion))
        QTest.qWait(15)
    assert session.shot.moment == 1.0
    assert len(set(counts)) >= 4
    assert any(isinstance(each, Labels) and "per SM" in each.texts[0] for each in wall.stage.motion)


def test_presses_are_not_stored_up(window: MainWindow, wall: Wall) -> None:
    marks = window.model.saved_views
    for step in (2, 3, 4, 5):
        window.session.navigation.go_to_step(step)
        marks.keep()
    marks.go(0)
    settle(wall)
    for _ in range(3):  # without a turn of the event loop between them
        QTest.keyClick(wall, Key.Key_PageDown)
    settle(wall)
    assert marks.at == 1
    held = QKeyEvent(QEvent.Type.KeyPress, Key.Key_PageDown, Qt.KeyboardModifier.NoModifier, "", True)
    QCoreApplication.sendEvent(wall, held)
    settle(wall)
    assert marks.at == 1


def test_black_white_ink_and_the_countdown(window: MainWindow, wall: Wall) -> None:
    overlay = wall.overlay
    press(wall, Key.Key_B)
    assert wall.grab().toImage().pixelColor(960, 540).name() == "#000000"
    press(wall, Key.Key_B)
    assert overlay.blank == ""
    press(wall, Key.Key_B)
    press(wall, Key.Key_W)
    assert wall.grab().toImage().pixelColor(960, 540).name() == "#ffffff"
    press(wall, Key.Key_Comma, Key.Key_I)
    QTest.mousePress(overlay, Qt.MouseButton.LeftButton, pos=QPoint(100, 500))
    QTest.mouseMove(overlay, QPoint(300, 520))
    QTest.mouseRelease(overlay, Qt.MouseButton.LeftButton, pos=QPoint(300, 520))
    assert len(overlay.strokes) == 1
    press(wall, Key.Key_E, Key.Key_Q)
    assert overlay.strokes == []
    assert 58 <= overlay.left_s <= 60
    press(wall, Key.Key_Q)
    assert 115 <= overlay.left_s <= 120
    QTest.keyClick(wall, Key.Key_Q, Qt.KeyboardModifier.ShiftModifier)
    assert overlay.left_s == 0


def test_what_is_circled_fills_the_wall(window: MainWindow, wall: Wall) -> None:
    wide, high = wall.width(), wall.height()
    wall._on_circled(QRectF(0.75 * wide, 0.5 * high, 0.25 * wide, 0.25 * high))
    camera = window.session.shot.camera
    assert (camera.zoom, camera.x, camera.y) == (4.0, 0.875, 0.625)
    press(wall, Key.Key_F)
    assert window.session.shot.camera.zoom == 1.0


def test_notes_and_time_for_who_speaks(window: MainWindow, qtbot: QtBot) -> None:
    marks = window.model.saved_views
    for title, notes in (("One", "say this"), ("Two", "")):
        marks.keep()
        marks.edit(sure(marks.at), title=title, notes=notes)
    marks.go(0)
    qtbot.waitUntil(lambda: not marks.is_waiting)
    window.lecture.begin()
    window.lecture.show_presenter()
    presenter = sure(window.lecture.presenter)
    presenter.activateWindow()
    qtbot.waitUntil(presenter.isActiveWindow)
    assert presenter.title.text() == "1 of 2: One"
    assert "say this" in presenter.notes.text()
    assert presenter.next.text() == "Next: Two"
    assert presenter.coming.scene is not None
    assert presenter.left.text().endswith("left")
    qtbot.waitUntil(lambda: marks.is_ready(1))
    QTest.keyClick(presenter, Key.Key_PageDown)
    assert presenter.title.text() == "2 of 2: Two"
    QTest.keyClick(presenter, Key.Key_Escape)
    assert not window.lecture.is_on


def test_one_screen_is_not_covered_by_the_notes(window: MainWindow, wall: Wall) -> None:
    """P says that there is no second screen, then shows the notes beside the picture, then hides them."""
    marks = window.model.saved_views
    marks.keep()
    marks.edit(0, title="One", notes="say this")
    marks.go(0)
    settle(wall)
    press(wall, Key.Key_P)
    assert window.lecture.presenter is None
    assert "second screen" in wall.overlay.message
    assert not wall.notes.isVisible()
    press(wall, Key.Key_P)
    assert wall.notes.text() == "say this"
    assert len(wall.overlay.message) == 0
    marks.edit(0, notes="and that")
    settle(wall)
    assert wall.notes.text() == "and that"
    press(wall, Key.Key_P)
    assert not wall.notes.isVisible()


def test_the_picture_and_the_map_have_the_room_that_notes_leave(window: MainWindow, wall: Wall, course: LessonPlayer) -> None:
    for size in ((1366, 768), (1920, 1080), (1024, 768)):
        check_the_room_beside_notes(window, wall, size)


def check_the_room_beside_notes(window: MainWindow, wall: Wall, size: tuple[int, int]) -> None:
    wall.resize(*size)
    settle(wall)
    picture = sure(wall.stage.scene)
    wall.show_notes("Say this, and say why it is so. " * 20)
    settle(wall)
    notes = QRect(wall.notes.mapTo(wall, QPoint()), wall.notes.size())
    assert wall.rect().contains(notes), "the notes are cut"
    assert not wall.stage.geometry().intersects(notes)
    beside = sure(wall.stage.scene)
    assert (beside.width, beside.height) != (picture.width, picture.height)
    shape = wall.stage.width() / wall.stage.height()
    assert beside.width / beside.height == pytest.approx(shape, rel=0.01), "the picture doesn't fill its room"
    wall.open_map(window.lecture.jump)
    assert sure(wall.map).geometry() == wall.stage.geometry()
    wall.show_notes("")
    settle(wall)
    assert wall.stage.geometry() == sure(wall.map).geometry() == wall.rect()
    assert sure(wall.stage.scene).width == picture.width
    QTest.keyClick(sure(wall.map), Key.Key_Escape)


def test_notes_that_are_too_long_scroll(wall: Wall) -> None:
    wall.show_notes("Say this, and say why it is so. " * 200)
    area = next(each for each in wall.findChildren(QScrollArea) if each.widget() is wall.notes)
    QCoreApplication.processEvents()
    assert area.verticalScrollBar().maximum() > 0
    assert not area.geometry().intersects(wall.stage.geometry())


def test_a_covered_window_works_again_once_the_lecture_ends(
    new_window: MainWindow, window: MainWindow, wall: Wall, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing behind the wall follows its steps, so that keys are answered sooner; afterwards all of it shows the last step."""
    session, strip = window.session, settings_of(window)
    kernel = strip.setup.kernel.currentText()
    session.show(structs.replace(session.shot, setup=setup_for(load_kernel("02_naive"))))
    qtbot.waitUntil(lambda: not session.is_working)
    assert strip.setup.kernel.currentText() == kernel
    session.show(structs.replace(session.shot, view="rate"))
    assert "benchmark" not in vars(window)
    window.model.commands.choose_theme("system")
    background = sure(wall.stage.scene).background
    is_dark = session.system_is_dark
    monkeypatch.setattr("gemmviz.gui.window.main_window.system_is_dark", lambda app: not is_dark)
    window._on_system_theme()
    assert sure(wall.stage.scene).background != background  # the lecture itself wears another theme at once
    window.lecture.end()
    assert strip.setup.kernel.currentText() == "02_naive"
    assert window.pages.currentWidget() is window.benchmark


def test_notes_beside_the_picture_have_their_numbers(window: MainWindow, wall: Wall) -> None:
    lesson = shipped_lesson("shared-memory")
    place = next(at for at, stop in enumerate(lesson.steps) if "{" in stop.notes and not stop.build)
    window.model.course.begin(lesson)
    window.model.course.go(place)
    settle(wall)
    press(wall, Key.Key_P, Key.Key_P)
    assert wall.notes.text()
    assert "{" not in wall.notes.text()


def test_escape_closes_the_list_of_keys_before_the_lecture(window: MainWindow, wall: Wall) -> None:
    press(wall, Key.Key_F1)
    assert wall.overlay.keys
    press(wall, Key.Key_Escape)
    assert not wall.overlay.keys
    assert window.lecture.is_on
    press(wall, Key.Key_Escape)
    assert not window.lecture.is_on


@pytest.fixture
def course(window: MainWindow, wall: Wall) -> LessonPlayer:
    """A lesson of three steps on the wall."""
    lesson = shipped_lesson("coalescing")
    window.model.course.begin(structs.replace(lesson, steps=lesson.steps[6:9]))
    window.model.course.go(0)
    settle(wall)
    return window.model.course


def test_typed_digits_and_return_go_to_a_step(window: MainWindow, wall: Wall, course: LessonPlayer) -> None:
    """The number is shown while it is typed, Esc and a pause forget it, and what a remote sends still works."""
    overlay = wall.overlay
    press(wall, Key.Key_3)
    assert overlay.message == f"3  {course.lesson.steps[2].with_numbers({}).title}"
    press(wall, Key.Key_Return)
    assert (course.at, overlay.message) == (2, "")
    press(wall, Key.Key_1, Key.Key_2)
    assert overlay.message == "12"
    press(wall, Key.Key_Backspace)
    assert overlay.message.startswith("1  ")
    press(wall, Key.Key_Escape)
    assert (course.at, overlay.message, window.lecture.is_on) == (2, "", True)
    press(wall, Key.Key_9, Key.Key_Return)
    assert (course.at, overlay.message) == (2, "There are 3 steps")
    press(wall, Key.Key_2)
    overlay.show_message("")  # as after a pause
    press(wall, Key.Key_PageUp)
    assert course.at == 1
    press(wall, Key.Key_1, Key.Key_PageDown)
    assert course.at == 2
    press(wall, Key.Key_PageUp, Key.Key_PageUp)
    overlay.show_message("")
    press(wall, Key.Key_Return)  # as some remotes send for the next slide
    assert course.at == 1


def test_a_number_is_one_of_a_step_of_the_run_without_a_lesson(window: MainWindow, wall: Wall) -> None:
    press(wall, Key.Key_2, Key.Key_0, Key.Key_Return)
    assert window.session.navigation.run_step == 19


def map_on(wall: Wall) -> StepMap | None:
    return wall.map


def test_a_map_of_all_steps_jumps_to_one(
    new_window: MainWindow, window: MainWindow, wall: Wall, course: LessonPlayer, qtbot: QtBot
) -> None:
    """Its pictures come one after the other; it is closed by Tab, Esc and a jump."""
    wall.open_map(window.lecture.jump)
    chart = sure(wall.map)
    assert [chart.item(row).text()[:1] for row in range(chart.count())] == ["1", "2", "3"]
    assert chart.currentRow() == 0
    pictures = window.model.step_pictures
    assert [stop for stop in course.lesson.steps if pictures.of(stop.shot)] == []  # the map is there before them
    qtbot.waitUntil(lambda: all(pictures.of(stop.shot) for stop in course.lesson.steps), timeout=20_000)
    colours = {sure(pictures.of(stop.shot)).toImage().pixelColor(128, 72).name() for stop in course.lesson.steps}
    assert colours != {chart.palette().base().color().name()}
    QTest.keyClick(chart, Key.Key_F1)
    assert wall.overlay.keys
    QTest.keyClick(chart, Key.Key_Escape)
    assert not wall.overlay.keys
    assert wall.map is chart
    QTest.keyClick(chart, Key.Key_Right)
    QTest.keyClick(chart, Key.Key_Return)
    settle(wall)
    assert course.at == 1
    assert map_on(wall) is None
    press(wall, Key.Key_Tab)
    chart = sure(wall.map)
    QTest.keyClick(chart, Key.Key_3)
    assert chart.currentRow() == 2
    QTest.keyClick(chart, Key.Key_Escape)
    QTest.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=chart.visualItemRect(chart.item(0)).center())
    settle(wall)
    assert course.at == 0
    assert map_on(wall) is None
    for closing in (Key.Key_Tab, Key.Key_Escape):
        press(wall, Key.Key_Tab)
        QTest.keyClick(sure(wall.map), closing)
        assert wall.map is None
        assert window.lecture.is_on


def test_stray_keys_do_no_harm(window: MainWindow, wall: Wall, course: LessonPlayer) -> None:
    for key in (Key.Key_S, Key.Key_W, Key.Key_B, Key.Key_Q, Key.Key_I):
        QTest.keyClick(wall, key, Qt.KeyboardModifier.ControlModifier)
    press(wall, Key.Key_X, Key.Key_M, Key.Key_F5, Key.Key_Delete, Key.Key_Insert)
    held = QKeyEvent(QEvent.Type.KeyPress, Key.Key_B, Qt.KeyboardModifier.NoModifier, "b", True)
    QCoreApplication.sendEvent(wall, held)
    overlay = wall.overlay
    assert (overlay.blank, overlay.tool, overlay.left_s, overlay.message) == ("", "", 0, "")
    assert (course.at, wall.map, window.lecture.is_on) == (0, None, True)


def test_a_step_is_played_as_long_as_its_sentence_takes_to_read(window: MainWindow, wall: Wall) -> None:
    """At three words a second, and at least a second; the window's own speed comes back afterwards."""
    session, player = window.session, window.session.player
    session.navigation.go_to_step(0, 0.0)
    player.play(True)
    words = len(beat(sure(session.now)).text.split())
    assert words > 6
    player.tick(200.0)
    assert session.shot.moment == pytest.approx(0.2 / (words / 3))
    player.faster(1)
    player.tick(100.0)
    assert session.shot.moment == pytest.approx(0.4 / (words / 3))
    assert reading_seconds("Two words") == 1.0
    assert reading_seconds("线程把一个元素写入共享内存") > 2.0
    player.play(False)
    window.lecture.end()
    assert (player.pace, player.speed) == (None, 2.0)
    session.navigation.go_to_step(0, 0.0)
    player.play(True)
    player.tick(100.0)
    assert session.shot.moment == pytest.approx(0.2)


def test_a_projector_that_goes_away(window: MainWindow, wall: Wall) -> None:
    """The only screen stays; the wall fills it again."""
    screen = QGuiApplication.primaryScreen()
    window.lecture._on_screen_gone(screen)  # no other one is left: nothing to go to
    wall.setGeometry(0, 0, 100, 100)
    window.lecture._on_screen_changed()
    assert wall.size() == screen.geometry().size()
    assert window.lecture.is_on


def test_a_lecture_of_saved_views_begins_at_the_first_of_them(window: MainWindow, qtbot: QtBot) -> None:
    session, panel = window.session, panel_of(window, "views", SavedViews)
    for step in (3, 20):
        session.navigation.go_to_step(step)
        window.menus.all["add-saved-view"].trigger()
    qtbot.waitUntil(lambda: not panel.list.item(1).icon().isNull(), timeout=20_000)
    assert "step 4" in panel.list.item(0).text()
    session.navigation.go_to_step(9)
    window.menus.all["lecture"].trigger()
    wall = sure(window.lecture.wall)
    qtbot.waitUntil(wall.isActiveWindow)
    settle(wall)
    assert (window.model.saved_views.at, session.navigation.run_step) == (0, 3)
    window.lecture.end()
    panel.buttons["undo"].click()
    assert panel.list.count() == 1


def test_views_are_there_the_next_time(qtbot: QtBot) -> None:
    store = InMemoryStore(tour="seen")
    for number in range(2):
        window = MainWindow(store)
        qtbot.addWidget(window)
        window.start()
        qtbot.waitUntil(lambda window=window: window.session.shown is not None, timeout=20_000)  # type: ignore[misc]
        if number == 0:
            window.session.navigation.go_to_step(7)
            window.model.saved_views.keep("mine")
        assert [stop.caption for stop in window.model.saved_views.lesson.steps] == ["mine"]
        assert window.session.navigation.run_step == 7
        window.close()


def test_a_projector_beside_the_laptop_and_its_unplugging(tmp_path: Path) -> None:
    sizes = (("laptop", 0, 1280, 720), ("projector", 1280, 1920, 1080))
    dots = {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1, "y": 0}
    screens = [{"name": name, "x": x, "width": width, "height": height, **dots} for name, x, width, height in sizes]
    (tmp_path / "screens.json").write_text(json.dumps({"screens": screens}))
    environment = {**os.environ, "QT_QPA_PLATFORM": f"offscreen:configfile={tmp_path / 'screens.json'}"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.gui.two_screens"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["on projector 1920 1080 notes on laptop 1280 720 True", "then on laptop 1280 720 True"]


def band_of(scene: Scene) -> dict[str, str]:
    """The words of a picture on the wall, by their key."""
    return {each.key: each.texts[0] for each in scene.words if isinstance(each, Labels)}


def test_no_step_shows_the_picture_of_another(
    window: MainWindow, wall: Wall, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three steps of the lesson on coalescing: another kernel each, whose whole launch must be counted."""
    course, lesson = window.model.course, shipped_lesson("coalescing")
    stops = [lesson.steps[sure(lesson.find(id))] for id in ("warps-3d", "bytes", "bytes-coalesced")]
    course.begin(structs.replace(lesson, steps=(lesson.steps[0], *stops)))
    course.go(1)
    qtbot.waitUntil(lambda: band_of(sure(wall.stage.scene)).get("band-place") == "2 of 4", timeout=20_000)
    drawn: list[Scene] = []
    signs: list[str] = []
    show, sign = wall.stage.set_scene, wall.stage._show_pending

    def show_and_note(scene: Scene, motion: tuple[Primitive, ...] = ()) -> None:
        drawn.append(scene)
        show(scene, motion)

    def sign_and_note(what: str) -> None:
        signs.append(what)
        sign(what)

    monkeypatch.setattr(wall.stage, "set_scene", show_and_note)
    monkeypatch.setattr(wall.stage, "_show_pending", sign_and_note)

    def is_there(number: int) -> bool:
        return band_of(sure(wall.stage.scene)).get("band-place") == f"{number} of 4"

    for number in (3, 4):
        for _ in range(2):  # as people do who see nothing happen
            QTest.keyClick(wall, Key.Key_PageDown)
        assert course.at in (number - 2, number - 1)
        qtbot.waitUntil(partial(is_there, number), timeout=30_000)
    titles = {2: "A block of cube_block", 3: "Bytes: 02_naive", 4: "Bytes: 03_coalesced"}
    for scene in drawn:
        words = band_of(scene)
        assert words["title"].startswith(titles[int(words["band-place"].split()[0])])
        captions = [text for key, text in words.items() if key.startswith("band-caption")]
        assert captions
        assert not [text for text in captions if "…" in text or "?" in text or "{" in text]
    assert set(signs) <= {"", WAITING}
    assert wall.stage.pending == ""


def test_a_caption_waits_for_its_numbers(window: MainWindow) -> None:
    stop = shipped_lesson("coalescing").steps[6]
    assert stop.needed
    assert caption_of(stop).caption == ""
    assert caption_of(stop.with_numbers(dict.fromkeys(stop.needed, "512 GiB"))).caption.count("512 GiB")


def test_a_view_that_waits_leaves_the_last_one(window: MainWindow, qtbot: QtBot) -> None:
    """The stage keeps its picture, at whichever size, until the launch is counted."""
    stage, session = window.replay.stage, window.session
    before = sure(stage.scene)
    setup = session.shot.setup
    session.show(structs.replace(session.shot, view="why", setup=setup.changed(M=128, N=128, K=128)))
    assert session.display.pending
    window.resize(1500, 900)
    window.replay.draw()
    assert {"A", "B", "C"} <= {each.key for each in before.primitives} & {each.key for each in sure(stage.scene).primitives}
    qtbot.waitUntil(lambda: not session.display.pending, timeout=20_000)
    assert "128 × 128 × 128" in str(band_of(sure(stage.scene)))


def test_a_lecture_begins_with_an_unanswered_question(window: MainWindow, qtbot: QtBot) -> None:
    course = window.model.course
    course.begin(shipped_lesson("coalescing"))
    place = next(number for number, stop in enumerate(course.lesson.steps) if stop.question is not None)
    course.go(place)
    qtbot.waitUntil(lambda: course.at == place and not window.session.display.pending, timeout=20_000)
    question = sure(course.lesson.steps[place].question)
    course.pick(next(number for number, choice in enumerate(question.choices) if not choice.right))
    assert course.position.tried
    window.lecture.begin()
    qtbot.waitUntil(lambda: not course.position.tried, timeout=20_000)
    assert (course.at, course.position.part) == (place, 0)
    window.lecture.end()


def test_the_presenter_sees_which_choices_are_right() -> None:
    step = next(stop for stop in shipped_lesson("coalescing").steps if stop.question is not None)
    choices = sure(step.question).choices
    marks = [line.split(" ")[1] for line in _answers(step).splitlines()]
    assert marks == ["✓" if choice.right else "✗" for choice in choices]
