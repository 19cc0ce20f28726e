"""Computes everything that a subject needs of a shot's run, synchronously, for exports, scripts and lessons."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from msgspec import Struct

from gemmviz.analysis.replay.focus import Focus, Position
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.errors import UsageError
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.outcome import Outcome
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr
from gemmviz.run.choosing import run
from gemmviz.run.engine import Engine, FallbackEngine
from gemmviz.run.stored import StoredAnswers
from gemmviz.state.shot import Shot
from gemmviz.subjects.recordings import recorded
from gemmviz.subjects.runs import replay_of, watched_in
from gemmviz.subjects.subject import Compared, Context, EngineFor, Subject, launch_facts

EngineOf = Callable[[KernelSpec], AbstractContextManager[Engine]]


class Given(Struct, frozen=True, eq=False):
    """Results that are already available: the ``outcome`` of a run with its ``replay``, or benchmarks by name (default: the
    shipped ones). ``goes_to_fault``: a shot at the first step of a faulting run moves to the fault.
    """

    outcome: Outcome | None = None
    replay: Replay | None = None
    goes_to_fault: bool = True
    measurements: Mapping[str, Benchmark] | None = None


class Gathered(Struct, frozen=True, eq=False):
    """A shot with everything that its subject needs. ``shot``: at the fault if there is one. ``reader`` and ``outcome``: of its
    run; None for a subject that needs none.
    """

    subject: Subject
    shot: Shot
    context: Context
    reader: Reader | None = None
    outcome: Outcome | None = None

    @property
    def replay(self) -> Replay | None:
        return None if self.reader is None else self.reader.replay

    def at(self, step: int) -> Any:
        """The subject's value at a step of the run. Raises UsageError if there is nothing to show."""
        moment = None if self.reader is None else self.reader.at(step)
        value = self.subject.make(self.shot, replace(self.context, moment=moment))
        if value is None:
            raise UsageError(tr("the view {view} has nothing to show", view=f"{self.shot.view!r}"))
        return value


def with_stored_answers(engine_of: EngineOf) -> EngineOf:
    """Engines that first look up what is stored with the shipped lessons."""

    @contextmanager
    def stored_first(kernel: KernelSpec) -> Iterator[Engine]:
        with engine_of(kernel) as engine:
            yield FallbackEngine(StoredAnswers(), engine)

    return stored_first


def engines(stack: ExitStack, engine_of: EngineOf) -> EngineFor:
    """Engines that start when a kernel first needs them, and close with ``stack``."""
    opened: dict[KernelSpec, Engine] = {}

    def engine_for(kernel: KernelSpec) -> Engine:
        if kernel not in opened:
            opened[kernel] = stack.enter_context(engine_of(kernel))
        return opened[kernel]

    return engine_for


def gather(shot: Shot, subject: Subject, engine_for: EngineFor, given: Given | None = None) -> Gathered:
    """Run and count what a subject needs. Raises GemmvizError for a shot that can't be run, UsageError for a focus outside of
    its run.
    """
    subject.check(shot)
    given = given or Given()
    measurements = recorded() if given.measurements is None else given.measurements
    known = Gathered(subject, shot, Context(engine_for, measurements=measurements))
    if "moment" in subject.needs:
        known = _with_run(known, given)
    if "facts" in subject.needs or "compared" in subject.needs:
        facts = launch_facts(shot.setup, engine_for(shot.setup.kernel))
        known = replace(known, context=replace(known.context, facts=facts))
    if "compared" in subject.needs and shot.against is not None:
        known = replace(known, context=replace(known.context, compared=_compared(shot.against.setup, shot, engine_for)))
        _count_steps(known.reader)
    return known


def _with_run(known: Gathered, given: Given) -> Gathered:
    shot, outcome, watched = known.shot, given.outcome, None
    if outcome is None:
        engine = known.context.engine_for(shot.setup.kernel)
        outcome = run(shot.setup, shot.focus.block, engine, values=True)
        if outcome.trace is not None:
            watched = watched_in(shot.setup, shot.focus, outcome.trace, engine)
    replay = given.replay or replay_of(outcome)
    if given.goes_to_fault and outcome.fault is not None and shot.at == Position():
        focus = shot.focus if outcome.fault.block is None else Focus(outcome.fault.block)
        shot = replace(shot, at=Position(replay.steps - 1), focus=focus)
    shot = replace(shot, focus=focus_inside(shot.focus, replay.trace))
    return replace(known, shot=shot, reader=_reader(replay, shot.focus, watched), outcome=outcome)


def _reader(replay: Replay, focus: Focus, watched: Any) -> Reader:
    reader = Reader(replay, focus)
    reader.watched = watched
    replay.terms(reader.scope)
    return reader


def _compared(setup: Setup, shot: Shot, engine_for: EngineFor) -> Compared:
    engine = engine_for(setup.kernel)
    facts = launch_facts(setup, engine)
    outcome = run(setup, (0, 0, 0), engine, values=True)
    replay = replay_of(outcome, hazards=False)
    focus = shot.focus.within(replay.trace)
    reader = _reader(replay, focus, watched_in(setup, focus, replay.trace, engine))
    _count_steps(reader)
    return Compared(reader, facts, outcome)


def _count_steps(reader: Reader | None) -> None:
    """Compute the costs of all steps."""
    if reader is not None:
        reader.replay.sums(reader.scope)


def focus_inside(focus: Focus, trace: Trace) -> Focus:
    """The focus with its warp and thread resolved. Raises UsageError if the trace doesn't contain it."""
    inside = focus.within(trace)
    is_there = all(number is None or number >= 0 for number in (focus.warp, focus.thread))
    if not is_there or (inside.block, inside.thread) != (focus.block, focus.thread) or focus.warp not in (None, inside.warp):
        warp = "" if focus.warp is None else tr(", warp {warp}", warp=focus.warp)
        thread = "" if focus.thread is None else tr(", thread {thread}", thread=focus.thread)
        x, y, _ = focus.block
        raise UsageError(
            tr(
                "block {x},{y}{warp}{thread} is not in the trace (blocks {blocks})",
                x=x,
                y=y,
                warp=warp,
                thread=thread,
                blocks=trace.blocks,
            )
        )
    return inside
