"""Runs of a kernel: the outcome from an engine, its replay, and what is known of it so far."""

import contextlib
from functools import cached_property

from msgspec import Struct

from gemmviz.analysis.hazards.ordering import ordering_of
from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.replay.focus import Focus, scope_of, thread_place
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import GemmvizError
from gemmviz.model.outcome import Outcome, Watched
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.threads import phases_text
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr
from gemmviz.run.engine import Cancel, Engine
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.subjects.subject import LaunchFacts

MOST_SEARCHED = 4_000_000  # accesses per block, times blocks
_LARGE = 1_000_000  # accesses


def searched_blocks(trace: Trace) -> int:
    """Number of traced blocks that can be searched for hazards quickly."""
    return min(trace.blocks.count, max(1, MOST_SEARCHED // (trace.steps * trace.space.threads_per_block)))


def with_hazards(replay: Replay, blocks: int, cancelled: Cancel = is_cancelled) -> Replay:
    """The replay with hazards between threads, searched in its first ``blocks`` blocks. Raises Cancelled."""
    return replace(replay, ordering=ordering_of(replay.trace, blocks, replay.value, cancelled))


def replay_of(outcome: Outcome, *, hazards: bool = True) -> Replay:
    """The replay of an outcome; ``hazards``: search for them. Raises the run's fault, or GemmvizError, if there is no trace."""
    trace = outcome.trace
    if trace is None:
        raise outcome.fault or GemmvizError(tr("the kernel produced no trace"))
    replay = Replay.of(trace)
    return with_hazards(replay, searched_blocks(trace)) if hazards else replay


def watched_in(setup: Setup, focus: Focus, trace: Trace, engine: Engine) -> Watched | None:
    """The variables of the first thread in focus; None if they are unknown."""
    if trace.stop is not None:
        return None
    scope = scope_of(focus, trace)
    with contextlib.suppress(GemmvizError, MemoryError):
        return engine.watch(setup, scope.focus.block, thread_place(scope.first_thread, trace.launch))
    return None


class KnownRun(Struct, frozen=True, dict=True):
    """A run and what is known of it so far. ``searched``: number of blocks searched for hazards; ``counts``: of the whole
    launch; ``no_counts``: why they stay unknown; ``speed``: of the real kernel; ``no_speed``: why it stays unknown;
    ``from_file``: whether it was recorded earlier.
    """

    setup: Setup
    outcome: Outcome
    replay: Replay
    from_file: bool = False
    searched: int | None = None
    counts: LaunchCounts | None = None
    no_counts: str = ""
    speed: KernelSpeed | None = None
    no_speed: str = ""

    @property
    def trace(self) -> Trace:
        return self.replay.trace

    @cached_property
    def facts(self) -> LaunchFacts:
        """Facts about the whole launch."""
        stopped = self.trace.stop is not None
        no_counts = self.no_counts or (tr("the run ended early") if stopped else "")
        passed = self.trace.check.passed and not stopped
        return LaunchFacts(self.setup, self.counts, no_counts, self.speed, self.no_speed, passed)


def finished_run(setup: Setup, outcome: Outcome) -> KnownRun:
    """A finished run, with what frames need of its whole trace. Raises as ``replay_of`` does."""
    return KnownRun(setup, outcome, _ready(outcome))


def recorded_run(trace: Trace) -> KnownRun:
    """A run from a file."""
    whole = trace.blocks.count == trace.launch.block_count
    phases = "" if trace.phases is None else phases_text(trace.phases)
    setup = replace(trace.setup, blocks="" if whole else str(trace.blocks), phases=phases)
    outcome = Outcome(trace, trace.by)
    return KnownRun(setup, outcome, _ready(outcome), from_file=True)


def _ready(outcome: Outcome) -> Replay:
    """The replay after a slow preparation: the last frame of a large run is computed."""
    replay = replay_of(outcome, hazards=False)
    trace = replay.trace
    if trace.element.size > _LARGE:
        for everyone in (False, True):
            focus = replace(Focus().within(trace), everyone=everyone)
            view_named("stage").scene(Reader(replay, focus).at(trace.steps - 1), ViewOptions())
    return replay
