"""Runs of a kernel: the outcome from an engine, its replay, and what is known of it so far."""

from functools import cached_property

from msgspec import Struct

from gemmviz.analysis.hazards.ordering import Ordering
from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.outcome import Outcome
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.threads import phases_text
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.shots.knowledge import Knowledge, LaunchFacts, replay_of, searched_blocks

_LARGE = 1_000_000  # accesses


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


def run_known(known: Knowledge) -> KnownRun:
    """The run of a shot with all that a session analyses in the background, read through the shot's focus."""
    replay, trace = known.replay, known.replay.trace
    _draw_last(replay)
    replay.sums(known.reader.scope)
    if trace.stop is not None:
        return KnownRun(known.setup, known.outcome, replace(replay, ordering=Ordering()))
    facts = known.facts
    return KnownRun(
        known.setup, known.outcome, replay, searched=searched_blocks(trace), counts=facts.counts, no_counts=facts.no_counts,
        speed=facts.speed, no_speed=facts.no_speed,
    )  # fmt: skip


def recorded_run(trace: Trace) -> KnownRun:
    """A run from a file."""
    whole = trace.blocks.count == trace.launch.block_count
    phases = "" if trace.phases is None else phases_text(trace.phases)
    setup = replace(trace.setup, blocks="" if whole else str(trace.blocks), phases=phases)
    outcome = Outcome(trace, trace.by)
    return KnownRun(setup, outcome, _ready(outcome), from_file=True)


def _ready(outcome: Outcome) -> Replay:
    replay = replay_of(outcome, hazards=False)
    _draw_last(replay)
    return replay


def _draw_last(replay: Replay) -> None:
    """Draw the last frame of a large run, which prepares what all frames need."""
    trace = replay.trace
    if trace.element.size > _LARGE:
        for everyone in (False, True):
            focus = replace(Focus().within(trace), everyone=everyone)
            view_named("stage").scene(Reader(replay, focus).at(trace.steps - 1), ViewOptions())
