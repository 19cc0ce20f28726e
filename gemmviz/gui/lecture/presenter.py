"""The presenter view: the current picture, the next one, notes, the clock and the remaining time."""

import time
from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, QTime, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.position import step_at
from gemmviz.analysis.replay.replay import Replay
from gemmviz.gui.widgets.controls import set_look
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import tr
from gemmviz.model.words import letter
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.subjects.catalog import subject_of_view
from gemmviz.subjects.picture import options_for
from gemmviz.teaching.lesson import LessonStep
from gemmviz.teaching.reveal import caption_of

_MINUTES = 45


class Presenter(QWidget):
    """The presenter's window. ``pressed`` carries a key event; the keys of the lecture work here too."""

    pressed = Signal(object)

    def __init__(self, model: WindowModel, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.model = model
        self.setWindowTitle(tr("gemmviz: presenter view"))
        self.resize(1000, 640)
        self._began = time.monotonic()
        self._next: tuple[LessonStep, Replay] | None = None
        self.now = SceneWidget(tr("Current picture"), self)
        self.now.setMinimumSize(420, 240)
        self.coming = SceneWidget(tr("Next picture"), self)
        self.coming.setMinimumSize(240, 135)
        self.title, self.notes, self.next, self.clock, self.left = (QLabel() for _ in range(5))
        for label, points in ((self.title, 18), (self.clock, 26), (self.left, 26), (self.notes, 18), (self.next, 14)):
            label.setStyleSheet(f"font-size: {points}pt")
        for label in (self.title, self.notes, self.next):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.minutes = QSpinBox(minimum=1, maximum=600, value=_minutes(model), suffix=tr(" min"))
        self.minutes.setToolTip(tr("Planned duration of the lecture"))
        self.minutes.setAccessibleName(tr("Planned duration of the lecture"))
        self.minutes.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.minutes.valueChanged.connect(self._on_minutes)
        hints = QLabel(" · ".join(f"<b>{escape(key)}</b> {escape(what)}" for key, what in keys))
        set_look(hints, "faint")
        hints.setWordWrap(True)
        times = QHBoxLayout()
        for widget in (self.clock, self.left, self.minutes):
            times.addWidget(widget)
        beside = QVBoxLayout()
        below: tuple[tuple[QWidget, int], ...] = ((self.title, 0), (self.notes, 1), (self.next, 0), (self.coming, 1))
        for each, stretch in below:
            beside.addWidget(each, stretch)
        self.notes.setAlignment(Qt.AlignmentFlag.AlignTop)
        beside.addLayout(times)
        above = QHBoxLayout()
        above.addWidget(self.now, 3)
        above.addLayout(beside, 2)
        rows = QVBoxLayout(self)
        rows.addLayout(above, 1)
        rows.addWidget(hints)
        self._clock = QTimer(self, interval=500)
        self._clock.timeout.connect(self._tick)
        self._clock.start()
        self._tick()

    def draw(self, scene: Scene | None) -> None:
        """Show the scene on the wall, and the words that belong to it."""
        if scene is not None:
            self.now.set_scene(scene)
        marks = self.model.active_lesson
        stop, following = marks.filled, marks.next
        count = len(marks.lesson.stops)
        place = tr("{at} of {count}: ", at=(marks.at or 0) + 1, count=count) if stop is not None else ""
        none = tr("Not a saved view") if count else tr("No saved views")
        self.title.setText(f"{place}{stop.title}" if stop is not None else none)
        self.notes.setText("" if stop is None else "\n\n".join(filter(None, (marks.said.caption, notes_of(stop)))))
        self.next.setText(tr("Last view") if following is None and count else _next(following))

        self._draw_next(following)

    def _draw_next(self, stop: LessonStep | None) -> None:
        """Draw the next view if it is of the current run; no other run is started for it."""
        shown = self.model.session.shown
        is_here = stop is not None and shown is not None and stop.shot.setup == shown.setup
        self.coming.setVisible(is_here)
        if stop is None or shown is None or not is_here or (stop, shown.replay) == self._next:
            return
        view = view_named(stop.shot.view)
        moment = Reader(shown.replay, stop.shot.focus).at(step_at(shown.trace, stop.shot.at))
        subject = subject_of_view(stop.shot.view)
        if not subject.is_of_run or not view.is_ready(subject.of_moment(stop.shot, moment)):
            self.coming.hide()
            return
        self._next = stop, shown.replay
        self.coming.set_scene(view.scene(subject.of_moment(stop.shot, moment), options_for(stop.shot, self.model.theme)))

    def _on_minutes(self, minutes: int) -> None:
        self.model.preferences.put("minutes", minutes)
        self._tick()

    def _tick(self) -> None:
        elapsed = int(time.monotonic() - self._began)
        left = self.minutes.value() * 60 - elapsed
        self.clock.setText(QTime.currentTime().toString("HH:mm"))
        self.left.setText(
            tr("−{minutes}:{seconds} left", minutes=abs(left) // 60, seconds=f"{abs(left) % 60:02}")
            if left < 0
            else tr("{minutes}:{seconds} left", minutes=abs(left) // 60, seconds=f"{abs(left) % 60:02}")
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.pressed.emit(event)


def _minutes(model: WindowModel) -> int:
    """Return the planned duration: that of the lesson, else the default for saved views."""
    return round(model.course.lesson.minutes) if model.course.is_on else int(model.preferences.number("minutes", _MINUTES))


def _next(stop: LessonStep | None) -> str:
    """Return the title and caption of the next view; titles alone may repeat."""
    caption = "" if stop is None else caption_of(stop).caption
    return (
        ""
        if stop is None
        else tr("Next: {caption_of_title}", caption_of_title=caption_of(stop).title) + (f". {caption}" if caption else "")
    )


def notes_of(stop: LessonStep) -> str:
    """Return what the presenter alone should know: the notes, and the answers of a question or the hints of an exercise."""
    return "\n\n".join(filter(None, (stop.notes, _answers(stop))))


def _answers(stop: LessonStep) -> str:
    """Return the right choices of a question with their reasons, or the hints of an exercise."""
    if stop.exercise is not None:
        return "\n".join([stop.exercise.task, *(tr("Hint: {hint}", hint=hint) for hint in stop.exercise.hints)])
    if stop.question is None:
        return ""
    return "\n".join(
        f"{letter(place)} {'✓' if choice.right else '✗'} {choice.text}: {choice.why}"
        for place, choice in enumerate(stop.question.choices)
    )
