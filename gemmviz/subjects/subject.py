"""The type of a kind of subject: how its values are made from a shot and the results of its run."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.outcome import Outcome
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr
from gemmviz.run.engine import Cancel, CannotAnswer, Engine
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.state.shot import Shot
from gemmviz.subjects.counting import LaunchFacts

Known = Literal["moment", "facts", "compared", "before", "schedules", "measurements"]
TimeKind = Literal["none", "run", "launch"]
Page = Literal["stage", "benchmark"]


class EngineFor(Protocol):
    """Returns the engine that runs a kernel."""

    def __call__(self, kernel: KernelSpec, /) -> Engine: ...


class MeasuredCase(Struct, frozen=True, eq=False):
    """A launch as it ran on this machine's GPU; ``source`` names that GPU."""

    setup: Setup
    schedule: Schedule
    source: str


class Compared(Struct, frozen=True):
    """The run that a shot is compared with: its reader, facts about its whole launch, and its outcome."""

    reader: Reader
    facts: LaunchFacts
    outcome: Outcome | None = None


class Context(Struct, frozen=True, eq=False):
    """What a subject is made from besides a shot; unknown values are None or empty.

    ``moment``: the displayed step of the run. ``facts``: the whole launch of that run. ``compared``: the run to compare with.
    ``before``: the launch that the run's setup was suggested for. ``schedules``: launches measured on this machine.
    ``measurements``: benchmarks by name. Engines may run while the subject is made, not afterwards.
    """

    engine_for: EngineFor
    cancelled: Cancel = is_cancelled
    moment: Moment | None = None
    facts: LaunchFacts | None = None
    compared: Compared | None = None
    before: LaunchFacts | None = None
    schedules: tuple[MeasuredCase, ...] = ()
    measurements: Mapping[str, Benchmark] = field(default_factory=dict)


def _no_engine(kernel: KernelSpec) -> Engine:
    raise CannotAnswer(tr("no engine runs {kernel} here", kernel=kernel.name))


def _valid(shot: Shot) -> None:
    """Accept any shot."""


def _not_clickable(value: Any, shot: Shot, hit: Hit) -> None:
    return None


def _unchanged(value: Any, moment: Moment) -> Any:
    return value


def _unnamed(value: Any) -> str:
    return ""


class Subject(Struct, frozen=True):
    """A row of the table of subjects: one module in ``gemmviz.subjects.kinds`` that ends with ``SUBJECT = Subject(...)``; its
    name is the module's.

    ``kind``: the type of its values, which views name. ``make``: the value for a shot, or None while the context is incomplete;
    raises GemmvizError if there is nothing to show. It may be called on any thread and depends only on its arguments.
    ``needs``: required fields of the context; ``uses``: optional ones. ``is_slow``: takes longer than a frame. ``advance``: the
    value at another moment of the run. ``time``: the time axis, the steps of a run or the time of a launch. ``check`` raises
    UsageError for an impossible shot. ``click``: the shot after a click on a cell; None if the cell has no action. ``name``:
    shown in the window's title instead of the setup; ``texts``: title, caption and notes of a slide. ``page``: the page of the
    window that shows it. ``is_comparison``: whether it shows the compared launch beside the shot's own.
    """

    kind: type
    make: Callable[[Shot, Context], Any]
    needs: tuple[Known, ...] = ()
    uses: tuple[Known, ...] = ()
    time: TimeKind = "none"
    page: Page = "stage"
    is_slow: bool = False
    is_comparison: bool = False
    check: Callable[[Shot], None] = _valid
    advance: Callable[[Any, Moment], Any] = _unchanged
    click: Callable[[Any, Shot, Hit], Shot | None] = _not_clickable
    name: Callable[[Any], str] = _unnamed
    texts: Callable[[Any], tuple[str, str, str]] | None = None
    order: int = 99

    def of_moment(self, shot: Shot, moment: Moment) -> Any:
        """The value at another moment of the run; only if ``is_of_run``."""
        return self.make(shot, Context(_no_engine, moment=moment))

    @property
    def is_of_run(self) -> bool:
        """Whether it can be shown from a recorded run alone."""
        return self.needs == ("moment",)

    @property
    def needs_run(self) -> bool:
        """Whether a kernel has to be run or counted for it."""
        return bool({"moment", "facts", "compared"} & set(self.needs))
