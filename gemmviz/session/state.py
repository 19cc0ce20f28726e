"""What a session shows as one frozen value, and the events that change it: each turns one state into the next."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field, structs

from gemmviz.analysis.replay.focus import Focus, Position, position_of, step_at
from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import device_for
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import GemmvizError, tr
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.session.ready_steps import ReadyStep
from gemmviz.shots.knowledge import Knowledge, LaunchFacts
from gemmviz.shots.runs import KnownRun, RequestedSizes
from gemmviz.shots.shot import DRAGGED, Camera, Shot, change_name
from gemmviz.shots.subject import subject_of_view
from gemmviz.teaching.lesson import Lesson, LessonStep

if TYPE_CHECKING:
    from gemmviz.teaching.exercises import Verdict


Counting = Literal["shown", "hidden", "rising"]
LessonName = Literal["course", "saved_views"]
Entry = tuple[Shot, RequestedSizes]
_MOST_UNDONE = 200


class ShotHistory(Struct, frozen=True, eq=False):
    """Named changes that can be undone. ``entries``: shots with the sizes that were requested for them, each with the name of
    the change that led to it; ``at``: index of the present one.
    """

    entries: tuple[tuple[Entry, str], ...]
    at: int = 0

    @property
    def undo_name(self) -> str | None:
        """Name of the change that undo reverts; None if there is none."""
        return self.entries[self.at][1] if self.at else None

    @property
    def redo_name(self) -> str | None:
        return self.entries[self.at + 1][1] if self.at + 1 < len(self.entries) else None

    def noted(self, left: Entry, present: Entry, name: str) -> ShotHistory:
        """The history after a change of this name from one entry to the next. Dragging one value is a single change."""
        if name == DRAGGED == self.undo_name:
            return self._settled(present)
        entries = (*self._settled(left).entries[: self.at + 1], (present, name))[-_MOST_UNDONE:]
        return ShotHistory(entries, len(entries) - 1)

    def moved(self, left: Entry, distance: int) -> ShotHistory:
        """The history at another entry, if there is one; the present one is updated before."""
        at = self.at + distance
        return structs.replace(self._settled(left), at=at) if 0 <= at < len(self.entries) else self

    def _settled(self, present: Entry) -> ShotHistory:
        entries = list(self.entries)
        entries[self.at] = present, entries[self.at][1]
        return ShotHistory(tuple(entries), self.at)


class LessonPosition(Struct, frozen=True, eq=False):
    """A lesson and the position in it. ``at``: index of the current step; ``part``: index of its revealed part; ``shown``: the
    step with all that it shows; ``awaited``: index and part of the step that is shown once it is ready; ``is_away``: the
    student left the step to explore. ``tried``: indices of the wrong answers that were chosen before the question was answered;
    ``looked``: the wrong choice whose view is shown after the answer; ``rises``: whether the answer's counts rise as soon as
    its run is there; ``verdict``: result of the last attempt at the exercise.
    """

    lesson: Lesson = field(default_factory=Lesson)
    at: int | None = None
    part: int = 0
    shown: ReadyStep | None = None
    awaited: tuple[int, int] | None = None
    is_away: bool = False
    tried: tuple[int, ...] = ()
    looked: int | None = None
    rises: bool = False
    verdict: Verdict | None = None

    @property
    def now(self) -> LessonStep | None:
        """The current step; playback may have moved on since it was shown."""
        return None if self.at is None or self.at >= len(self.lesson.steps) else self.lesson.steps[self.at]

    @property
    def is_on(self) -> bool:
        """Whether a lesson is open and the student is not exploring."""
        return bool(self.lesson.steps) and not self.is_away

    @property
    def is_asking(self) -> bool:
        """Whether a question is open: its picture hides what answers it."""
        return self.is_on and self.now is not None and self.now.question is not None and self.part == 0


class State(Struct, frozen=True, eq=False):
    """All that a session shows. ``requested``: the sizes requested for the shot; ``step``: the displayed step of the run;
    ``launch``: of the shot's setup; ``error``: why the displayed run is not the shot's; ``edited``: name of the field that was
    set last; ``views``: the most recent view of each kind of subject; ``counting``: whether counts are shown, hidden while a
    question is open, or rising with the step that answers it; ``refused``: the setup that was shown when a file was refused,
    and why; ``before``: the previous launch, and the setup suggested for it; ``plays_next``: whether playback starts with the
    next run.
    """

    shot: Shot
    requested: RequestedSizes
    history: ShotHistory
    step: int = 0
    launch: Launch | None = None
    error: GemmvizError | None = None
    edited: str = ""
    views: Mapping[type, str] = field(default_factory=lambda: MappingProxyType({}))
    counting: Counting = "shown"
    refused: tuple[Setup, str] | None = None
    before: tuple[LaunchFacts, Setup] | None = None
    plays_next: bool = False
    course: LessonPosition = field(default_factory=LessonPosition)
    saved_views: LessonPosition = field(default_factory=LessonPosition)

    @property
    def entry(self) -> Entry:
        return self.shot, self.requested

    def at(self, **changes: Any) -> State:
        """The state with other values of some fields of the shot, which stays the same for the user."""
        return structs.replace(self, shot=structs.replace(self.shot, **changes))

    def with_shot(self, shot: Shot) -> State:
        """The state with another shot; its view is the most recent one of its kind."""
        return structs.replace(self, shot=shot, views={**self.views, subject_of_view(shot.view).kind: shot.view})

    @property
    def with_counts(self) -> State:
        """The state with hidden counts if a question about the present kernel is open; another kernel may be explored."""
        stop = self.course.now
        if self.course.is_asking and stop is not None and self.shot.setup.kernel == stop.shot.setup.kernel:
            return structs.replace(self, counting="hidden")
        return structs.replace(self, counting="shown") if self.counting == "hidden" else self


def first_state(shot: Shot) -> State:
    """The state before anything is shown."""
    requested = RequestedSizes.of(shot.setup)
    return State(shot, requested, ShotHistory((((shot, requested), ""),)))


# Events that choose another shot


class Resume(Struct, frozen=True, eq=False):
    """The shot of an earlier session, which is not shown yet."""

    shot: Shot

    def after(self, state: State) -> State:
        return structs.replace(state, shot=self.shot)


class Begin(Struct, frozen=True, eq=False):
    """The first shot; before it nothing can be undone. ``plays``: whether playback starts with its run."""

    shot: Shot
    plays: bool = False

    def after(self, state: State) -> State:
        first = first_state(self.shot)
        state = structs.replace(state, requested=first.requested, history=first.history, plays_next=self.plays)
        return state.with_shot(self.shot).with_counts


class Show(Struct, frozen=True, eq=False):
    """Another shot; deliberate changes can be undone. ``requested``: the sizes requested for it, by default those before;
    ``ready``: what is known of it, if its picture was prepared; ``cured``: the launch that its setup was suggested for;
    ``turn``: the position in a lesson that it belongs to, and whether counts rise in it.
    """

    shot: Shot
    requested: RequestedSizes | None = None
    ready: Knowledge | None = None
    cured: LaunchFacts | None = None
    turn: TurnTo | None = None

    def after(self, state: State) -> State:
        name, left = change_name(state.shot, self.shot), state.entry
        state = structs.replace(
            state if self.turn is None else self.turn.after(state), requested=self.requested or state.requested
        )
        if name:
            state = structs.replace(state, history=state.history.noted(left, (self.shot, state.requested), name))
        if self.cured is not None:
            state = structs.replace(state, before=(self.cured, self.shot.setup))
        return state.with_shot(self.shot).with_counts


class Restore(Struct, frozen=True, eq=False):
    """The shot before the last change, or after the change that was undone. ``distance``: -1 or 1 in the history."""

    distance: int

    def after(self, state: State) -> State:
        history = state.history.moved(state.entry, self.distance)
        (shot, requested), _ = history.entries[history.at]
        return structs.replace(state, history=history, requested=requested).with_shot(shot).with_counts


class Open(Struct, frozen=True, eq=False):
    """A run from a file, from its beginning."""

    run: KnownRun
    name: str

    def after(self, state: State) -> State:
        run, view = self.run, state.views.get(Moment, "stage")
        shot = structs.replace(state.shot, setup=run.setup, view=view, at=Position(), moment=1.0)
        requested = RequestedSizes.of(run.setup)
        history = state.history.noted(state.entry, (shot, requested), tr("trace {name}", name=self.name))
        state = structs.replace(state, shot=shot, requested=requested, history=history, launch=run.trace.launch)
        return _at_run(state, run.trace).with_counts


# Events about the run of the shot


class LaunchFound(Struct, frozen=True, eq=False):
    """The launch of the shot's setup. ``is_shown``: whether the shot's picture can be drawn from what is displayed."""

    launch: Launch
    is_shown: bool = False

    def after(self, state: State) -> State:
        focus = state.shot.focus.within_launch(self.launch, device_for(state.shot.setup).warp_size)
        error = None if self.is_shown else state.error
        return structs.replace(state.at(focus=focus), launch=self.launch, error=error)


class Arrive(Struct, frozen=True, eq=False):
    """A finished run of the shot; one with a fault is shown at its fault."""

    run: KnownRun

    def after(self, state: State) -> State:
        trace, fault = self.run.trace, self.run.outcome.fault
        if fault is not None:
            focus = state.shot.focus if fault.block is None else Focus(fault.block)
            state = state.at(focus=focus, at=position_of(trace, trace.steps - 1), moment=1.0)
        return _at_run(state, trace)


class Watch(Struct, frozen=True, eq=False):
    """The threads of a run that are watched."""

    focus: Focus

    def after(self, state: State) -> State:
        return state.at(focus=self.focus)


class Fail(Struct, frozen=True, eq=False):
    """The shot can't run."""

    error: GemmvizError

    def after(self, state: State) -> State:
        return structs.replace(state, error=self.error.kept())


def _at_run(state: State, trace: Trace) -> State:
    """The state at the position of the shot in a run that is displayed."""
    step = step_at(trace, state.shot.at)
    return structs.replace(state.at(at=position_of(trace, step)), step=step, error=None, plays_next=False)


# Events that move in the picture


class Move(Struct, frozen=True, eq=False):
    """Another step of a run, or another moment of it; without a run, of the only step of a view without time."""

    step: int
    moment: float
    trace: Trace | None = None

    def after(self, state: State) -> State:
        at = state.shot.at if self.trace is None or self.step == state.step else position_of(self.trace, self.step)
        return structs.replace(state.at(at=at, moment=self.moment), step=self.step)


class Pass(Struct, frozen=True, eq=False):
    """Another instant of a launch, 0 to 1."""

    instant: float

    def after(self, state: State) -> State:
        return state.at(instant=max(0.0, min(1.0, self.instant)))


class Look(Struct, frozen=True, eq=False):
    """Another part of the frame."""

    camera: Camera

    def after(self, state: State) -> State:
        return state.at(camera=self.camera)


# Events beside the picture


class Edit(Struct, frozen=True, eq=False):
    """The user sets a field of the setup."""

    name: str

    def after(self, state: State) -> State:
        return structs.replace(state, edited=self.name)


class Refuse(Struct, frozen=True, eq=False):
    """A file can't be shown: until another setup is shown there is no picture, but this sentence; "" ends that."""

    sentence: str

    def after(self, state: State) -> State:
        return structs.replace(state, refused=(state.shot.setup, self.sentence) if self.sentence else None)


class TurnTo(Struct, frozen=True, eq=False):
    """Another position in a lesson. ``counting``: how counts are shown there; ``redraws``: whether what a question hid is
    drawn.
    """

    name: LessonName
    to: LessonPosition
    counting: Counting | None = None
    redraws: bool = False

    def after(self, state: State) -> State:
        state = structs.replace(state, counting=self.counting or state.counting, **{self.name: self.to})
        return state.with_counts if self.redraws else state


ShotEvent = Resume | Begin | Show | Restore | Open
RunEvent = LaunchFound | Arrive | Watch | Fail
MoveEvent = Move | Pass | Look
SessionEvent = ShotEvent | RunEvent | MoveEvent | Edit | Refuse | TurnTo
