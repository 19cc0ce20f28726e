"""The lecture, as a presenter's keys move it."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gemmviz.gui.lecture.lecture_window import Wall
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.scenes.kit.primitives import Labels, Primitive, Scene
from gemmviz.subjects.cache import WAITING
from gemmviz.teaching.lesson_file import read_lesson, save_lesson, shipped_lesson
from gemmviz.teaching.reveal import caption_of
from tests.conftest import sure

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


def press(wall: Wall, *keys: Key) -> None:
    for key in keys:
        QTest.keyClick(wall, key)


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
    save_lesson(marks.lesson, tmp_path / "l.toml")
    marks.remove(0)
    window.model.opening.open(tmp_path / "l.toml")
    assert read_lesson(tmp_path / "l.toml").stops[1].notes == "ask why"


def test_a_view_comes_bit_by_bit(window: MainWindow, wall: Wall, qtbot: QtBot) -> None:
    session, marks = window.session, window.model.saved_views
    session.navigation.go_to_step(20)
    marks.keep()
    marks.build(0, "phases")
    marks.go(0)
    assert session.navigation.run_step == 0
    press(wall, Key.Key_PageDown)
    assert session.navigation.run_step == 14
    press(wall, Key.Key_PageDown)
    assert session.navigation.run_step == 20
    marks.build(0, "lanes")
    marks.go(0)
    assert session.shot.focus.thread == 0
    press(wall, Key.Key_PageDown)
    assert session.shot.focus.thread == 1


def test_black_white_ink_and_the_countdown(window: MainWindow, wall: Wall) -> None:
    overlay = wall.overlay
    press(wall, Key.Key_B)
    assert wall.grab().toImage().pixelColor(960, 540).name() == "#000000"
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
    window.lecture.begin(with_notes=True)
    presenter = sure(window.lecture.presenter)
    presenter.activateWindow()
    qtbot.waitUntil(presenter.isActiveWindow)
    assert presenter.title.text() == "1 of 2: One"
    assert "say this" in presenter.notes.text()
    assert presenter.next.text() == "Next: Two"
    assert presenter.coming.scene is not None
    assert presenter.left.text().endswith("left")
    QTest.keyClick(presenter, Key.Key_PageDown)
    assert presenter.title.text() == "2 of 2: Two"
    QTest.keyClick(presenter, Key.Key_Escape)
    assert not window.lecture.is_on


def test_a_projector_that_goes_away(window: MainWindow, wall: Wall) -> None:
    """The only screen stays; the wall fills it again."""
    screen = QGuiApplication.primaryScreen()
    window.lecture._on_screen_gone(screen)  # no other one is left: nothing to go to
    wall.setGeometry(0, 0, 100, 100)
    window.lecture._on_screen_changed()
    assert wall.size() == screen.geometry().size()
    assert window.lecture.is_on


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
        assert [stop.caption for stop in window.model.saved_views.lesson.stops] == ["mine"]
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
    assert done.stdout.splitlines() == ["on projector 1920 1080 notes on laptop", "then on laptop 1280 720 True"]


def band_of(scene: Scene) -> dict[str, str]:
    """The words of a picture on the wall, by their key."""
    return {each.key: each.texts[0] for each in scene.words if isinstance(each, Labels)}


@pytest.mark.slow
def test_no_step_shows_the_picture_of_another(
    window: MainWindow, wall: Wall, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps 6 to 8 of the lesson on coalescing: another kernel each, whose whole launch must be counted."""
    course = window.model.course
    course.begin(shipped_lesson("coalescing"))
    course.go(5)
    qtbot.waitUntil(lambda: band_of(sure(wall.stage.scene)).get("band-title-0", "").startswith("6 of 23"), timeout=20_000)
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
        return band_of(sure(wall.stage.scene)).get("band-title-0", "").startswith(f"{number} of 23")

    for number in (7, 8):
        press(wall, Key.Key_PageDown, Key.Key_PageDown)  # twice, as people do who see nothing happen
        assert course.at in (number - 2, number - 1)
        qtbot.waitUntil(partial(is_there, number), timeout=30_000)
    titles = {6: "A block of cube_block", 7: "Bytes: 02_naive", 8: "Bytes: 03_coalesced"}
    for scene in drawn:
        words = band_of(scene)
        assert words["title"].startswith(titles[int(words["band-title-0"].split()[0])])
        captions = [text for key, text in words.items() if key.startswith("band-caption")]
        assert captions
        assert not [text for text in captions if "…" in text or "?" in text or "{" in text]
    assert set(signs) <= {"", WAITING}
    assert wall.stage.pending == ""


def test_a_caption_waits_for_its_numbers(window: MainWindow) -> None:
    stop = shipped_lesson("coalescing").stops[6]
    assert stop.needed
    assert caption_of(stop).caption == ""
    assert caption_of(stop, "512 GiB").caption == "512 GiB"


def test_a_view_that_waits_leaves_the_last_one(window: MainWindow, qtbot: QtBot) -> None:
    """The stage keeps its picture, at whichever size, until the launch is counted."""
    stage, session = window.replay.stage, window.session
    before = sure(stage.scene)
    setup = session.shot.setup
    session.show(replace(session.shot, view="why", setup=setup.changed(M=256, N=256, K=256)))
    assert session.display.pending
    window.resize(1500, 900)
    window.replay.draw()
    assert {each.key for each in sure(stage.scene).primitives} == {each.key for each in before.primitives}
    qtbot.waitUntil(lambda: not session.display.pending, timeout=20_000)
    assert "256 × 256 × 256" in str(band_of(sure(stage.scene)))
