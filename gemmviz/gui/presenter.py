"""The window for who speaks: what is seen, what comes next, notes, the clock and the time that is left."""

import time
from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt, QTime, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSpinBox, QVBoxLayout, QWidget

from gemmviz.gui.desk import Desk
from gemmviz.gui.scene_widget import SceneWidget
from gemmviz.scenes.primitives import Scene
from gemmviz.show.lesson import Stop

_MINUTES = 45


class Presenter(QWidget):
    """``pressed`` tells a key: those of the lecture work here too."""

    pressed = Signal(object)

    def __init__(self, desk: Desk, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__(None, Qt.WindowType.Window)
        self.desk = desk
        self.setWindowTitle("gemmviz: presenter")
        self.resize(1000, 640)
        self._began = time.monotonic()
        self.now = SceneWidget("What is seen", self)
        self.now.setMinimumSize(420, 240)
        self.title, self.notes, self.next, self.clock, self.left = (QLabel() for _ in range(5))
        for label, points in ((self.title, 18), (self.clock, 26), (self.left, 26), (self.notes, 18), (self.next, 14)):
            label.setStyleSheet(f"font-size: {points}pt")
        for label in (self.title, self.notes, self.next):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.minutes = QSpinBox(minimum=1, maximum=600, value=int(desk.preferences.number("minutes", _MINUTES)), suffix=" min")
        self.minutes.setToolTip("How long the lecture is")
        self.minutes.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.minutes.valueChanged.connect(self._on_minutes)
        hints = QLabel(" · ".join(f"<b>{escape(key)}</b> {escape(what)}" for key, what in keys))
        hints.setObjectName("faint")
        hints.setWordWrap(True)
        times = QHBoxLayout()
        for widget in (self.clock, self.left, self.minutes):
            times.addWidget(widget)
        beside = QVBoxLayout()
        for widget, stretch in ((self.title, 0), (self.notes, 1), (self.next, 0)):
            beside.addWidget(widget, stretch)
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
        """What is on the wall, and the words that go with it."""
        if scene is not None:
            self.now.set_scene(scene)
        marks = self.desk.bookmarks
        stop, following = marks.now, marks.next
        count = len(marks.lesson.stops)
        place = f"{(marks.at or 0) + 1} of {count}: " if stop is not None else ""
        none = "None of the views that were kept" if count else "No view was kept"
        self.title.setText(f"{place}{stop.title}" if stop is not None else none)
        self.notes.setText("" if stop is None else "\n\n".join(filter(None, (stop.caption, stop.notes))))
        self.next.setText("Last view" if following is None and count else _next(following))

    def _on_minutes(self, minutes: int) -> None:
        self.desk.preferences.put("minutes", minutes)
        self._tick()

    def _tick(self) -> None:
        passed = int(time.monotonic() - self._began)
        left = self.minutes.value() * 60 - passed
        self.clock.setText(QTime.currentTime().toString("HH:mm"))
        self.left.setText(f"{'−' if left < 0 else ''}{abs(left) // 60}:{abs(left) % 60:02} left")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.pressed.emit(event)


def _next(stop: Stop | None) -> str:
    """What comes, with its caption: several may have the same title."""
    return "" if stop is None else f"Next: {stop.title}" + (f". {stop.caption}" if stop.caption else "")
