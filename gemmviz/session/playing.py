"""The displayed position, and the clock that advances it."""

import math
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from psygnal import Signal

from gemmviz.analysis.replay.focus import step_at
from gemmviz.analysis.replay.moment import Moment
from gemmviz.scenes.catalog import view_named
from gemmviz.session.display import Display, HasState
from gemmviz.session.state import Look, Move, Pass, SessionEvent
from gemmviz.shots.completion import MAPPED
from gemmviz.shots.knowledge import Context
from gemmviz.shots.picture import INSTANTS, instant_place, options_for
from gemmviz.shots.shot import Camera, Shot

USUAL_SPEED = 2.0  # steps per second
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 240.0, 1000.0)
_SETTLE_MS = 420.0
_LONGEST_TICK_MS = 250.0
_FASTEST_FLIGHTS = 6.0  # steps per second


class Played(Protocol):
    """The position that a player advances."""

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
    """Step and moment after the time of ``distance`` steps, forwards or backwards. Moment 1 is moment 0 of the next step; the
    end wraps to the beginning.
    """
    at = (step + moment + distance) % steps
    return int(at), at - int(at)


class Beat(Struct):
    """A single movement from one position to another, in steps. ``duration_ms`` is 0 until it starts."""

    first: float
    last: float
    duration_ms: float = 0.0
    passed_ms: float = 0.0

    @property
    def at(self) -> tuple[int, float]:
        """Step and moment; the end is moment 1 of its step."""
        share = min(1.0, self.passed_ms / self.duration_ms) if self.duration_ms else 0.0
        position = self.first + (self.last - self.first) * share
        step = int(position) if share < 1.0 else max(0, math.ceil(position) - 1)
        return step, position - step


class Playback:
    """Playback at ``speed`` steps per second, forwards or backwards. A single step taken by hand is animated once, and so is
    the ``beat`` of a lecture. ``pace``: returns the seconds that the present step takes at USUAL_SPEED; None if all steps take
    the same time. ``changed`` is emitted when playback starts or ends and when the speed changes. ``tick`` must be called while
    ``is_moving``.
    """

    changed = Signal()

    def __init__(self, played: Played) -> None:
        self.played = played
        self.is_playing = False
        self.is_backwards = False
        self.is_animated = True
        self.is_calm = False
        self.speed = USUAL_SPEED
        self.pace: Callable[[], float] | None = None
        self.beat: Beat | None = None
        self._marks: tuple[int | None, int | None] = (None, None)

    @property
    def marked(self) -> range:
        """Range of steps between the marks; all steps if nothing is marked or the marks lie outside the run."""
        first, last = self._marks
        steps = range(first or 0, self.played.steps if last is None else min(last + 1, self.played.steps))
        return steps or range(self.played.steps)

    def mark(self, first: bool) -> None:
        """Mark the current step as first or last of the range to export, or remove the mark if it is already there."""
        here, marks = self.played.step, list(self._marks)
        place = 0 if first else 1
        marks[place] = None if marks[place] == here else here
        self._marks = (marks[0], marks[1])
        self.changed.emit()

    @property
    def shows_flights(self) -> bool:
        """Whether moving copies are drawn: not with reduced motion, nor above the speed that the eye can follow."""
        return not self.is_calm and not (self.is_playing and self.speed > _FASTEST_FLIGHTS)

    @property
    def is_moving(self) -> bool:
        return self.is_playing or (self.beat is not None and self.beat.duration_ms > 0.0)

    def play(self, on: bool) -> None:
        """Start or stop. A beat ends where it is."""
        if not on and self.beat is not None:
            self.beat = None
            self.changed.emit()
        if on == self.is_playing or (on and self.played.steps < 2):
            return
        if on and self.played.moment >= 1.0:
            self._advance(0.0)
        self.is_playing, self.beat = on, None
        self.changed.emit()

    def toggle(self) -> None:
        self.play(not self.is_playing)

    def reverse(self, on: bool) -> None:
        self.is_backwards = on
        self.changed.emit()

    def animate(self, on: bool) -> None:
        """Set whether a single step is being animated."""
        self.is_animated = on
        self.changed.emit()

    def set_calm(self, on: bool) -> None:
        """Set whether moving elements fade instead of flying."""
        self.is_calm = on
        self.changed.emit()

    def step_by(self, distance: int) -> None:
        """Take one step forwards or backwards, animated."""
        self.play(False)
        step = self.played.step + distance
        settles = distance > 0 and self.is_animated and step < self.played.steps
        self.played.go(step, 0.0 if settles else 1.0)
        self.beat = Beat(step, step + 1.0, _SETTLE_MS) if settles else None
        self.changed.emit()

    def play_step(self) -> None:
        """Play the motion of the current step once; without motion, show its end."""
        if not self.is_animated:
            self.jump(self.played.step)
            return
        self.rewind()
        self.start_beat(_SETTLE_MS)

    def rewind(self, first: float | None = None) -> None:
        """Go back to the beginning of the current step, or to position ``first``, from where ``start_beat`` moves to the
        present position.
        """
        self.play(False)
        step = self.played.step
        self.beat = Beat(float(step) if first is None else first, step + self.played.moment)
        self.played.go(*self.beat.at)
        self.changed.emit()

    def start_beat(self, duration_ms: float) -> None:
        """Move to the position from which ``rewind`` came, in so many milliseconds."""
        if self.beat is not None:
            self.beat.duration_ms = duration_ms
            self.changed.emit()

    def finish_beat(self) -> None:
        """Go to the end of the beat at once."""
        if self.beat is not None:
            self.beat.passed_ms = self.beat.duration_ms = 1.0
            self._go_on()

    def jump(self, step: int) -> None:
        """Go to the end of another step."""
        self.play(False)
        self.beat = None
        self.played.go(step)

    def faster(self, direction: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.speed))
        self.set_speed(SPEEDS[max(0, min(nearest + direction, len(SPEEDS) - 1))])

    def set_speed(self, speed: float) -> None:
        """Set the speed in steps per second, limited to the supported range."""
        self.speed = max(SPEEDS[0], min(speed, SPEEDS[-1]))
        self.changed.emit()

    def tick(self, elapsed_ms: float) -> None:
        """Advance playback by the elapsed time."""
        elapsed = min(elapsed_ms, _LONGEST_TICK_MS)
        if self.is_playing and self.played.steps > 1:
            seconds = 1.0 / USUAL_SPEED if self.pace is None else self.pace()
            self._advance(elapsed * self.speed / USUAL_SPEED / seconds / 1000)
        elif self.beat is not None and self.beat.duration_ms > 0.0:
            self.beat.passed_ms += elapsed
            self._go_on()

    def _go_on(self) -> None:
        """Show the beat at its time; it is over at its end."""
        beat = self.beat
        assert beat is not None
        if beat.passed_ms >= beat.duration_ms:
            self.beat = None
        self.played.go(*beat.at)
        if self.beat is None:
            self.changed.emit()

    def _advance(self, distance: float) -> None:
        signed = -distance if self.is_backwards else distance
        self.played.go(*advanced(self.played.step, self.played.moment, self.played.steps, signed))


# The displayed position: the step of the run or the time of a launch, and the visible part of the frame.


class HasPosition(HasState, Protocol):
    """The parts of a session that a position depends on."""

    display: Display

    def apply(self, event: SessionEvent) -> None: ...


class Navigation:
    """``run_step`` is the step of the run. ``step``, ``steps`` and ``moment`` are those of the view's own time: a launch has
    ``INSTANTS`` steps.
    """

    def __init__(self, session: HasPosition) -> None:
        self.session = session

    @property
    def run_step(self) -> int:
        return self.session.state.step

    @property
    def is_launch(self) -> bool:
        """Whether the time axis of the view is the time of a launch."""
        return self.session.display.kind.time == "launch"

    @property
    def run_steps(self) -> int:
        """Number of steps of the run; 0 if there is none."""
        run = self.session.completion.run
        return run.replay.steps if run is not None else 0

    @property
    def steps(self) -> int:
        return INSTANTS if self.is_launch else self.run_steps

    @property
    def step(self) -> int:
        return instant_place(self.session.shot.instant)[0] if self.is_launch else self.run_step

    @property
    def moment(self) -> float:
        """Elapsed fraction of the current step, 0 to 1."""
        shot = self.session.shot
        return instant_place(shot.instant)[1] if self.is_launch else shot.moment

    def go(self, step: int, moment: float = 1.0) -> None:
        """Go to a step, by default to its end. Step 0 of a launch at moment 1 is the start of the launch."""
        if not self.is_launch:
            self.go_to_step(step, moment)
        else:
            self.go_to_instant(0.0 if step <= 0 and moment >= 1.0 else (step + moment) / INSTANTS)

    def go_to_step(self, step: int, moment: float = 1.0) -> None:
        """Go to a step of the run, by default to its end. A view without time has one step, in which things move."""
        session, run = self.session, self.session.completion.run
        if session.display.kind.time == "none" and step == self.run_step:
            session.apply(Move(step, moment))
        elif run is not None:
            session.apply(Move(max(0, min(step, self.run_steps - 1)), moment, run.trace))

    def go_to_position(self, shot: Shot) -> None:
        """Go to the position of a shot, if its run is displayed."""
        run = self.session.completion.run
        if run is not None and run.setup == shot.setup:
            self.go_to_step(step_at(run.trace, shot.at), shot.moment)

    def go_to_instant(self, instant: float) -> None:
        """Go to an instant of a launch, 0 to 1."""
        self.session.apply(Pass(instant))

    def phase_start(self, direction: int) -> int:
        """First step of the next phase; backwards, of the current phase, or of the previous one if already there."""
        if self.is_launch:
            return max(0, min(self.steps - 1, self.step + direction * self.steps // 10))
        run = self.session.completion.run
        starts = [] if run is None else run.replay.phase_starts.tolist()
        if direction > 0:
            return next((start for start in starts if start > self.run_step), self.run_steps - 1)
        return max((start for start in starts if start < self.run_step), default=0)

    def look(self, camera: Camera) -> None:
        """Set zoom and pan."""
        self.session.apply(Look(camera))

    def set_frame(self, size: tuple[float, float], timeline: bool = True, statement: bool = True) -> None:
        """Set the width and height of drawn frames in units, and whether they have a timeline and the statement that runs."""
        reading = self.session.completion.reading
        reading.has_timeline, reading.has_statement = timeline, statement
        if size != reading.size:
            reading.size = size
            reading.forget()
            self.count_loads()

    def prepare(self, distance: int) -> None:
        """Prepare in the background what the picture needs, after a move over so many steps."""
        self.count_loads()
        self.draw_in_background(distance)

    def count_loads(self) -> None:
        """Count the loads that a reuse map shows at the current step."""
        session = self.session
        if (session.shot.layer, session.shot.view) == ("reuse", MAPPED):
            options = options_for(session.shot, session.display.theme, session.completion.reading.size)
            session.completion.reading.count(self.run_step, options)

    def draw_in_background(self, distance: int = 0) -> None:
        """Prepare the view of a large run in the background. ``distance``: in steps from the last drawn step."""
        session, reading = self.session, self.session.completion.reading
        if not reading.is_large:
            return
        shot, kind, view = session.shot, session.display.kind, view_named(session.shot.view)
        known = session.display.known
        if kind.is_of_run:
            options = options_for(shot, session.display.theme, reading.size)

            def draw(moment: Moment) -> object:
                return view.scene(kind.value(known, Context(known, moment)), options)

            reading.draw_in_background(shot.view, self.run_step, distance, draw)
