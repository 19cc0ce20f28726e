"""The panels beside the stage: each shows its picture whole, and only pictures of what the window shows."""

from gc import collect
from pathlib import Path
from random import Random

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from gemmviz.analysis.models import occupancy_limits
from gemmviz.analysis.reasons import Launched, main_cause
from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.gui.panels.metrics import _short_count
from gemmviz.gui.panels.views import SavedViews
from gemmviz.gui.replay_page import fits_settings
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.messages import Place
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.scenes.kit.primitives import Cells, Labels, Scene
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import holds
from tests.conftest import DATA, sure
from tests.gui.conftest import metrics_of, open_file, panel_of, pictured


def scene_texts(scene: Scene) -> str:
    """All texts of a scene."""
    labels = [text for each in scene.all if isinstance(each, Labels) for text in each.texts]
    cells = [
        str(text) for each in scene.all if isinstance(each, Cells) and each.labels is not None for text in each.labels.flat
    ]
    return " ".join([*labels, *cells])


def test_no_other_picture_stays_under_a_message(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    session, metrics = window.session, metrics_of(window)
    session.show(structs.replace(session.shot, setup=session.shot.setup.changed(M=12), view="launch"))  # needs no run
    metrics.draw()  # before the run of these settings is there
    assert not metrics.isEnabled()
    window.model.commands.show_view("stage")
    qtbot.waitUntil(metrics.isEnabled)
    path = tmp_path / "plain.cu"
    path.write_text("int main() { return 0; }\n")
    open_file(window.model, path)
    scene = sure(window.replay.stage.scene)
    assert "plain.cu can't be shown" in scene_texts(scene)
    assert scene.find("A") is None
    qtbot.waitUntil(lambda: not metrics.isEnabled())
    assert not window.replay.timeline.isVisible()
    session.notices.drop("file")  # the message is closed
    assert sure(window.replay.stage.scene).find("A") is not None
    qtbot.waitUntil(metrics.isEnabled)


def test_menus_keep_their_entries_when_they_open(full_window: MainWindow) -> None:
    """What is removed from a menu and added again can die in between."""
    window = full_window
    menus = window.menus
    made = list(menus.all.values())
    panels = {entry.text(): entry for entry in menus.opened("view.window.panels").actions()}
    for _ in range(2):
        menus.opened("view.window.panels")
        menus.opened("file.recent")
        collect()
    for entry in window.menuBar().actions():
        entry.menu()  # PySide ties the menu to the entry, and ends its wrapper with that of the entry
    assert all(map(isValid, (*made, *menus._menus.values())))
    assert menus.opened("view.window.panels").actions() == list(panels.values())
    dock = window.docks.all["costs"]
    for is_hidden in (True, False):
        panels["Costs"].trigger()
        assert dock.isHidden() is is_hidden
    assert not menus.opened("file.recent").menuAction().isEnabled()
    assert "No file was opened" in menus.opened("file.recent").menuAction().toolTip()


@pytest.mark.nightly
def test_menus_live_through_a_thousand_openings(window: MainWindow, qtbot: QtBot) -> None:
    some, menus = Random(1), window.menus
    keys = (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Up)
    with qtbot.captureExceptions() as errors:
        for _ in range(1000):
            menu = some.choice([each for each in window.findChildren(QMenu) if each.actions()])
            menu.popup(QPoint(some.randrange(800), some.randrange(500)))
            for _ in range(some.randrange(4)):
                QTest.keyClick(menu, some.choice(keys))
            assert all(
                entry.menu() is None or isValid(entry.menu()) for entry in (*menu.actions(), *window.menuBar().actions())
            )
            menu.hide()
            match some.randrange(40):
                case 0:
                    some.choice(list(window.docks.all.values())).toggleViewAction().trigger()
                case 1:
                    window.model.commands.show_view(some.choice(("stage", "warp", "why", "grid")))
                case 2:
                    QApplication.processEvents()
                    collect()
    assert not errors
    assert all(map(isValid, (*menus.all.values(), *menus._menus.values())))


def test_a_panel_says_why_a_file_was_refused(window: MainWindow, tmp_path: Path) -> None:
    assert fits_settings(window.session)
    (tmp_path / "bad.cu").write_text("int main() {}")
    open_file(window.model, tmp_path / "bad.cu")
    assert window.session.display.refusal != ""
    assert not fits_settings(window.session)


def test_a_button_leads_to_the_main_cause(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    why, session = window.why, window.session
    file = tmp_path / "mine.cu"
    file.write_text((DATA / "plain" / "student.cu").read_text())
    open_file(window.model, file)
    tip = "as main() launches it: Each multiply-add reads 2 values"
    qtbot.waitUntil(lambda: why.isVisible() and tip in why.toolTip(), timeout=20_000)
    why.click()
    qtbot.waitUntil(lambda: session.shot.view == "why" and not why.isVisible())
    window.model.commands.show_view("stage")
    qtbot.waitUntil(why.isVisible)
    pictured(window, qtbot, lambda: window.model.opening.open_lesson("coalescing"))
    assert window.model.course.is_on
    assert not why.isVisible()
    window.model.course.end()


def test_a_small_problem_is_no_main_cause() -> None:
    known = Knowledge(Shot(setup_for(load_kernel("03_coalesced"), Problem(32, 32, 32))), Interpreter())
    limits = occupancy_limits(known.occupancy.device, known.occupancy.own)
    launched = Launched(sure(known.counts), limits, known.setup.problem, 1)
    assert [sure(main_cause(launched, is_small)).kind for is_small in (False, True)] == ["idle", "reuse"]


def test_large_counts_are_short() -> None:
    counts = {999: "999", 1_500_000: "1.5\u2009M", 2_500_000_000: "2.5\u2009G"}
    assert {count: _short_count(count) for count in counts} == counts


def test_a_place_of_the_source_ends_before_its_end() -> None:
    place = Place(3, 5, 3, 9)
    assert [column for column in range(1, 12) if holds(place, 3, column)] == [5, 6, 7, 8]
    assert not holds(place, 2, 6)


def test_return_opens_the_view_that_is_marked_in_a_list(window: MainWindow) -> None:
    model = window.model
    for view in ("warp", "stage"):
        model.commands.show_view(view)
        model.saved_views.keep()
    saved = panel_of(window, "views", SavedViews)
    saved.list.setFocus()
    saved.list.setCurrentRow(0)
    QTest.keyClick(saved.list, Qt.Key.Key_Return)
    assert window.session.shot.view == "warp"
