"""The motion of a view without a time of its own, such as blocks that drop into a multiprocessor: a clock from 0 to 1."""

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

_FRAME_MS = 16


class OwnMotion(QObject):
    """``moment``: the share of the motion that has passed, None without any. ``moved`` is emitted when it changes."""

    moved = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.moment: float | None = None
        self._duration_ms = 0.0
        self._since = QElapsedTimer()
        self._clock = QTimer(self, interval=_FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._clock.timeout.connect(self._tick)

    def rewind(self) -> None:
        """Wait at the beginning."""
        self._clock.stop()
        self.moment = 0.0

    def start(self, duration_ms: float) -> None:
        """Play from the beginning, if it waits there."""
        if self.moment is not None:
            self._duration_ms = duration_ms
            self._since.start()
            self._clock.start()

    def finish(self) -> None:
        """Show the end."""
        self._clock.stop()
        if self.moment is not None:
            self.moment = None
            self.moved.emit()

    def _tick(self) -> None:
        self.moment = self._since.elapsed() / self._duration_ms
        if self.moment >= 1.0:
            self.finish()
        else:
            self.moved.emit()
