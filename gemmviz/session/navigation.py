"""Current position: the step of a run or the time of a launch, and the visible part of the frame."""

from typing import Protocol

from gemmviz.analysis.replay.focus import step_at
from gemmviz.scenes.catalog import view_named
from gemmviz.session.display import Display, HasState
from gemmviz.session.state import Event, Look, Move, Pass
from gemmviz.shots.completion import MAPPED
from gemmviz.shots.export_time import INSTANTS, instant_place
from gemmviz.shots.picture import options_for
from gemmviz.shots.shot import Camera, Shot


class HasPosition(HasState, Protocol):
    """The parts of a session that a position depends on."""

    display: Display

    def apply(self, event: Event) -> None: ...


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
        run = self.session.slot.run
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
        session, run = self.session, self.session.slot.run
        if session.display.kind.time == "none" and step == self.run_step:
            session.apply(Move(step, moment))
        elif run is not None:
            session.apply(Move(max(0, min(step, self.run_steps - 1)), moment, run.trace))

    def go_to_position(self, shot: Shot) -> None:
        """Go to the position of a shot, if its run is displayed."""
        run = self.session.slot.run
        if run is not None and run.setup == shot.setup:
            self.go_to_step(step_at(run.trace, shot.at), shot.moment)

    def go_to_instant(self, instant: float) -> None:
        """Go to an instant of a launch, 0 to 1."""
        self.session.apply(Pass(instant))

    def phase_start(self, direction: int) -> int:
        """First step of the next phase; backwards, of the current phase, or of the previous one if already there."""
        if self.is_launch:
            return max(0, min(self.steps - 1, self.step + direction * self.steps // 10))
        run = self.session.slot.run
        starts = [] if run is None else run.replay.phase_starts.tolist()
        if direction > 0:
            return next((start for start in starts if start > self.run_step), self.run_steps - 1)
        return max((start for start in starts if start < self.run_step), default=0)

    def look(self, camera: Camera) -> None:
        """Set zoom and pan."""
        self.session.apply(Look(camera))

    def set_frame(self, size: tuple[float, float]) -> None:
        """Set the width and height of drawn frames in units."""
        reading = self.session.slot.reading
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
            options = options_for(session.shot, session.display.theme, session.slot.reading.size)
            session.slot.reading.count(self.run_step, options)

    def draw_in_background(self, distance: int = 0) -> None:
        """Prepare the view of a large run in the background. ``distance``: in steps from the last drawn step."""
        session, reading = self.session, self.session.slot.reading
        if not reading.is_large:
            return
        shot, kind, view = session.shot, session.display.kind, view_named(session.shot.view)
        if kind.is_of_run:
            options = options_for(shot, session.display.theme, reading.size)
            reading.draw_in_background(
                shot.view, self.run_step, distance, lambda moment: view.scene(kind.of_moment(shot, moment), options)
            )
