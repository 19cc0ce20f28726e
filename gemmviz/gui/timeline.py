"""The strip below the stage: transport buttons, speed, and a slider over the steps with the phases marked."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSlider,
    QStyle,
    QStyleOptionSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.gui.controls import choice, quietly
from gemmviz.gui.desk import Desk
from gemmviz.gui.icons import transport_icon
from gemmviz.gui.wheel import WheelGuard
from gemmviz.scenes.theme import load_theme
from gemmviz.show.player import SPEEDS

_NARROW = 470  # pixels


class PhaseSlider(QSlider):
    """A slider with a tick under each start of a phase, and a mark above each step in which threads collide."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.phase_starts: list[int] = []
        self.hazards: list[int] = []
        self.theme = load_theme("dark")
        self.setAccessibleName("Step")
        self.setToolTip("Drag to any step; ticks mark where phases start")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        handle = self.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, option, self)
        span, middle = self.width() - handle, self.height() // 2

        def x_of(step: int) -> int:
            return handle // 2 + QStyle.sliderPositionFromValue(self.minimum(), self.maximum(), step, span)

        theme, here = self.theme, x_of(self.value())
        painter = QPainter(self)
        painter.fillRect(handle // 2, middle - 2, span, 4, QColor(theme.line))
        painter.fillRect(handle // 2, middle - 2, here - handle // 2, 4, QColor(theme.accent("A")))
        if len(self.phase_starts) * 12 < self.width():
            for x in map(x_of, self.phase_starts):
                painter.fillRect(x, self.height() - 5, 1, 5, QColor(theme.faint))
        for x in sorted(set(map(x_of, self.hazards))):
            painter.fillRect(x - 1, 0, 2, 5, QColor(theme.warning))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.text if self.hasFocus() else theme.accent("A")), 2))
        painter.setBrush(QColor(theme.panel))
        painter.drawEllipse(QPointF(here, middle), 6, 6)
        painter.end()


class Timeline(QWidget):
    """Shows where a session is in its run, and takes it elsewhere."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self.session, self.player = desk.session, desk.session.player
        player = self.player
        self.slider = PhaseSlider()
        self.position = QLabel("–")
        self.position.setMinimumWidth(80)
        self.position.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._icons: dict[str, QToolButton] = {}
        buttons = QHBoxLayout()
        buttons.setSpacing(1)
        self._add(buttons, "first", "First step (Home)", lambda: player.jump(0))
        self._add(buttons, "phase back", "Previous phase (Page Up)", lambda: player.jump(self.session.phase_start(-1)))
        self._add(buttons, "back", "Step back (Left)", lambda: player.by(-1))
        self.play = self._add(buttons, "play", "Play or pause (Space)", player.toggle)
        self._add(buttons, "on", "Step on (Right)", lambda: player.by(1))
        self._add(buttons, "phase on", "Next phase (Page Down)", lambda: player.jump(self.session.phase_start(1)))
        self._add(buttons, "last", "Last step (End)", lambda: player.jump(self.session.steps - 1))
        self.reverse = self._add(buttons, "reverse", "Play backwards (R)", lambda: None)
        self.reverse.setCheckable(True)
        self.reverse.toggled.connect(player.reverse)
        self.speed = choice("Speed", "Steps per second (+ and −)", ((f"{speed:g} /s", speed) for speed in SPEEDS))
        self.speed.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.speed.setMinimumWidth(self.speed.sizeHint().width())
        self.speed.activated.connect(lambda row: player.set_speed(SPEEDS[row]))
        self.wheel = WheelGuard(self, desk.released.tell)
        buttons.addSpacing(6)
        buttons.addWidget(self.speed)
        buttons.addStretch(1)
        buttons.addWidget(self.position)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 6, 10, 6)
        layout.addWidget(self.slider)
        layout.addLayout(buttons)
        self.wheel.guard(self)
        self.slider.valueChanged.connect(self._on_slid)
        self.session.pictured.listen(self._on_pictured)
        self.session.found.listen(self._show_hazards)
        self.session.moved.listen(self._on_moved)
        player.changed.listen(self._on_player)
        desk.themed.listen(self._on_theme)
        self._on_theme()

    def _add(self, row: QHBoxLayout, icon: str, tip: str, action: Callable[[], object]) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.setIconSize(QSize(22, 22))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(action)
        button.clicked.connect(lambda: self.desk.released.tell())
        row.addWidget(button)
        self._icons[icon] = button
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room, the slider's ends stand in for two of the buttons."""
        super().resizeEvent(event)
        for name in ("first", "last"):
            self._icons[name].setVisible(self.width() >= _NARROW)

    def _on_theme(self) -> None:
        theme = self.desk.theme
        self.slider.theme = theme
        for name, button in self._icons.items():
            button.setIcon(transport_icon(name, theme.text))
        self._on_player()
        self.slider.update()

    def _on_pictured(self) -> None:
        shown = self.session.shown
        assert shown is not None
        quietly(self.slider, lambda: self.slider.setRange(0, max(0, self.session.steps - 1)))
        self.slider.phase_starts = shown.replay.phase_starts.tolist()
        self._show_hazards()
        self._on_moved()

    def _show_hazards(self) -> None:
        shown = self.session.shown
        self.slider.hazards = [] if shown is None else shown.replay.conflicts.steps
        self.slider.update()

    def _on_slid(self, step: int) -> None:
        if step != self.session.step:
            self.session.go(step)

    def _on_moved(self) -> None:
        step = self.session.step
        if self.slider.value() != step:
            quietly(self.slider, lambda: self.slider.setValue(step))
            self.slider.update()
        self.position.setText(f"{step + 1} / {self.session.steps}")

    def _on_player(self) -> None:
        self.play.setIcon(transport_icon("pause" if self.player.is_playing else "play", self.desk.theme.text))
        quietly(self.reverse, lambda: self.reverse.setChecked(self.player.is_backwards))
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.player.speed))
        quietly(self.speed, lambda: self.speed.setCurrentIndex(nearest))
