"""The clock of a replay: how what is shown moves on by itself."""

from typing import Protocol

from psygnal import Signal

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 240.0, 1000.0)
_SETTLE_MS = 420.0
_LONGEST_TICK_MS = 250.0
_FASTEST_FLIGHTS = 6.0  # steps per second


class Played(Protocol):
    """What a player moves."""

    @property
    def is_launch(self) -> bool: ...
    @property
    def steps(self) -> int: ...
    @property
    def step(self) -> int: ...
    @property
    def moment(self) -> float: ...
    def go(self, step: int, moment: float = 1.0) -> None: ...


def advanced(step: int, moment: float, steps: int, distance: float) -> tuple[int, float]:
    """Step and moment after so many steps' time, forwards or backwards; a moment of 1 is the next step's 0, and after the end
    comes the beginning.
    """
    at = (step + moment + distance) % steps
    return int(at), at - int(at)


class Player:
    """Steps per second, forwards or backwards. A step taken by hand plays itself out once. ``changed`` when it begins or ends
    to play, and when its speed is another one; ``tick`` is to be called while it ``is_moving``.
    """

    changed = Signal()

    def __init__(self, played: Played) -> None:
        self.played = played
        self.is_playing = False
        self.is_backwards = False
        self.is_animated = True
        self.is_calm = False
        self.speed = 2.0
        self._settling = False
        self._marks: tuple[int | None, int | None] = (None, None)

    @property
    def marked(self) -> range:
        """The steps between the marks: all of them where nothing was marked, or no longer has a place in the run."""
        first, last = self._marks
        steps = range(first or 0, self.played.steps if last is None else min(last + 1, self.played.steps))
        return steps or range(self.played.steps)

    def mark(self, first: bool) -> None:
        """The present step is the first or the last, of what is to be exported; marked once more it is not."""
        here, marks = self.played.step, list(self._marks)
        place = 0 if first else 1
        marks[place] = None if marks[place] == here else here
        self._marks = (marks[0], marks[1])
        self.changed.emit()

    @property
    def flies(self) -> bool:
        """Whether copies can be seen on their way: not where a person wants little motion, nor faster than eyes follow."""
        return not self.is_calm and not (self.is_playing and self.speed > _FASTEST_FLIGHTS)

    @property
    def is_moving(self) -> bool:
        return self.is_playing or self._settling

    def play(self, on: bool) -> None:
        if on == self.is_playing or (on and self.played.steps < 2):
            return
        if on and self.played.moment >= 1.0:
            self._advance(0.0)
        self.is_playing, self._settling = on, False
        self.changed.emit()

    def toggle(self) -> None:
        self.play(not self.is_playing)

    def reverse(self, on: bool) -> None:
        self.is_backwards = on
        self.changed.emit()

    def animate(self, on: bool) -> None:
        """Whether a step taken by hand plays itself out."""
        self.is_animated = on
        self.changed.emit()

    def calm(self, on: bool) -> None:
        """Whether what moves fades instead."""
        self.is_calm = on
        self.changed.emit()

    def by(self, distance: int) -> None:
        """One step on or back, by hand."""
        self.play(False)
        step = self.played.step + distance
        settles = distance > 0 and self.is_animated and step < self.played.steps
        self.played.go(step, 0.0 if settles else 1.0)
        self._settling = settles
        self.changed.emit()

    def jump(self, step: int) -> None:
        """To another step, all of it."""
        self.play(False)
        self._settling = False
        self.played.go(step)

    def faster(self, direction: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.speed))
        self.set_speed(SPEEDS[max(0, min(nearest + direction, len(SPEEDS) - 1))])

    def set_speed(self, speed: float) -> None:
        """Steps per second, within what there is."""
        self.speed = max(SPEEDS[0], min(speed, SPEEDS[-1]))
        self.changed.emit()

    def tick(self, elapsed_ms: float) -> None:
        """So much time has passed."""
        elapsed = min(elapsed_ms, _LONGEST_TICK_MS)
        if self.is_playing and self.played.steps > 1:
            self._advance(elapsed * self.speed / 1000)
        elif self._settling:
            moment = min(1.0, self.played.moment + elapsed / _SETTLE_MS)
            self._settling = moment < 1.0
            self.played.go(self.played.step, moment)
            if not self._settling:
                self.changed.emit()

    def _advance(self, distance: float) -> None:
        signed = -distance if self.is_backwards else distance
        self.played.go(*advanced(self.played.step, self.played.moment, self.played.steps, signed))
