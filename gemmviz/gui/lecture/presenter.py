"""The presenter view: the current picture, the next one, notes, the guide of the lesson, the clock and the remaining time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, QTime, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSpinBox, QVBoxLayout, QWidget

from gemmviz.analysis.replay.focus import step_at
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.gui.widgets.controls import set_look
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import letter, tr
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.primitives import Scene
from gemmviz.shots.knowledge import Context
from gemmviz.shots.picture import options_for
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.guide_page import guide_at, guide_lines
from gemmviz.teaching.lesson import Lesson, LessonStep
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
        self.title, self.notes, self.guide, self.next, self.clock, self.left = (QLabel() for _ in range(6))
        for label, points in (
            (self.title, 18), (self.clock, 26), (self.left, 26), (self.notes, 18), (self.guide, 13), (self.next, 14),
        ):  # fmt: skip
            label.setStyleSheet(f"font-size: {points}pt")
        for label in (self.title, self.notes, self.guide, self.next):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.guide.setTextFormat(Qt.TextFormat.RichText)
        self.minutes = QSpinBox(minimum=1, maximum=600, value=_minutes(model), suffix=tr(" min"))
        self.minutes.setToolTip(tr("Planned duration of the lecture"))
        self.minutes.setAccessibleName(tr("Planned duration of the lecture"))
        self.minutes.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.minutes.valueChanged.connect(self._on_minutes)
        hints = QLabel(" · ".join(f"{_strong(key)} {escape(what)}" for key, what in keys))
        set_look(hints, "faint")
        hints.setWordWrap(True)
        times = QHBoxLayout()
        for widget in (self.clock, self.left, self.minutes):
            times.addWidget(widget)
        words = QWidget()
        inner = QVBoxLayout(words)
        for label in (self.notes, self.guide):
            inner.addWidget(label)
        inner.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidget(words)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        beside = QVBoxLayout()
        below: tuple[tuple[QWidget, int], ...] = ((self.title, 0), (area, 2), (self.next, 0), (self.coming, 1))
        for each, stretch in below:
            beside.addWidget(each, stretch)
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
        count = len(marks.lesson.steps)
        place = tr("{at} of {count}: ", at=(marks.at or 0) + 1, count=count) if stop is not None else ""
        none = tr("Not a saved view") if count else tr("No saved views")
        self.title.setText(f"{place}{stop.title}" if stop is not None else none)
        self.notes.setText("" if stop is None else "\n\n".join(filter(None, (marks.said.caption, notes_of(stop)))))
        self.guide.setText("" if marks.at is None else _guide_html(marks.lesson, marks.at))
        self.next.setText(tr("Last view") if following is None and count else _next_words(following))

        self._draw_next(following)

    def _draw_next(self, step: LessonStep | None) -> None:
        """Draw the next view if it is of the current run; no other run is started for it."""
        shown = self.model.session.shown
        is_here = step is not None and shown is not None and step.shot.setup == shown.setup
        self.coming.setVisible(is_here)
        if step is None or shown is None or not is_here or (step, shown.replay) == self._next:
            return
        view = view_named(step.shot.view)
        moment = Reader(shown.replay, step.shot.focus).at(step_at(shown.trace, step.shot.at))
        kind, known = subject_of_view(step.shot.view), shown.known.about(step.shot)
        subject = kind.value(known, Context(known, moment)) if kind.is_of_run else None
        if subject is None or not view.is_ready(subject):
            self.coming.hide()
            return
        self._next = step, shown.replay
        self.coming.set_scene(view.scene(subject, options_for(step.shot, self.model.theme)))

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

    def focusNextPrevChild(self, following: bool) -> bool:
        """Leave Tab to the lecture."""
        return False


def _minutes(model: WindowModel) -> int:
    """Return the planned duration: that of the lesson, else the default for saved views."""
    return round(model.course.lesson.minutes) if model.course.is_on else int(model.preferences.number("minutes", _MINUTES))


def _next_words(step: LessonStep | None) -> str:
    """Return the title and caption of the next view; titles alone may repeat."""
    caption = "" if step is None else caption_of(step).caption
    return (
        ""
        if step is None
        else tr("Next: {caption_of_title}", caption_of_title=caption_of(step).title) + (f". {caption}" if caption else "")
    )


def _guide_html(lesson: Lesson, place: int) -> str:
    """Return the guide of the part of a lesson that a step is in, with the numbers that its step expects."""
    part = guide_at(lesson, place)
    if part is None:
        return ""
    lines = (
        f"<b>{escape(text)}</b>" if role == "strong" else escape(text) for side in guide_lines(part) for role, text in side
    )
    return "<br>".join(lines)


def _strong(text: str) -> str:
    """Return a text in the weight that the fonts have; a bolder one would be drawn twice."""
    return f'<span style="font-weight: 600">{escape(text)}</span>'


def notes_of(step: LessonStep) -> str:
    """Return what the presenter alone should know: the notes, and the answers of a question or the hints of an exercise."""
    return "\n\n".join(filter(None, (step.notes, _answers(step))))


def _answers(step: LessonStep) -> str:
    """Return the right choices of a question with their reasons, or the hints of an exercise."""
    if step.exercise is not None:
        return "\n".join([step.exercise.task, *(tr("Hint: {hint}", hint=hint) for hint in step.exercise.hints)])
    if step.question is None:
        return ""
    return "\n".join(
        f"{letter(place)} {'✓' if choice.right else '✗'} {choice.text}: {choice.why}"
        for place, choice in enumerate(step.question.choices)
    )
