"""The panel of lessons: contents, progress, the text of the step, questions and exercises."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gemmviz.cuda.launch.catalog import lesson_names
from gemmviz.gui.panel import Panel
from gemmviz.gui.shelf import Shelf
from gemmviz.gui.widgets.controls import scrolled, selectable_line, set_look, set_name, step_button, unless_covered
from gemmviz.gui.widgets.input import OPENING, WheelGuard, keep_keys
from gemmviz.gui.window_model import WindowModel
from gemmviz.gui.worksheet import Attempt
from gemmviz.model.messages import letter, marked, tr, trn
from gemmviz.shots.runs import tile_sizes
from gemmviz.teaching.captions import caption_of
from gemmviz.teaching.lesson import Exercise, Lesson, LessonStep, Question
from gemmviz.teaching.lesson_file import lesson_title

_NONE, _FROM_FILE = marked("All lessons"), marked("Lesson from a file")
_EXPLORING = marked("All counts are shown, and everything can be changed. Return shows this step again.")
_FEW_ROWS, _NO_LIMIT = 5, 16777215  # rows of the contents: beside a task, and otherwise


class Lessons(QWidget):
    """The lesson that is open: its contents above, the text and the task of the step below."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.course = model, model.course
        self.setAccessibleName(tr("Lessons"))
        self.choice = QComboBox()
        set_name(self.choice, tr("Lesson"))
        self.choice.setToolTip(tr("Choose a lesson and show its first step"))
        self.choice.setPlaceholderText(tr(_FROM_FILE))
        self.choice.addItem(tr(_NONE), "")
        for name in lesson_names():
            self.choice.addItem(lesson_title(name), name)
        self.contents = QListWidget()
        keep_keys(self.contents, OPENING)
        self.contents.installEventFilter(self)
        self.contents.setAccessibleName(tr("Contents"))
        self.contents.setToolTip(
            tr("Click a step to show it, or mark it and press Return. ✓ seen or answered, ○ skipped, ? question, ✎ exercise")
        )
        self.progress = selectable_line("faint")
        self.title, self.caption, self.notes = selectable_line("heading"), selectable_line(), selectable_line("faint")
        self.back = step_button(tr("◀ Back"), tr("Previous step (Ctrl+Page Up)"))
        self.next = step_button(tr("Next ▶"), tr("Next part or step (Ctrl+Page Down)"))
        self.explore = step_button(
            tr("Explore"), tr("Change anything, then press the same button to return to the lesson (Ctrl+Return)")
        )
        self.task, self.shelf = _Task(model), Shelf(model)
        self._lay_out()
        self.choice.activated.connect(self._open)
        self.contents.itemClicked.connect(lambda item: self.course.go(self.contents.row(item)))
        self.back.clicked.connect(lambda: self.course.walk(-1))
        self.next.clicked.connect(self.course.advance)
        self.explore.clicked.connect(self.course.toggle_explore)
        self.wheel = WheelGuard(self, model.released.emit)
        self.wheel.guard(self)
        for button in (self.back, self.next, self.explore):
            button.clicked.connect(lambda: model.released.emit())
        self.course.changed.connect(self.draw)
        model.session.shot_changed.connect(self._on_shot_changed)
        self.course.judged.connect(lambda: self.area.ensureWidgetVisible(self.task.attempt))
        self.draw()

    def _lay_out(self) -> None:
        words = QWidget()
        inner = QVBoxLayout(words)
        inner.setContentsMargins(0, 0, 0, 0)
        for widget in (self.title, self.caption, self.task, self.notes):
            inner.addWidget(widget)
        inner.addStretch(1)
        self.area = scrolled(words, tr("Text of the lesson"))
        buttons = QHBoxLayout()
        for button in (self.back, self.next, self.explore):
            buttons.addWidget(button)
        self.contents.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.contents.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.lesson = QWidget()
        column = QVBoxLayout(self.lesson)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.contents, 2)
        column.addWidget(self.progress)
        column.addWidget(self.area, 3)
        column.addLayout(buttons)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(8, 4, 8, 4)
        whole.addWidget(self.choice)
        whole.addWidget(self.lesson, 1)
        whole.addWidget(self.shelf, 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the marked step with Return and Space."""
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent) or event.key() not in OPENING:
            return False
        self.course.go(self.contents.currentRow())
        return True

    def _open(self) -> None:
        name = self.choice.currentData()
        if name:
            self.model.opening.open_lesson(name)
        else:
            self.course.end()

    @unless_covered
    def draw(self) -> None:
        """Show the lesson at its current step."""
        course = self.course
        lesson, stop = course.lesson, course.filled
        self.choice.setCurrentIndex(self.choice.findData(lesson.name if lesson.steps else ""))  # -1: a lesson from a file
        self._draw_contents()
        has = bool(lesson.steps)
        self.choice.setVisible(has)
        self.lesson.setVisible(has)
        self.shelf.setVisible(not has)
        place = "" if course.at is None else tr("step {at} of {stops}, ", at=course.at + 1, stops=len(lesson.steps))
        if course.parts > 1 and stop is not None and stop.question is None and stop.exercise is None:
            place += tr("part {part} of {parts}, ", part=course.part + 1, parts=course.parts)
        is_away = course.position.is_away
        seen_count = sum(course.is_seen(each) for each in lesson.steps)
        seen = tr(
            "{place}{minutes} minutes, {seen_count} seen", place=place, minutes=f"{lesson.minutes:g}", seen_count=seen_count
        )
        skipped = len(course.skipped)
        seen += trn(", {count} question skipped", ", {count} questions skipped", skipped) if skipped else ""
        away = tr("exploring from step {at} of {stops}", at=(course.at or 0) + 1, stops=len(lesson.steps))
        self.progress.setText(away if is_away else seen)
        self.back.setEnabled(has and course.at not in (None, 0))
        self.next.setEnabled(has and not course.is_last)
        self.explore.setEnabled(stop is not None)
        self.explore.setText(tr("Return") if is_away else tr("Explore"))
        question = stop.question if stop is not None and not is_away else None
        has_task = stop is not None and (question is not None or stop.exercise is not None)
        self.contents.setMaximumHeight(_FEW_ROWS * self.fontMetrics().lineSpacing() if has_task else _NO_LIMIT)
        words = course.words
        self.title.setText(words.title)
        self.caption.setText(tr(_EXPLORING) if is_away else words.caption if question is None else question.text)
        self.notes.setText("" if stop is None else self._explored() if is_away else _presenter_text(stop, lesson))
        set_look(self.notes, "" if is_away else "faint")
        self.task.show_step(question, None if stop is None else stop.exercise)

    def _explored(self) -> str:
        """Return where the picture can be changed, and what was changed."""
        session, changes = self.model.session, self.course.changes
        tiles = tile_sizes(session.shot.setup, session.shown) if session.display.kind.time == "run" else None
        lines = [
            *([tr("{parameter}: the slider below the picture", parameter=tiles.name)] if tiles is not None else []),
            tr("kernel, sizes, device: Panels › Settings"),
            tr("view, colours, labels: the menu View"),
        ]
        changed = tr("Changed: {changes}", changes=changes) if changes else tr("Nothing is changed yet.")
        return "\n".join([*(f"•  {line}" for line in lines), "", changed])

    def _on_shot_changed(self) -> None:
        """Say what was changed while the student explores."""
        if self.course.position.is_away:
            self.draw()

    def _draw_contents(self) -> None:
        course = self.course
        marks = ["✓" if course.is_seen(stop) else "  " for stop in course.lesson.steps]
        for place in course.skipped:
            marks[place] = "○"
        names = [
            f"{_heading(stop)}{mark} {number}  {caption_of(stop).title}{_sign(stop)}"
            for number, (mark, stop) in enumerate(zip(marks, course.lesson.steps, strict=True), 1)
        ]
        shown = [self.contents.item(row).text() for row in range(self.contents.count())]
        if names != shown:
            self.contents.clear()
            for name in names:
                self.contents.addItem(QListWidgetItem(name))
        if course.at is not None and self.contents.currentRow() != course.at:
            self.contents.setCurrentRow(course.at)
        QTimer.singleShot(0, self, self._reveal_row)

    def _reveal_row(self) -> None:
        """Scroll to the step that is shown, once the contents have their height."""
        item = self.contents.currentItem()
        if item is not None:
            self.contents.scrollToItem(item)


def _heading(step: LessonStep) -> str:
    """Return the heading of the steps from this one on, in a line above it."""
    return f"{step.part}\n" if step.part else ""


def _sign(step: LessonStep) -> str:
    asks = step.question is not None and not step.title.endswith(("?", "？"))
    return " ?" if asks else " ✎" if step.exercise else ""


def _presenter_text(step: LessonStep, lesson: Lesson) -> str:
    """Return the titles of the steps that a step requires, and its text for students, unless it asks a question."""
    titles = [caption_of(lesson.steps[place]).title for place in map(lesson.find, step.needs) if place is not None]
    before = tr("Requires: {titles}. ", titles=", ".join(titles)) if titles else ""
    return before + ("" if step.question is not None else step.text)


class _Task(QWidget):
    """The choices of a question, or the task of an exercise. Blanks are filled in over the picture."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.course = model, model.course
        self._shown: tuple[Question | None, Exercise | None] = (None, None)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.choices: list[_Choice] = []
        self.verdict, self.attempt = selectable_line(), Attempt(model)
        self._inner: QWidget | None = None

    def show_step(self, question: Question | None, exercise: Exercise | None) -> None:
        """Show a task. The widgets are rebuilt only for another task."""
        if (question, exercise) != self._shown:
            self._shown = (question, exercise)
            if self._inner is not None:
                for widget in (self.verdict, self.attempt):
                    widget.setParent(None)
                self._inner.hide()
                self._column.removeWidget(self._inner)
                self._inner.deleteLater()
            self._inner = self._new_widgets(question, exercise)
            self._column.addWidget(self._inner)
            self.verdict.setText("")
        if question is not None:
            self.verdict.setText(self.course.feedback)
        self._mark()

    def _new_widgets(self, question: Question | None, exercise: Exercise | None) -> QWidget:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        self.choices = []
        for place, choice in enumerate(question.choices if question is not None else ()):
            row = _Choice(letter(place), choice.text)
            row.button.clicked.connect(lambda checked=False, place=place: self.course.pick(place))
            column.addWidget(row)
            self.choices.append(row)
        if question is not None:  # below the choices, so that they keep their places
            column.addWidget(self.verdict)
            column.addStretch(1)  # takes what is left, so that the choices are as high as before an answer
        if exercise is not None:
            task = selectable_line("heading")
            task.setText(exercise.task)
            column.addWidget(task)
            if not self.course.blanks:
                column.addWidget(self.attempt)
                self.attempt.show()
            self.attempt.show_exercise(exercise)
        return inner

    def _mark(self) -> None:
        """Mark the wrong choices that were tried, and the right one once the question is answered."""
        question, course = self._shown[0], self.course
        is_told = not course.is_asking and not course.position.is_away
        for place, row in enumerate(self.choices):
            is_right = question is not None and question.choices[place].right and is_told
            row.mark("✓" if is_right else "✗" if place in course.position.tried else "")


class _Choice(QWidget):
    """A button with a letter, and the text of the choice, wrapped."""

    def __init__(self, letter: str, text: str) -> None:
        super().__init__()
        self._letter = letter
        self.button = step_button(letter, tr("Choose this answer and see why it is right or wrong"))
        self.button.setAccessibleName(f"{letter}: {text}")
        self.button.setFixedWidth(56)
        self.text = selectable_line()
        self.text.setText(text)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.NoTextInteraction)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.button)
        row.addWidget(self.text, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def mark(self, sign: str) -> None:
        """Show ✓ or ✗ before the letter, or nothing."""
        self.button.setText(f"{sign} {self._letter}".strip())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose this answer by a click on its text."""
        self.button.click()


PANEL = Panel(marked("Lessons"), Lessons, order=3)
