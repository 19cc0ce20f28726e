"""The clock of the replay: which step is shown, how much of it has passed, and how both move."""

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 240.0, 1000.0)
_FRAME_MS = 16
_SETTLE_MS = 420.0
_LONGEST_TICK_MS = 250


class Playback(QObject):
    """Steps per second, forwards or backwards; starts over at the end. A step taken by hand plays itself out once.

    ``moved`` tells another step, ``flowed`` another moment of the same step.
    """

    moved = Signal(int)
    flowed = Signal()
    playing_changed = Signal(bool)
    speed_changed = Signal(float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.steps = 0
        self.step = 0
        self.moment = 1.0
        self.backwards = False
        self.animated = True
        self.speed = 2.0
        self.phase_starts: list[int] = [0]
        self.playing = False
        self._wants_to_play = False
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_FRAME_MS)
        self._timer.timeout.connect(self._on_tick)

    def load(self, steps: int, phase_starts: list[int], keep_share: bool) -> None:
        """A new replay; stays at the same share of it, or goes to its beginning."""
        share = self.step / self.steps if keep_share and self.steps else 0.0
        self.steps, self.phase_starts = steps, phase_starts
        self.go(round(share * steps))
        if self._wants_to_play:
            self._wants_to_play = False
            self.play(True)

    def go(self, step: int, moment: float = 1.0) -> None:
        """Shows a step, all of it by default."""
        self.step, self.moment = max(0, min(step, self.steps - 1)), moment
        self.moved.emit(self.step)

    def play(self, on: bool) -> None:
        if on == self.playing or (on and self.steps < 2):
            return
        if on and self.moment >= 1.0:
            self._advance(0.0)
        self.playing = on
        self._clock.start()
        self._timer.start() if on else self._timer.stop()
        self.playing_changed.emit(on)

    def play_when_loaded(self) -> None:
        """Starts to play as soon as there is something to play."""
        self._wants_to_play = self.steps < 2
        self.play(True)

    def toggle(self) -> None:
        self.play(not self.playing)

    def reverse(self, on: bool) -> None:
        self.backwards = on

    def by(self, distance: int) -> None:
        """One step on or back, by hand: playing stops, and a step on plays itself out."""
        self.play(False)
        if distance > 0 and self.animated and self.step + distance < self.steps:
            self.go(self.step + distance, 0.0)
            self._clock.start()
            self._timer.start()
        else:
            self._timer.stop()
            self.go(self.step + distance)

    def phase(self, direction: int) -> None:
        """To the start of the next phase, or back to the start of this one or the one before."""
        self.play(False)
        self._timer.stop()
        if direction > 0:
            self.go(next((start for start in self.phase_starts if start > self.step), self.steps - 1))
        else:
            self.go(max((start for start in self.phase_starts if start < self.step), default=0))

    def faster(self, direction: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.speed))
        self.set_speed(SPEEDS[max(0, min(nearest + direction, len(SPEEDS) - 1))])

    def set_speed(self, speed: float) -> None:
        self.speed = speed
        self.speed_changed.emit(speed)

    def _on_tick(self) -> None:
        elapsed = min(self._clock.restart(), _LONGEST_TICK_MS)
        if self.playing:
            self._advance(elapsed * self.speed / 1000)
            return
        self.moment = min(1.0, self.moment + elapsed / _SETTLE_MS)
        if self.moment >= 1.0:
            self._timer.stop()
        self.flowed.emit()

    def _advance(self, distance: float) -> None:
        """Moves on in the direction of playing; a moment of 1 is the next step's 0."""
        at = self.step + self.moment + (-distance if self.backwards else distance)
        at %= self.steps
        step, self.moment = int(at), at - int(at)
        if step != self.step:
            self.go(step, self.moment)
        else:
            self.flowed.emit()
