"""The slider of the tile size: the run, its phases and its reads follow while it is moved."""

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gemmviz.gui.window.main_window import MainWindow
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import sure
from tests.gui.shared_window import settled

_LONG_MS = 20_000


def test_the_picture_follows_the_slider(window: MainWindow, qtbot: QtBot) -> None:
    tiles, session = window.replay.tiles, window.session
    assert tiles.isVisible()
    assert (tiles.name.text(), tiles.slider.value()) == ("TILE_WIDTH", 1)
    assert tiles.facts.text() == "4 blocks, 2 phases, A and B are read 2 times each"
    QTest.keyClick(window.replay.stage, Qt.Key.Key_I)
    assert tiles.slider.hasFocus()
    QTest.keyClick(tiles.slider, Qt.Key.Key_Left)
    assert session.shot.setup.parameters["TILE_WIDTH"] == 2
    qtbot.waitUntil(lambda: sure(session.shown).replay.phases == 4, timeout=_LONG_MS)
    assert tiles.facts.text() == "16 blocks, 4 phases, A and B are read 4 times each"


def test_only_the_last_of_several_sizes_is_shown(window: MainWindow, qtbot: QtBot) -> None:
    tiles, shown = window.replay.tiles, []
    window.session.run_changed.connect(lambda: shown.append(sure(window.session.shown).setup.parameters["TILE_WIDTH"]))
    tiles.larger.click()
    for place in (0, 1, 2, 3):
        tiles.slider.setValue(place)
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert shown == [16]
    assert tiles.facts.text() == "16 blocks, 4 phases, A and B are read 4 times each"
    assert not tiles.larger.isVisible()


def test_a_size_that_does_not_run_says_what_it_breaks(window: MainWindow, qtbot: QtBot) -> None:
    tiles = window.replay.tiles
    tiles.slider.setValue(tiles.slider.maximum())
    assert "4096 threads" in tiles.facts.text()
    tiles.slider.setValue(0)
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert "read 4 times" in tiles.facts.text()


def test_a_faint_size_says_why_it_is_faint_when_it_is_pointed_at_and_when_it_is_chosen(
    window: MainWindow, qtbot: QtBot
) -> None:
    tiles, stops = window.replay.tiles, sure(window.replay.tiles.slider.tiles)
    high = window.replay.stage.height()
    usual, none = tiles.facts.text(), Qt.MouseButton.NoButton
    assert {size.value for size in stops.sizes if not size.suits} == {8, 16, 32, 64}
    for place, size in enumerate(stops.sizes):
        at = QPointF(tiles.slider._x_of(place), 12.0)
        move = QMouseEvent(QEvent.Type.MouseMove, at, tiles.slider.mapToGlobal(at), none, none, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(tiles.slider, move)
        assert tiles.facts.text() == (usual if size.suits else size.why_not)
        assert size.why_not in tiles.slider.toolTip()
        qtbot.wait(20)
        assert window.replay.stage.height() == high
    QApplication.sendEvent(tiles.slider, QEvent(QEvent.Type.Leave))
    assert tiles.facts.text() == usual
    tiles.slider.setValue(2)
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert tiles.facts.text() == stops.sizes[2].why_not


def test_a_lesson_has_no_slider(window: MainWindow, qtbot: QtBot) -> None:
    window.model.course.begin(shipped_lesson("shared-memory"))
    assert not window.replay.tiles.isVisible()
    window.model.course.end()
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert window.replay.tiles.isVisible() == (window.session.display.kind.time == "run")


def test_reads_of_a_launch_of_which_a_part_is_traced_are_told_once_they_are_counted(window: MainWindow, qtbot: QtBot) -> None:
    session = window.session
    session.alter(setup=session.shot.setup.changed(M=192, N=192, K=192, TILE_WIDTH=16))
    qtbot.waitUntil(lambda: settled(window) and sure(session.shown).setup.problem.M == 192, timeout=_LONG_MS)
    trace = sure(session.shown).trace
    assert trace.blocks.count < trace.launch.block_count
    assert window.replay.tiles.facts.text() == "144 blocks, 12 phases, A and B are read 12 times each"
