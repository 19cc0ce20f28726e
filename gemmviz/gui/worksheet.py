"""Exercises in the window and in a lecture: the buttons and the verdict of an attempt, and the source with blanks that lies
over its picture.
"""

from PySide6.QtCore import QRect
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gemmviz.analysis.listing import first_line, listing_of
from gemmviz.gui.widgets.controls import selectable_line, step_button
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.gui.widgets.source_text import WorksheetEdit
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import tr
from gemmviz.render.qt.painter import font
from gemmviz.scenes.kit.primitives import Labels, Rects
from gemmviz.scenes.kit.theme import Theme
from gemmviz.teaching.lesson import Exercise

_SHEET, _LINES = "code-panel", "code-lines"  # the ground and the text of the listing in a picture
_MARGIN, _LEAST_LETTERS = 8, 12  # pixels
_SMALLER = 0.8  # share of the listing's letters: smaller ones aren't taken to show all lines
_LEADING, _WRAPPED = 1.32, 3  # pixels of a line per pixel of its letters; lines that continue, and the frame


class Attempt(QWidget):
    """Buttons that try an exercise and give hints, and what is said about the last attempt."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.course = model.course
        self._exercise: Exercise | None = None
        self._hints = 0
        self.verdict = selectable_line()
        self.verdict.setAccessibleDescription(tr("Result of the attempt"))
        self.try_it = step_button(tr("Try it"), tr("Run the kernel and check the result"))
        self.hint = step_button(tr("Hint"), tr("Show the next hint"))
        self.picture = step_button(tr("Show the access"), tr("Show the access that the result is about in a picture"))
        buttons = QHBoxLayout()
        for button in (self.try_it, self.hint, self.picture):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(buttons)
        column.addWidget(self.verdict)
        self.try_it.clicked.connect(self.attempt)
        self.hint.clicked.connect(self._on_hint)
        self.picture.clicked.connect(self.course.show_verdict)
        self.course.judged.connect(self._on_judged)

    def show_exercise(self, exercise: Exercise | None) -> None:
        """Show what belongs to an exercise; its hints begin anew if it is another one."""
        if exercise != self._exercise:
            self._exercise, self._hints = exercise, 0
            self._on_judged()

    def attempt(self) -> None:
        """Let the present answers, or the present settings, be judged."""
        self.verdict.setText("…")
        self.course.attempt(self.course.answers)

    def _on_hint(self) -> None:
        if self._exercise is not None and self._exercise.hints:
            self.verdict.setText(self._exercise.hints[min(self._hints, len(self._exercise.hints) - 1)])
            self._hints += 1

    def _on_judged(self) -> None:
        verdict = self.course.position.verdict
        self.verdict.setText("" if verdict is None else ("✓ " if verdict.passed else "✗ ") + "\n".join(verdict.lines))
        has_picture = self.course.blanks > 0 and verdict is not None and verdict.shot is not None
        self.picture.setVisible(has_picture)
        self.picture.setText(tr("Show the run") if verdict is not None and verdict.passed else tr("Show the access"))


class Worksheet(QWidget):
    """The source of an exercise with blanks, at its place in a picture, with the attempt below it. While the picture shows the
    run of an attempt, only a button back to the source.
    """

    def __init__(self, model: WindowModel, picture: SceneWidget) -> None:
        super().__init__(picture)
        self.model, self.course, self._picture = model, model.course, picture
        self._worn: tuple[Theme, int] | None = None
        self.editor, self.bar = WorksheetEdit(), Attempt(model)
        self.back = step_button(tr("◀ Back to the code"), tr("Show the code with the blanks again"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.editor, self.bar, self.back):
            column.addWidget(widget, 1 if widget is self.editor else 0)
        self.back.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.editor.written.connect(lambda: self.course.write(self.editor.answers))
        self.editor.tried.connect(self.bar.attempt)
        self.editor.left.connect(picture.setFocus)
        self.back.clicked.connect(self._on_back)
        self.course.judged.connect(self._on_judged)
        self.course.written.connect(self._load)
        self.hide()

    def place(self, bottom: int) -> None:
        """Lie over the listing of the picture, down to ``bottom`` in pixels; hide if the step is no exercise with blanks."""
        stop, scene = self.course.now, self._picture.scene
        is_on = stop is not None and self.course.is_filling
        sheet = scene.find(_SHEET) if scene is not None and is_on and self.course.shows_blanks else None
        self.setVisible(is_on)
        for widget in (self.editor, self.bar):
            widget.setVisible(sheet is not None)
        self.back.setVisible(sheet is None)
        self.bar.show_exercise(stop.exercise if stop is not None else None)
        if not is_on or stop is None:
            return
        if not isinstance(sheet, Rects):
            size = self.back.sizeHint()
            self.setGeometry(_MARGIN, bottom - size.height() - _MARGIN, size.width(), size.height())
            return
        view, lines = self._picture.view, scene.find(_LINES) if scene is not None else None
        box = view.rect(*sheet.boxes[0]).toRect()
        self.setGeometry(QRect(box.left(), box.top(), box.width(), max(1, bottom - _MARGIN - box.top())))
        if isinstance(lines, Labels):
            self._wear(lines.size * view.scale)
        self._load()

    def enter(self) -> None:
        """Give the blanks the focus, if they are shown."""
        if self.editor.isVisible():
            self.editor.setFocus()

    def _wear(self, size: float) -> None:
        """Take the theme's colours, and letters as large as those of the listing, or smaller if all lines fit then."""
        stop = self.course.now
        assert stop is not None
        rows = len(listing_of(stop.shot.setup.kernel).lines) + _WRAPPED
        fitting = (self.height() - self.bar.sizeHint().height()) / (_LEADING * rows)
        letters = round(max(_LEAST_LETTERS, _SMALLER * size, min(size, fitting)))
        if (self.model.theme, letters) != self._worn:
            self._worn = self.model.theme, letters
            self.setFont(font("regular", letters))
            self.editor.set_theme(self.model.theme)
            self.editor.set_letters(font("mono", letters))

    def _load(self) -> None:
        stop = self.course.now
        if stop is not None and not self.editor.isHidden():
            kernel = stop.shot.setup.kernel
            self.editor.show_blanks(kernel.text, self.course.answers, first_line(kernel))

    def _on_back(self) -> None:
        self.course.show_blanks()
        self.editor.setFocus()

    def _on_judged(self) -> None:
        verdict = self.course.position.verdict
        blank = None if verdict is None else verdict.blank
        self.editor.mark_wrong(None if blank is None else blank - 1)
