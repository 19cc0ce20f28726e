"""Lessons as a student goes through them in the window."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import setup_for
from gemmviz.gui.panels.lessons import Lessons
from gemmviz.gui.preferences import InMemoryStore
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.model.problem import Problem
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.shots.shot import default_shot, shot_text
from gemmviz.teaching.lesson_file import save_lesson, shipped_lesson
from gemmviz.teaching.quiz import quiz_of
from tests.conftest import sure
from tests.gui.conftest import metrics_of, open_file, panel_of, settings_of, source_of
from tests.gui.shared_window import settled, wait_while

_LONG_MS = 20_000


@pytest.fixture
def panel(window: MainWindow) -> Lessons:
    return panel_of(window, "lessons", Lessons)


def at(panel: Lessons, lesson: str, id: str) -> None:
    course = panel.course
    course.begin(shipped_lesson(lesson))
    course.go(sure(course.lesson.find(id)))
    wait_while(lambda: course.is_waiting)


def test_a_lesson_comes_to_the_front_and_stays_beside_a_benchmark(window: MainWindow, panel: Lessons, qtbot: QtBot) -> None:
    settings_of(window)
    at(panel, "slides", "speed-up")
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert window.session.display.is_benchmark
    assert panel.isVisible()
    assert not window.docks.all["settings"].isVisible()
    panel.next.click()
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert not window.session.display.is_benchmark
    assert panel.isVisible()
    assert window.docks.all["settings"].isVisible()


def test_the_window_starts_with_a_lesson_by_its_name(qtbot: QtBot) -> None:
    window = MainWindow(InMemoryStore(shot=shot_text(default_shot())))
    qtbot.addWidget(window)
    window.start(lesson="coalescing")
    window.show()
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    course = window.model.course
    assert course.lesson.name == "coalescing"
    assert course.at == 0
    assert window.session.shot.view == course.lesson.steps[0].shot.view
    assert window.preferences.recent == []
    window.close()


def test_a_lesson_that_is_gone_leaves_what_was_shown(qtbot: QtBot) -> None:
    window = MainWindow(InMemoryStore(shot=shot_text(default_shot())))
    qtbot.addWidget(window)
    window.start(lesson="no-such-lesson")
    window.show()
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert [text for text in window.banner.texts if "no-such-lesson" in text]
    window.close()


def test_a_question_is_asked_answered_and_keeps_its_places(window: MainWindow, panel: Lessons, qtbot: QtBot) -> None:
    at(panel, "slides", "question-barrier")
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    question = sure(sure(panel.course.filled).question)
    rows = panel.task.choices

    def places() -> list[QPoint]:
        return [row.button.mapTo(window, row.button.rect().topLeft()) for row in rows]

    seen: list[QPoint] = []
    while seen != places():  # the layout of a new step takes several rounds
        seen = places()
        qtbot.wait(200)
    assert panel.caption.text() == question.text
    assert [row.text.text() for row in rows] == [choice.text for choice in question.choices]
    rows[0].button.click()
    assert panel.caption.text() == question.text
    assert question.choices[0].why in panel.task.verdict.text()
    assert [row.button.text() for row in rows] == ["✗ A", "B", "C", "D"]
    rows[question.right].button.click()
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    assert [row.button.text() for row in rows][question.right] == f"✓ {chr(ord('A') + question.right)}"
    qtbot.waitUntil(lambda: places() == seen)


def test_no_number_of_the_window_answers_an_open_question(window: MainWindow, panel: Lessons, qtbot: QtBot) -> None:
    metrics, form = metrics_of(window), settings_of(window)
    at(panel, "coalescing", "question-lanes")
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    qtbot.waitUntil(lambda: sure(metrics.costs.item(1, 1)).text() == "?", timeout=_LONG_MS)
    tables = (metrics.costs, metrics.launch, metrics.accesses)
    assert all(table.is_covered for table in tables)
    shown = {sure(table.item(row, column)).text() for table in tables for row in range(table.rowCount())
             for column in range(1, table.columnCount())}  # fmt: skip
    assert not {text for text in shown if any(letter.isdigit() for letter in text) and text[0].isdigit()}
    assert "lane" not in form.setup.kernel.toolTip()  # nor do the words about the kernel
    assert metrics.check.isHidden()  # "C is right" beside an answer C
    contents = panel.contents
    qtbot.waitUntil(lambda: contents.viewport().rect().contains(contents.visualItemRect(sure(contents.currentItem()))))
    panel.task.choices[2].button.click()
    qtbot.waitUntil(lambda: sure(metrics.costs.item(1, 1)).text() == "32", timeout=_LONG_MS)


def test_the_source_has_no_comments_while_a_question_is_open(window: MainWindow, panel: Lessons, qtbot: QtBot) -> None:
    kernel = load_kernel("04_tiled")
    panel.course.begin(quiz_of(setup_for(kernel, Problem(16, 16, 16)), Interpreter(), count=1))
    qtbot.waitUntil(lambda: settled(window) and not panel.course.is_waiting, timeout=_LONG_MS)
    text = source_of(window).text
    lines = text.document().toPlainText().split("\n")
    blocks = [text.document().findBlockByNumber(number) for number in range(len(lines))]
    assert "//" not in text.document().toPlainText()
    for line, whole, block in zip(lines, kernel.text.split("\n"), blocks, strict=True):
        code = whole.partition("//")[0].rstrip()
        assert line.rstrip() == code  # at its place, so that lines and columns of accesses hold
        assert block.isVisible() or not code
        assert not (block.isVisible() and whole.strip() and not code)
    panel.task.choices[sure(sure(panel.course.filled).question).right].button.click()
    qtbot.waitUntil(lambda: text.document().toPlainText() == kernel.text, timeout=_LONG_MS)


def test_next_gives_no_answer_away(panel: Lessons) -> None:
    for lesson, id in (("slides", "writing"), ("coalescing", "question-lanes")):
        at(panel, lesson, id)
        place = sure(panel.course.at)
        panel.next.click()
        wait_while(lambda: panel.course.is_waiting)
        assert panel.course.at == place + 1


def test_a_quiz_from_a_file_is_a_lesson(window: MainWindow, panel: Lessons, qtbot: QtBot, tmp_path: Path) -> None:
    save_lesson(quiz_of(setup_for(load_kernel("04_tiled")), Interpreter(), 3), tmp_path / "quiz.toml")
    open_file(window.model, tmp_path / "quiz.toml")
    assert panel.isVisible()
    assert panel.choice.currentIndex() == -1
    assert "Question 2" in panel.contents.item(1).text()
    assert len(panel.task.choices) >= 3
    panel.course.go(2)
    qtbot.waitUntil(lambda: panel.course.at == 2, timeout=_LONG_MS)
    assert [panel.contents.item(row).text()[0] for row in range(3)] == ["○", "○", " "]
    assert panel.progress.text().endswith(", 2 questions skipped")
    panel.course.go(0)
    qtbot.waitUntil(lambda: panel.course.at == 0, timeout=_LONG_MS)
    panel.course.pick(sure(sure(panel.course.filled).question).right)
    qtbot.waitUntil(lambda: panel.contents.item(0).text()[0] == "✓", timeout=_LONG_MS)
    assert panel.progress.text().endswith(", 1 seen")
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)


def test_a_lesson_removes_the_message_about_a_file(window: MainWindow, panel: Lessons, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "bad.cu").write_text("int main() { return 0; }\n")
    open_file(window.model, tmp_path / "bad.cu")
    assert window.banner.texts
    window.model.opening.open_lesson("coalescing")
    qtbot.waitUntil(lambda: panel.course.is_on and settled(window), timeout=_LONG_MS)
    assert not window.banner.texts


def test_panels_do_not_pass_the_run_before_off_as_a_step_that_needs_none(
    window: MainWindow, panel: Lessons, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: settled(window) and window.session.shown is not None, timeout=_LONG_MS)
    metrics = metrics_of(window)
    panel.course.begin(shipped_lesson("coalescing"))
    panel.course.go(0)  # a device
    qtbot.waitUntil(lambda: not metrics.isEnabled(), timeout=_LONG_MS)
    assert metrics.absent.isVisible()
    assert not any(part.isVisible() for part in (metrics.check, metrics.source, metrics.costs, metrics.launch))
    at(panel, "coalescing", "uncoalesced")
    qtbot.waitUntil(lambda: metrics.costs.isVisible() and metrics.check.isVisible(), timeout=_LONG_MS)
    assert not metrics.absent.isVisible()


def test_exploring_says_what_can_be_changed_and_what_was(window: MainWindow, panel: Lessons, qtbot: QtBot) -> None:
    at(panel, "coalescing", "uncoalesced")
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    step, said = panel.title.text(), panel.caption.text()
    panel.explore.click()
    assert panel.title.text() == step
    assert panel.caption.text() != said
    assert panel.progress.text().startswith("exploring from step ")
    slider = window.replay.tiles
    assert slider.isVisibleTo(window) == (f"{slider.name.text()}: the slider" in panel.notes.text())
    assert "Panels › Settings" in panel.notes.text()
    assert panel.notes.text().endswith("Nothing is changed yet.")
    window.model.commands.choose_theme("light")
    window.model.commands.change("K", 12)
    assert panel.notes.text().endswith("Changed: K = 12")
    window.model.commands.show_view("loops")
    assert panel.notes.text().endswith("Changed: K = 12, view Loops and grid")
    panel.explore.click()
    wait_while(lambda: panel.course.is_waiting)
    assert (panel.title.text(), panel.caption.text()) == (step, said)
    assert "Settings" not in panel.notes.text()


def test_exploring_from_a_question_hides_its_choices_and_returns_to_them(
    window: MainWindow, panel: Lessons, qtbot: QtBot
) -> None:
    at(panel, "coalescing", "question-bytes")
    qtbot.waitUntil(lambda: settled(window), timeout=_LONG_MS)
    choices = [each.text.text() for each in panel.task.choices]
    assert choices
    panel.explore.click()
    assert not panel.task.choices
    assert panel.notes.text().endswith("Nothing is changed yet.")
    panel.explore.click()
    wait_while(lambda: panel.course.is_waiting)
    assert sorted(each.text.text() for each in panel.task.choices) == sorted(choices)


def test_return_and_space_open_the_marked_step(window: MainWindow, panel: Lessons, qtbot: QtBot) -> None:
    at(panel, "coalescing", shipped_lesson("coalescing").name_of(shipped_lesson("coalescing").steps[5]).rpartition("/")[2])
    panel.contents.setFocus()
    first = panel.course.at
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        qtbot.keyClick(panel.contents, Qt.Key.Key_Down)
        marked = panel.contents.currentRow()
        assert marked != panel.course.at
        qtbot.keyClick(panel.contents, key)
        wait_while(lambda: panel.course.is_waiting)
        assert panel.course.at == marked == panel.contents.currentRow()
    assert first is not None
    assert panel.course.at == first + 2
    assert not window.session.player.is_playing
