"""What is known of a shot: its run, counts, times and all that is computed from them. A new fact is one property."""

import contextlib
import math
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Generic, Literal, Self, TypeVar, overload

import numpy as np
from msgspec import Struct, field, structs

from gemmviz.analysis import reasons
from gemmviz.analysis.counts import LaunchCounter, LaunchCounts, count_steps
from gemmviz.analysis.launch_hazards import ordering_of
from gemmviz.analysis.models import OccupancyLimits, occupancy_limits
from gemmviz.analysis.replay.focus import Focus, Position, Scope, focus_inside, scope_of, step_at, thread_place
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.reads import Reads, reads_at
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.launch_form import not_confirmed, wrong_result
from gemmviz.cuda.launch.legality import can_run, device_for, launch_for
from gemmviz.files.recordings import named, recorded
from gemmviz.model.arrays import Singles
from gemmviz.model.cases import Cause
from gemmviz.model.device import Device, OccupancyCase
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import Cancelled, GemmvizError, KernelFault, UsageError, cancelled_after, checkpoint, tr
from gemmviz.model.setup import Setup, launch_title
from gemmviz.model.timing import Benchmark, KernelSpeed, Schedule
from gemmviz.model.trace import Check, Outcome, RaceCase, Trace, Watched
from gemmviz.run.choosing import MOST_BYTES, run
from gemmviz.run.engine import CannotAnswer, Engine, FallbackEngine, Recording
from gemmviz.run.stored import RecordedTimes
from gemmviz.shots.occupancy import launched_of, occupancy_case
from gemmviz.shots.rearranging import Rearranged, faster_of, opposed_cures, rearranged, with_cures
from gemmviz.shots.shot import Shot

# Facts, and what they are made of.

_FactValue = TypeVar("_FactValue")
_WAITS_S, _MOST_COUNTING_S = 0.02, 60
_MOST_JUDGED = 1 << 25  # elements of the arrays of a launch that is run beside the displayed one
_MOST_SECOND_VALUES = 12_000_000  # accesses of a trace whose values are recorded by a second run
MOST_SEARCHED = 4_000_000  # accesses per block, times blocks
Of = Literal["setup", "run", "subject", "shot"]
_PARTS: dict[Of, Callable[[Shot], tuple[object, ...]]] = {
    "setup": lambda shot: (shot.setup,),
    "run": lambda shot: (shot.setup, shot.focus.block),
    "subject": lambda shot: (
        shot.setup, shot.against, shot.focus.block, shot.trial, shot.chart.source, shot.chart.width, shot.chart.with_host,
    ),
    "shot": lambda shot: (shot,),
}  # the parts of a shot that facts depend on, of a subject: what it shows, not where and how  # fmt: skip


class LaunchFacts(Struct, frozen=True, eq=False):
    """Facts about a whole launch: its counts and the speed of the real kernel, None while unknown; ``no_counts`` and
    ``no_speed`` give the reason if they stay unknown. ``passed``: whether C is correct, None before a run. ``origin``: where
    the sizes come from, if they aren't simply those of the picture.
    """

    setup: Setup
    counts: LaunchCounts | None = None
    no_counts: str = ""
    speed: KernelSpeed | None = None
    no_speed: str = ""
    passed: bool | None = None
    origin: str = ""

    @property
    def title(self) -> str:
        """The launch with its sizes, and where they come from."""
        return ", ".join(filter(None, (launch_title(self.setup), self.origin)))

    @property
    def time_ms(self) -> float | None:
        """Time of one launch in ms; None if unknown."""
        return None if self.speed is None else self.speed.median_ms

    @property
    def time_source(self) -> str:
        """Source of the time; "" if there is none."""
        return "" if self.speed is None else self.speed.source


class MeasuredCase(Struct, frozen=True, eq=False):
    """A launch as it ran on this machine's GPU; ``source`` names that GPU."""

    setup: Setup
    schedule: Schedule
    source: str


class WatchResult(Struct, frozen=True):
    """Variables of the first thread of a scope in ``watched``; if None, ``why_none`` gives the reason."""

    scope: Scope
    watched: Watched | None
    why_none: str = ""


class FactAnswer(Struct, Generic[_FactValue], frozen=True, eq=False):
    """The value of a fact, or the error that prevents it."""

    value: _FactValue | None = None
    error: GemmvizError | None = None

    @classmethod
    def by(cls, compute: Callable[[], _FactValue]) -> Self:
        """What ``compute`` finds."""
        try:
            return cls(compute())
        except GemmvizError as error:
            return cls(error=error.kept())

    @property
    def why_none(self) -> str:
        return "" if self.error is None else str(self.error)


class Compared(Struct, frozen=True):
    """The run that a shot is compared with: its reader, facts about its whole launch, and its outcome."""

    reader: Reader
    facts: LaunchFacts
    outcome: Outcome | None = None


class Context(Struct, frozen=True, eq=False):
    """What a subject is made from besides a shot; unknown values are None or empty.

    ``known``: what is known of the shot; asking it may take long and run engines, while the subject is made, not afterwards.
    ``moment``: the displayed step of the run. ``facts``: the whole launch of that run; ``whole``: of the launch at the sizes
    of main(), if they are known. ``compared``: the run to compare with.
    ``before``: the launch that the run's setup was suggested for. ``schedules``: launches measured on this machine.
    ``measurements``: benchmarks by name.
    """

    known: "Knowledge"
    moment: Moment | None = None
    facts: LaunchFacts | None = None
    whole: LaunchFacts | None = None
    compared: Compared | None = None
    before: LaunchFacts | None = None
    schedules: tuple[MeasuredCase, ...] = ()
    measurements: Mapping[str, Benchmark] = field(default_factory=dict)

    @property
    def asked(self) -> LaunchFacts:
        """The launch that questions about a whole launch are answered for, as far as it is known."""
        known, whole = self.known, self.whole
        is_of_shot = whole is not None and whole.setup in (known.setup, known.whole.setup)
        return whole if whole and is_of_shot else known.whole_facts(LaunchFacts(known.setup))


class FactStore:
    """Facts by name. Each is computed by the first thread that asks for it, while others wait. ``given``: known facts."""

    def __init__(self, **given: Any) -> None:
        self.values, self.is_given = given, bool(given)
        self._locks: dict[str, threading.RLock] = {}

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """A fact. Raises what ``compute`` raises, each time; Cancelled if the work of this thread is cancelled."""
        if name in self.values:
            return self.values[name]
        lock = self._locks.setdefault(name, threading.RLock())
        while not lock.acquire(timeout=_WAITS_S):
            checkpoint()
        try:
            if name not in self.values:
                self.values[name] = compute()
            return self.values[name]
        finally:
            lock.release()


class Fact(Generic[_FactValue]):
    """A property of a Knowledge that is computed on first use. ``of``: what it depends on: the setup, the run (the setup and
    its traced blocks), or all of the shot.
    """

    def __init__(self, compute: Callable[[Any], _FactValue], of: Of) -> None:
        self.compute, self.of, self.name, self.__doc__ = compute, of, compute.__name__, compute.__doc__

    @overload
    def __get__(self, known: None, owner: type) -> Self: ...
    @overload
    def __get__(self, known: "Knowledge", owner: type) -> _FactValue: ...
    def __get__(self, known: "Knowledge | None", owner: type) -> "_FactValue | Self":
        if known is None:
            return self
        value: _FactValue = known.stores[self.of].get(self.name, lambda: self.compute(known))
        return value

    def at_hand(self, known: "Knowledge | None") -> _FactValue | None:
        """The value if it is computed already, otherwise None."""
        return None if known is None else known.stores[self.of].values.get(self.name)


def of_setup(compute: Callable[[Any], _FactValue]) -> Fact[_FactValue]:
    """A fact that depends on the setup alone."""
    return Fact(compute, "setup")


def of_run(compute: Callable[[Any], _FactValue]) -> Fact[_FactValue]:
    """A fact that depends on the setup and its traced blocks."""
    return Fact(compute, "run")


def of_shot(compute: Callable[[Any], _FactValue]) -> Fact[_FactValue]:
    """A fact that depends on all of the shot."""
    return Fact(compute, "shot")


class Knowledge:
    """Facts about a shot, from ``engine`` and from recordings. Any thread may ask; what is computed is kept. Each fact raises
    GemmvizError if it can't be computed, and Cancelled if the work of the thread that asks is cancelled.

    ``outcome``: of the shot's run, if it is finished; ``from_file``: whether it was recorded earlier; ``with_values``: whether
    a run records its values at once: otherwise a second run does it, when a fact needs them; ``measurements``: benchmarks by
    name (default: the shipped ones); ``like``: what is known of shots from the same engine, whose facts are used where they are
    about the same. ``trouble``: why the shot can't run or be drawn, if that is known.
    """

    def __init__(
        self,
        shot: Shot,
        engine: Engine,
        outcome: Outcome | None = None,
        *,
        from_file: bool = False,
        with_values: bool = True,
        measurements: Mapping[str, Benchmark] | None = None,
        like: Iterable["Knowledge"] = (),
    ) -> None:
        self.shot, self.engine, self._measurements, like = shot, engine, measurements, tuple(like)
        self.from_file, self.with_values = from_file, with_values
        self.trouble: GemmvizError | None = None
        self.stores: dict[Of, FactStore] = {
            of: next((each.stores[of] for each in like if each.shares(of, shot)), FactStore()) for of in _PARTS
        }
        if outcome is not None:
            self.stores["run"] = FactStore(outcome=outcome)

    def about(self, shot: Shot, engine: Engine | None = None) -> "Knowledge":
        """What is known of another shot, from the same engine or from another one that answers the same."""
        is_same = shot.setup == self.setup
        return Knowledge(
            shot, engine or self.engine, from_file=self.from_file and is_same, with_values=self.with_values,
            measurements=self._measurements, like=(self,),
        )  # fmt: skip

    def shares(self, of: Of, shot: Shot) -> bool:
        """Whether facts that depend on this part are the same for another shot. A run knows all blocks that it contains, or is
        the only one that there is; a focus may leave its warp and thread to the run.
        """
        outcome, is_given = Knowledge.outcome.at_hand(self), self.stores["run"].is_given
        trace = None if outcome is None else outcome.trace
        if shot.setup == self.setup and of in ("run", "shot") and (is_given or trace is not None):
            inside = None if trace is None else shot.focus.within(trace)
            has_block = is_given or (inside is not None and inside.block == shot.focus.block)
            if of == "run" or not has_block:
                return has_block
            if trace is not None and inside == self.shot.focus.within(trace):
                shot = structs.replace(shot, focus=self.shot.focus)
        return self.parts(of) == _PARTS[of](shot)

    def parts(self, of: Of) -> tuple[object, ...]:
        """The parts of the shot that such facts depend on."""
        return _PARTS[of](self.shot)

    # The setup

    @property
    def setup(self) -> Setup:
        return self.shot.setup

    @property
    def device(self) -> Device:
        return device_for(self.setup)

    @of_setup
    def launch(self) -> Launch:
        return launch_for(self.setup, with_nearest=False)

    @of_setup
    def counts(self) -> LaunchCounts:
        """Counts of all accesses of the launch, from its source; of a run from a file, from its trace."""
        if self.from_file:
            trace = self.first_replay.trace
            if not trace.is_whole:
                raise CannotAnswer(tr("the file contains only a part of the launch"))
            return count_steps(trace, range(trace.steps))
        counter = LaunchCounter(self.device.rules)
        self.engine.count(self.setup, counter)
        return counter.counts

    @of_setup
    def counted(self) -> FactAnswer[LaunchCounts]:
        """The counts of the launch, or why they are unknown."""
        return FactAnswer.by(lambda: self.counts)

    @of_setup
    def speed(self) -> KernelSpeed:
        """The speed of the real kernel, as measured or recorded."""
        return FallbackEngine(self.engine, RecordedTimes()).time(self.setup)

    @of_setup
    def timed(self) -> FactAnswer[KernelSpeed]:
        """The speed of the real kernel, or why it is unknown."""
        return FactAnswer.by(lambda: self.speed)

    @of_setup
    def facts(self) -> LaunchFacts:
        """The counts of the launch and its speed, or why they are unknown."""
        counted, timed = self.counted, self.timed
        if counted.error is not None and not isinstance(counted.error, CannotAnswer):
            raise counted.error
        return LaunchFacts(self.setup, counted.value, counted.why_none, timed.value, timed.why_none)

    @of_setup
    def whole(self) -> "Knowledge":
        """What is known of the launch at the sizes of main(); of the launch itself if these are unknown or can't run."""
        launched = self.setup.as_launched
        if self.from_file or launched == self.setup or not can_run(launched):
            return self
        return self.about(structs.replace(self.shot, setup=launched, against=None))

    @of_setup
    def whole_counted(self) -> FactAnswer[LaunchCounts]:
        """The counts of that launch, or why they are unknown: it may take too long."""
        if self.whole.setup == self.setup:
            return self.counted
        try:
            with cancelled_after(_MOST_COUNTING_S):
                return self.whole.counted
        except Cancelled:
            checkpoint()
            return FactAnswer(error=CannotAnswer(tr("counting takes longer than {seconds} s", seconds=_MOST_COUNTING_S)))

    @of_setup
    def judged_as_launched(self) -> FactAnswer[Check]:
        """The check of that launch in the blocks that are traced at once, or what is wrong with it. Neither if its sizes are
        those of the setup, or too large to be tried, or if it isn't confirmed.
        """
        whole = self.whole
        if whole.setup == self.setup or not_confirmed(self.setup.kernel) is not None:
            return FactAnswer()
        if isinstance(self.whole_counted.error, KernelFault):
            return FactAnswer(error=self.whole_counted.error)
        if sum(map(math.prod, whole.setup.problem.shapes.values())) <= _MOST_JUDGED:
            with contextlib.suppress(GemmvizError):
                fault, trace = whole.outcome.fault, whole.outcome.trace
                if fault is None and trace is not None and not trace.check.passed:
                    return FactAnswer(error=wrong_result(trace.check, whole.setup))
                return FactAnswer(None if trace is None else trace.check, fault)
        return FactAnswer()

    @of_setup
    def main_cause(self) -> Cause | None:
        """The main cause of the time of the launch at the sizes of main(); None if there is none, or it is not counted."""
        whole = self.whole
        launched = launched_of(whole.shot, self.whole_counted.value, whole.timed.value)
        return None if launched is None else reasons.main_cause(launched, is_small=whole.setup == self.setup)

    def whole_facts(self, own: LaunchFacts) -> LaunchFacts:
        """Facts about that launch as far as they are at hand; the ``own`` ones if it can't be counted."""
        whole = self.whole
        if whole.setup == self.setup:
            return own
        counted, timed = Knowledge.whole_counted.at_hand(self), Knowledge.timed.at_hand(whole)
        if counted is not None and counted.error is not None:
            not_counted = tr("not {sizes} as main() launches it: {why}", sizes=whole.setup.problem.text(), why=counted.why_none)
            return structs.replace(own, origin=not_counted)
        counted, timed = counted or FactAnswer(), timed or FactAnswer()
        found = counted.value, "", timed.value, timed.why_none, own.passed
        return LaunchFacts(whole.setup, *found, tr("as main() launches it"))

    @of_shot
    def occupancy(self) -> OccupancyCase:
        """The occupancy with the shot's trial values, from recorded registers."""
        case = occupancy_case(self.shot)
        if case is None:
            launch_for(self.setup, with_nearest=False)
            raise UsageError(tr("the resources of this kernel's blocks are unknown"))
        return case

    @property
    def limits(self) -> OccupancyLimits:
        return occupancy_limits(self.occupancy.device, self.occupancy.needs)

    @of_shot
    def race(self) -> RaceCase:
        """The race of the block in focus."""
        return self.engine.race(self.setup, self.shot.focus.block, launch_title(self.setup))

    # The run

    @of_run
    def outcome(self) -> Outcome:
        return run(self.setup, self.shot.focus.block, self.engine, values=self.with_values)

    @of_run
    def first_replay(self) -> Replay:
        """The replay as soon as its run is finished, without hazards and perhaps without values."""
        return replay_of(self.outcome, hazards=False)

    @of_run
    def replay(self) -> Replay:
        """The replay with its hazards, searched in as many blocks as is quick, and with its values if they fit in memory."""
        replay = self.first_replay
        if replay.value is None and not self.with_values and replay.trace.element.size <= _MOST_SECOND_VALUES:
            replay = structs.replace(replay, value=self._values)
        return with_hazards(replay, searched_blocks(replay.trace))

    @property
    def _values(self) -> Singles | None:
        """Values read and written, from a second run; None if that run differs or fails, since they are optional."""
        trace = self.first_replay.trace
        with contextlib.suppress(GemmvizError):
            recording = Recording(values=True, origins=False, limit_bytes=MOST_BYTES)
            again = self.engine.trace(self.setup, trace.blocks, recording).trace
            is_same = again is not None and again.element.shape == trace.element.shape
            if again is not None and is_same and np.array_equal(again.element, trace.element):
                return again.value
        return None

    @of_shot
    def reader(self) -> Reader:
        """Reads the run through the shot's focus, with the terms of its sums."""
        reader = Reader(self.replay, self.shot.focus)
        self.replay.terms(reader.scope)
        return reader

    @of_shot
    def watch_result(self) -> WatchResult:
        """The variables of the first thread in focus, or why they are unknown."""
        trace = self.first_replay.trace
        return watch(self.setup, trace, scope_of(self.shot.focus, trace), self.engine)

    @property
    def watched(self) -> Watched | None:
        """The variables of the first thread in focus; None if they are unknown."""
        return self.watch_result.watched

    @of_shot
    def moment(self) -> Moment:
        """The step of the shot."""
        return self.reader.at(step_at(self.replay.trace, self.shot.at))

    @of_shot
    def reads(self) -> Reads:
        return reads_at(self.moment)

    @of_shot
    def compared(self) -> "Knowledge":
        """What is known of the launch that the shot compares with: of its first block, in the same focus. Raises UsageError if
        there is none.
        """
        against, focus = self.shot.against, structs.replace(self.shot.focus, block=(0, 0, 0))
        if against is None:
            raise UsageError("the shot has no second launch to compare with", remedy="give the shot an [against]")
        return self.about(structs.replace(self.shot, setup=against.setup, against=None, focus=focus))

    @of_shot
    def compared_reader(self) -> Reader:
        """Reads the run of the launch that the shot compares with, in the shot's focus."""
        other = self.compared
        focus = self.shot.focus.within(other.replay.trace)
        other = other.about(structs.replace(other.shot, focus=focus))
        for each in (self, other):
            each.replay.sums(each.reader.scope)
        return other.drawn_reader

    @property
    def drawn_reader(self) -> Reader:
        """The reader with the watched variables, which pictures show."""
        self.reader.watched = self.watched
        return self.reader

    def at_fault(self) -> "Knowledge":
        """The same, moved to the fault of its run, if there is one and the shot is at the first step."""
        fault, shot = self.outcome.fault, self.shot
        if fault is None or shot.at != Position():
            return self
        focus = shot.focus if fault.block is None else Focus(fault.block)
        return self.about(structs.replace(shot, at=Position(self.replay.steps - 1), focus=focus))

    def in_run(self) -> "Knowledge":
        """The same with warp and thread of its focus resolved. Raises UsageError if the run doesn't contain the focus."""
        return self.about(structs.replace(self.shot, focus=focus_inside(self.shot.focus, self.replay.trace)))

    def without_barriers(self, line: int) -> "Knowledge":
        """What is known of the launch without the barriers in a line of its source. Raises UsageError if there are none."""
        places = {site.place for site in self.replay.trace.sites if site.is_barrier and site.place.line == line}
        if not places:
            raise UsageError(tr("line {line} has no barrier", line=line))
        kernel = self.setup.kernel.without(places)
        focus = structs.replace(self.shot.focus, block=(0, 0, 0))
        return self.about(structs.replace(self.shot, setup=structs.replace(self.setup, kernel=kernel), focus=focus))

    @of_run
    def rearranged(self) -> tuple[Rearranged, ...]:
        """The tiles of the run rearranged so that they take fewer wavefronts; nothing if the launch has no bank conflicts."""
        counts = self.counted.value
        has_conflicts = counts is not None and counts.total("shared").excessive_wavefronts > 0
        return tuple(rearranged(self.setup, self.first_replay.trace)) if has_conflicts else ()

    @of_run
    def faster(self) -> tuple[Setup, ...]:
        """The setup of the fastest of the suggestions that oppose one another, by the model's time at the sizes of
        main(); nothing if none is faster, or if counting them takes long.
        """
        whole = self.whole
        launched = launched_of(whole.shot, self.whole_counted.value, whole.timed.value)
        if launched is None or launched.model_ms is None:
            return ()
        cures = opposed_cures(with_cures(reasons.causes_of(launched), self.setup, self.rearranged), self.setup)

        def time_ms(cure: Setup) -> float | None:
            other = self.about(structs.replace(whole.shot, setup=whole.setup.changed(**cure.parameters)))
            tried = launched_of(other.shot, other.counted.value, None) if can_run(other.setup) else None
            return None if tried is None else tried.model_ms

        return faster_of(cures, self.setup, launched.model_ms, time_ms)

    @of_run
    def hazard_kinds(self) -> tuple[str, ...]:
        """The kinds of hazards in all blocks of a complete run, sorted."""
        return tuple(sorted({hazard.kind.replace(" ", "-") for hazard in ordering_of(self.outcome.whole).hazards}))

    def context(self, needs: Collection[str], step: int | None = None) -> Context:
        """What a subject is made from that needs these fields of the context, at a step of the run, by default the shot's."""
        moment = facts = whole = beside = None
        if "moment" in needs:
            reader = self.drawn_reader
            moment = reader.at(step_at(reader.replay.trace, self.shot.at) if step is None else step)
        if {"facts", "whole", "compared"} & {*needs}:
            facts = self.facts
        if "whole" in needs and facts is not None:
            self.whole_counted, self.whole.timed  # noqa: B018
            whole = self.whole_facts(facts)
        if "compared" in needs and self.shot.against is not None:
            beside = Compared(self.compared_reader, self.compared.facts, self.compared.outcome)
        return Context(self, moment, facts, whole, beside, measurements=self.measurements if "measurements" in needs else {})

    # Recordings

    @property
    def measurements(self) -> Mapping[str, Benchmark]:
        """Benchmarks by name."""
        return recorded() if self._measurements is None else self._measurements

    @of_shot
    def benchmark(self) -> Benchmark:
        """The recording that the shot's chart names; the first one if it names none."""
        source = self.shot.chart.source
        benchmark = self.measurements.get(source) if source else named(self.measurements, source)
        if benchmark is None:
            raise UsageError(f"there is no recording {source!r}" if source else "there is no recording")
        return benchmark


def watch(setup: Setup, trace: Trace, scope: Scope, engine: Engine) -> WatchResult:
    """Variables of the first thread of a scope."""
    try:
        return WatchResult(scope, engine.watch(setup, scope.focus.block, thread_place(scope.first_thread, trace.launch)))
    except CannotAnswer:
        return WatchResult(scope, None, tr("a trace does not contain them: run the kernel to see them"))
    except GemmvizError as error:
        return WatchResult(scope, None, str(error))
    except MemoryError:
        return WatchResult(scope, None, tr("there is not enough memory"))


def searched_blocks(trace: Trace) -> int:
    """Number of traced blocks that can be searched for hazards quickly."""
    return min(trace.blocks.count, max(1, MOST_SEARCHED // (trace.steps * trace.space.threads_per_block)))


def with_hazards(replay: Replay, blocks: int) -> Replay:
    """The replay with hazards between threads, searched in its first ``blocks`` blocks. Raises Cancelled."""
    return structs.replace(replay, ordering=ordering_of(replay.trace, blocks, replay.value))


def replay_of(outcome: Outcome, *, hazards: bool = True) -> Replay:
    """The replay of an outcome; ``hazards``: search for them. Raises the run's fault, or GemmvizError, if there is no trace."""
    trace = outcome.trace
    if trace is None:
        raise outcome.fault or GemmvizError(tr("the kernel produced no trace"))
    replay = Replay.of(trace)
    return with_hazards(replay, searched_blocks(trace)) if hazards else replay
