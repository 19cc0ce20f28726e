"""The strip below the stage: transport buttons, speed, and a slider over the steps with the phases marked."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
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

from gemmviz.gui.icons import transport_icon
from gemmviz.gui.playback import SPEEDS, Playback
from gemmviz.scene.theme import DARK, Theme


class PhaseSlider(QSlider):
    """A slider with a tick under each start of a phase, and a mark above each step in which threads collide."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.phase_starts: list[int] = []
        self.hazards: list[int] = []
        self.theme = DARK
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
    """Drives a Playback. ``used`` after each click, so that the keys work again."""

    used = Signal()

    def __init__(self, playback: Playback, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.playback = playback
        self.slider = PhaseSlider()
        self.position = QLabel("–")
        self.position.setMinimumWidth(80)
        self.position.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._theme = DARK
        self._icons: dict[str, QToolButton] = {}
        buttons = QHBoxLayout()
        buttons.setSpacing(1)
        self._add(buttons, "first", "First step (Home)", lambda: playback.go(0))
        self._add(buttons, "phase back", "Previous phase (Page Up)", lambda: playback.phase(-1))
        self._add(buttons, "back", "Step back (Left)", lambda: playback.by(-1))
        self.play = self._add(buttons, "play", "Play or pause (Space)", playback.toggle)
        self._add(buttons, "on", "Step on (Right)", lambda: playback.by(1))
        self._add(buttons, "phase on", "Next phase (Page Down)", lambda: playback.phase(1))
        self._add(buttons, "last", "Last step (End)", lambda: playback.go(playback.steps - 1))
        self.reverse = self._add(buttons, "reverse", "Play backwards (R)", lambda: None)
        self.reverse.setCheckable(True)
        self.reverse.toggled.connect(playback.reverse)
        self.speed = QComboBox()
        self.speed.setAccessibleName("Speed")
        self.speed.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.speed.setToolTip("Steps per second (+ and −)")
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g} /s", speed)
        self.speed.setMinimumWidth(self.speed.sizeHint().width())
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed.activated.connect(lambda row: playback.set_speed(SPEEDS[row]))
        buttons.addSpacing(6)
        buttons.addWidget(self.speed)
        buttons.addStretch(1)
        buttons.addWidget(self.position)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 6, 10, 6)
        layout.addWidget(self.slider)
        layout.addLayout(buttons)
        self.slider.valueChanged.connect(self._on_slid)
        playback.moved.connect(self._on_moved)
        playback.playing_changed.connect(self._on_playing)
        playback.speed_changed.connect(self._on_speed)
        self._on_speed(playback.speed)

    def _add(self, row: QHBoxLayout, icon: str, tip: str, action: Callable[[], object]) -> QToolButton:
        button = QToolButton()
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.setIconSize(QSize(22, 22))
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(lambda: (action(), self.used.emit()))
        row.addWidget(button)
        self._icons[icon] = button
        return button

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.slider.theme = theme
        for name, button in self._icons.items():
            button.setIcon(transport_icon(name, theme.text))
        self._on_playing(self.playback.playing)

    def load(self, steps: int, phase_starts: list[int]) -> None:
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, steps - 1))
        self.slider.blockSignals(False)
        self.slider.phase_starts, self.slider.hazards = phase_starts, []
        self.slider.update()

    def show_hazards(self, steps: list[int]) -> None:
        self.slider.hazards = steps
        self.slider.update()

    def _on_slid(self, step: int) -> None:
        if step != self.playback.step:
            self.playback.go(step)

    def _on_moved(self, step: int) -> None:
        self.slider.blockSignals(True)
        self.slider.setValue(step)
        self.slider.blockSignals(False)
        self.position.setText(f"{step + 1} / {self.playback.steps}")

    def _on_playing(self, playing: bool) -> None:
        self.play.setIcon(transport_icon("pause" if playing else "play", self._theme.text))

    def _on_speed(self, speed: float) -> None:
        self.speed.setCurrentIndex(min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - speed)))
