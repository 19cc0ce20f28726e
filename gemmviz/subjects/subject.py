"""A kind of subject: how views of it are made from a shot and from what is known of the shot's run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.outcome import Outcome
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.run.engine import Cancel, CannotAnswer, Engine
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.state.shot import Shot
from gemmviz.subjects.counting import LaunchFacts

Known = Literal["moment", "facts", "compared", "before", "schedules", "measurements"]
TimeKind = Literal["none", "run", "launch"]
Page = Literal["stage", "benchmark"]


class EngineFor(Protocol):
    """Gives the engine that runs a kernel."""

    def __call__(self, kernel: KernelSpec, /) -> Engine: ...


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredCase:
    """The launch of a setup as it ran on the GPU of this machine; ``source`` names that GPU."""

    setup: Setup
    schedule: Schedule
    source: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The run that a shot is compared with: its reader, what is known of its whole launch, and how it ended."""

    reader: Reader
    facts: LaunchFacts
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What a subject is made from besides a shot. Everything is None or empty as long as it is unknown.

    ``moment``: the step of the run that is shown. ``facts``: the whole launch of that run. ``compared``: the run beside it.
    ``before``: the launch that the run's setup was suggested for. ``schedules``: launches measured on this machine.
    ``measurements``: benchmarks by name. Engines may run as long as the subject is being made, and no longer.
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
    raise CannotAnswer(f"no engine runs {kernel.name} here")


def _valid(shot: Shot) -> None:
    """Any shot may be shown."""


def _not_clickable(value: Any, shot: Shot, hit: Hit) -> None:
    return None


def _unchanged(value: Any, moment: Moment) -> Any:
    return value


def _unnamed(value: Any) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Subject:
    """A row of the table of subjects. Each is one file in ``gemmviz.subjects.kinds`` that ends with ``SUBJECT = Subject(...)``;
    its name is the file's.

    ``kind``: the type of its values, which views name. ``make``: the value for a shot, None as long as the context doesn't hold
    enough; raises GemmvizError where there is nothing to show. It is called on any thread and depends on its arguments only.
    ``needs``: what a context must hold for it; ``uses``: what it shows in addition once that is known. ``is_slow``: it takes
    longer than a frame. ``advance``: the value at another moment of the run. ``time``: whether it goes from step to step of a
    run, or through the time of a launch. ``check`` raises UsageError for a shot that asks for something impossible. ``click``:
    the shot after a click on a cell, None for a cell without a meaning. ``name``: what the window's title names instead of the
    setup; ``texts``: title, caption and notes of a slide. ``page``: the page of the window that shows it.
    ``is_comparison``: it shows what a shot is compared with beside the shot's own launch.
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
        """The value at a moment, of a subject that ``is_of_run``."""
        return self.make(shot, Context(_no_engine, moment=moment))

    @property
    def is_of_run(self) -> bool:
        """Whether a recorded run is all that it needs."""
        return self.needs == ("moment",)

    @property
    def needs_run(self) -> bool:
        """Whether a kernel has to be run or counted for it."""
        return bool({"moment", "facts", "compared"} & set(self.needs))
