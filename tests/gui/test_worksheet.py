"""Blanks that a student fills in where they stand in the code: in the window and in a lecture."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gemmviz.gui.widgets.source_text import WorksheetEdit
from gemmviz.gui.window.main_window import MainWindow
from gemmviz.gui.worksheet import Worksheet
from gemmviz.teaching.lesson import answers_of
from gemmviz.teaching.lesson_file import shipped_lesson
from tests.conftest import sure
from tests.gui.shared_window import settled, wait_while

_LONG_MS = 20_000
_TEXT = "// header\n\nint row = /*?*/;\n/*?*/\nif (/*?*/)\n    C[row] = sum;"
Key = Qt.Key


@pytest.fixture
def editor(qtbot: QtBot) -> WorksheetEdit:
    made = WorksheetEdit()
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show()
    made.show_blanks(_TEXT, ("", "", ""), 2)
    made.setFocus()
    return made


def _code(editor: WorksheetEdit) -> str:
    """The text around the blanks."""
    text = editor.toPlainText()
    for number, answer in enumerate(editor.answers, 1):
        text = text.replace(f" {number} {answer}  ", "/*?*/", 1)
    return text


def test_answers_are_typed_where_the_blanks_stand(editor: WorksheetEdit) -> None:
    QTest.keyClicks(editor, "a + 1")
    QTest.keyClick(editor, Key.Key_Tab)
    QTest.keyClicks(editor, "wait;")
    QTest.keyClick(editor, Key.Key_Tab)
    QTest.keyClicks(editor, "row < N")
    assert editor.answers == ("a + 1", "wait;", "row < N")
    assert editor.toPlainText().split("\n")[2] == "int row =  1 a + 1  ;"
    QTest.keyClick(editor, Key.Key_Backtab)
    assert editor.current == 1
    QTest.keyClick(editor, Key.Key_Down)
    assert editor.current == 2
    QTest.keyClick(editor, Key.Key_Home)
    QTest.keyClick(editor, Key.Key_Left)
    assert editor.current == 1
    assert "Blank 2 of 3, line 4" in editor.accessibleName()
    editor.go(0)
    assert editor.accessibleName() == "Blank 1 of 3, line 3: int row = … ;"


def test_the_text_around_the_blanks_stays(editor: WorksheetEdit) -> None:
    ctrl, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    presses = [
        (Key.Key_Backspace, None), (Key.Key_Delete, None), (Key.Key_Backspace, ctrl), (Key.Key_Delete, ctrl), (Key.Key_K, ctrl),
        (Key.Key_Home, ctrl), (Key.Key_Backspace, None), (Key.Key_End, ctrl), (Key.Key_Delete, None), (Key.Key_Left, shift),
        (Key.Key_Delete, None), (Key.Key_Right, shift), (Key.Key_X, ctrl), (Key.Key_A, ctrl), (Key.Key_X, ctrl),
        (Key.Key_U, ctrl), (Key.Key_Home, shift), (Key.Key_Backspace, None),
    ]  # fmt: skip
    for start in range(3):
        for key, modifier in presses:
            editor.go(start)
            QTest.keyClicks(editor, "xy")
            QTest.keyClick(editor, key, modifier or Qt.KeyboardModifier.NoModifier)
            QTest.keyClick(editor, key, modifier or Qt.KeyboardModifier.NoModifier)
            assert _code(editor) == _TEXT, (start, key, modifier)
    everything = editor.textCursor()
    everything.select(everything.SelectionType.Document)
    editor.setTextCursor(everything)  # as with the mouse
    editor.cut()
    assert _code(editor) == _TEXT
    pasted = QMimeData()
    pasted.setText("1 +\n  2")
    editor.insertFromMimeData(pasted)
    assert _code(editor) == _TEXT
    assert "1 + 2" in editor.answers[editor.current]
    typed = QInputMethodEvent()
    typed.setCommitString("中")
    QApplication.sendEvent(editor, typed)
    assert _code(editor) == _TEXT


def test_what_is_typed_is_undone_blank_by_blank(editor: WorksheetEdit) -> None:
    QTest.keyClicks(editor, "one")
    QTest.keyClick(editor, Key.Key_Tab)
    QTest.keyClicks(editor, "two")
    editor.undo()
    assert editor.answers == ("one", "", "")
    editor.undo()
    assert editor.answers == ("", "", "")
    assert editor.current == 0
    editor.redo()
    QTest.keyClicks(editor, "!")
    assert editor.answers == ("one!", "", "")
    assert _code(editor) == _TEXT


def test_keys_of_the_window_stay_with_it(editor: WorksheetEdit, qtbot: QtBot) -> None:
    with qtbot.waitSignal(editor.tried):
        QTest.keyClick(editor, Key.Key_Return)
    with qtbot.waitSignal(editor.left):
        QTest.keyClick(editor, Key.Key_Escape)
    assert editor.answers == ("", "", "")
    editor.go(2)
    assert not editor.focusNextPrevChild(True)  # Tab leaves behind the last blank


@pytest.fixture
def at_blanks(window: MainWindow, qtbot: QtBot) -> Worksheet:
    window.resize(1366, 768)
    course = window.model.course
    course.begin(shipped_lesson("slides"))
    course.go(sure(course.lesson.find("writing")))
    wait_while(lambda: course.is_waiting)
    qtbot.waitUntil(lambda: settled(window) and window.replay.worksheet.editor.isVisible(), timeout=_LONG_MS)
    return window.replay.worksheet


def _fill(editor: WorksheetEdit, answers: Sequence[str], first: int = 0) -> None:
    for number, answer in enumerate(answers, first):
        editor.go(number)
        QTest.keyClick(editor, Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClick(editor, Key.Key_Delete)
        QTest.keyClicks(editor, answer)


def test_all_blanks_are_in_reach_tried_judged_and_kept(window: MainWindow, at_blanks: Worksheet, qtbot: QtBot) -> None:
    editor, bar, course = at_blanks.editor, at_blanks.bar, window.model.course
    assert not window.banner.texts  # that it has blanks is no error
    for number in range(8):
        editor.go(number)
        assert editor.viewport().rect().contains(editor.cursorRect()), number
    assert window.replay.stage.rect().contains(at_blanks.geometry())
    _fill(editor, answers_of("blanks"))
    QTest.keyClick(editor, Key.Key_Return)
    qtbot.waitUntil(lambda: bar.verdict.text().startswith("✓ Done"), timeout=_LONG_MS)
    _fill(editor, ["row"], 3)
    bar.try_it.click()
    qtbot.waitUntil(lambda: "blank 4: first difference: thread (1, 0)" in bar.verdict.text(), timeout=_LONG_MS)
    assert editor.wrong == editor.current == 3
    bar.picture.click()
    qtbot.waitUntil(lambda: settled(window) and window.session.shot.view == "stage", timeout=_LONG_MS)
    qtbot.waitUntil(lambda: at_blanks.back.isVisible() and not editor.isVisible(), timeout=_LONG_MS)
    at_blanks.back.click()
    qtbot.waitUntil(editor.isVisible, timeout=_LONG_MS)
    assert "blank 4" in bar.verdict.text()
    course.walk(-1)
    wait_while(lambda: course.is_waiting)
    qtbot.waitUntil(lambda: settled(window) and not at_blanks.isVisible(), timeout=_LONG_MS)
    course.go(sure(course.lesson.find("writing")))
    qtbot.waitUntil(lambda: settled(window) and editor.isVisible(), timeout=_LONG_MS)
    assert editor.answers[3] == "row"


def test_blanks_are_filled_in_a_lecture_too(window: MainWindow, at_blanks: Worksheet, qtbot: QtBot) -> None:
    lecture = window.lecture
    at_blanks.editor.go(0)
    QTest.keyClicks(at_blanks.editor, "TILE")
    lecture.begin()
    wall = sure(lecture.wall)
    editor = wall.worksheet.editor
    qtbot.waitUntil(lambda: editor.isVisible() and editor.answers[:1] == ("TILE",), timeout=_LONG_MS)
    assert not editor.hasFocus()  # B is a black screen until the editor is entered
    QTest.keyClick(wall, Key.Key_T)
    qtbot.waitUntil(editor.hasFocus)
    QTest.keyClicks(editor, "_WIDTHb")
    assert window.model.course.answers[0] == "TILE_WIDTHb"
    assert wall.overlay.blank == ""
    for number in range(8):
        editor.go(number)
        assert editor.viewport().rect().contains(editor.cursorRect()), number
    QTest.keyClick(editor, Key.Key_Tab)  # behind the last blank
    assert editor.hasFocus()
    QTest.keyClick(editor, Key.Key_Escape)
    assert not editor.hasFocus()
    assert lecture.is_on
    QTest.keyClick(QApplication.focusWidget() or wall, Key.Key_PageDown)
    qtbot.waitUntil(lambda: not wall.worksheet.isVisible(), timeout=_LONG_MS)  # the lesson fills in the first blank
    lecture.end()
