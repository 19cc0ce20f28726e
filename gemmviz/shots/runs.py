"""Runs of a kernel: what is known of one so far, and all that a picture needs, completed before it is shown."""

from contextlib import suppress
from functools import cached_property
from typing import Any

from msgspec import Struct

from gemmviz.analysis.memory.counts import LaunchCounts
from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.threads import phases_text
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import Outcome, Trace
from gemmviz.model.translation import tr
from gemmviz.run.cpu.executor import requested_blocks
from gemmviz.run.stored import RecordedTimes
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.shots.knowledge import FactAnswer, Knowledge, LaunchFacts, searched_blocks
from gemmviz.shots.picture import frame_for, options_for, theme_of
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view

_LARGE_RUN = 1_000_000  # accesses
_PIXELS = (1920.0, 1080.0)


class KnownRun(Struct, frozen=True, dict=True, eq=False):
    """A finished run and what is known of it so far. ``searched``: number of blocks searched for hazards; ``counted``: counts
    of the whole launch; ``timed``: speed of the real kernel; each None while it is unknown.
    """

    known: Knowledge
    replay: Replay
    searched: int | None = None
    counted: FactAnswer[LaunchCounts] | None = None
    timed: FactAnswer[KernelSpeed] | None = None

    @property
    def setup(self) -> Setup:
        return self.known.setup

    @property
    def outcome(self) -> Outcome:
        return self.known.outcome

    @property
    def from_file(self) -> bool:
        """Whether it was recorded earlier."""
        return self.known.from_file

    @property
    def trace(self) -> Trace:
        return self.replay.trace

    @property
    def counts(self) -> LaunchCounts | None:
        return None if self.counted is None else self.counted.value

    @property
    def speed(self) -> KernelSpeed | None:
        return None if self.timed is None else self.timed.value

    @property
    def no_counts(self) -> str:
        """Why the counts stay unknown."""
        return "" if self.counted is None else self.counted.why_none

    @property
    def no_speed(self) -> str:
        """Why the speed stays unknown."""
        return "" if self.timed is None else self.timed.why_none

    @cached_property
    def facts(self) -> LaunchFacts:
        """Facts about the whole launch."""
        stopped = self.trace.stop is not None
        no_counts = self.no_counts or (tr("the run ended early") if stopped else "")
        passed = self.trace.check.passed and not stopped
        return LaunchFacts(self.setup, self.counts, no_counts, self.speed, self.no_speed, passed)

    @cached_property
    def whole(self) -> LaunchFacts:
        """Facts about the launch at the sizes of main(), if they are known."""
        return self.facts if self.trace.stop is not None else self.known.whole_facts(self.facts)

    @property
    def is_counted(self) -> bool:
        """Whether both launches are counted, or known not to be."""
        return self.counted is not None and (self.whole.counts is not None or bool(self.whole.no_counts))


def run_so_far(known: Knowledge | None) -> KnownRun | None:
    """The run of a shot with what is known of it at present; None while it isn't finished."""
    first = Knowledge.first_replay.at_hand(known)
    if known is None or first is None:
        return None
    if first.trace.stop is not None:
        return KnownRun(known, first)
    replay = Knowledge.replay.at_hand(known)
    searched = None if replay is None else searched_blocks(replay.trace)
    return KnownRun(known, replay or first, searched, Knowledge.counted.at_hand(known), Knowledge.timed.at_hand(known))


def finished_run(known: Knowledge) -> KnownRun:
    """The run of a shot as soon as it is finished, with what frames need of its whole trace. Raises as ``replay_of`` does."""
    _draw_last(known.first_replay)
    run = run_so_far(known)
    assert run is not None
    return run


def recorded_run(trace: Trace) -> KnownRun:
    """A run from a file."""
    whole = trace.blocks.count == trace.launch.block_count
    phases = "" if trace.phases is None else phases_text(trace.phases)
    setup = replace(trace.setup, blocks="" if whole else str(trace.blocks), phases=phases)
    outcome = Outcome(trace, trace.by)
    return finished_run(Knowledge(Shot(setup), RecordedTimes(), outcome, from_file=True, with_values=False))


def _draw_last(replay: Replay) -> None:
    """Draw the last frame of a large run, which prepares what all frames need."""
    trace = replay.trace
    if trace.element.size > _LARGE_RUN:
        for everyone in (False, True):
            focus = replace(Focus().within(trace), everyone=everyone)
            view_named("stage").scene(Reader(replay, focus).at(trace.steps - 1), ViewOptions())


# Completes what is known of a shot before it is shown.


def complete(known: Knowledge) -> Knowledge:
    """Run, count and compute what a shot's picture needs, and draw it once, which fills caches. Raises Cancelled only: an error
    is known as ``trouble``.
    """
    shot, needs = known.shot, subject_of_view(known.shot.view).needs
    try:
        requested_blocks(shot.setup, known.launch)
        if {"moment", "compared"} & set(needs):
            fault = known.outcome.fault
            block = None if fault is None else fault.block
            _complete_run(known if block is None else known.about(replace(shot, focus=Focus(block))))
        elif "whole" in needs:
            known.facts, known.whole_counted  # noqa: B018
        if shot.against is not None and "compared" in needs:
            with suppress(GemmvizError):  # it is reported once the shot is shown
                _complete_run(known.compared)
    except GemmvizError as error:
        known.trouble = error.kept()
    try:
        _draw_once(known)
    except GemmvizError as error:
        known.trouble = known.trouble or error.kept()
    return known


def _complete_run(known: Knowledge) -> None:
    """Analyse a run as far as a window analyses it in the background."""
    _draw_last(known.replay)
    known.replay.sums(known.reader.scope)
    known.watch_result  # noqa: B018
    if known.replay.trace.stop is None:
        known.facts, known.whole_counted  # noqa: B018


def _draw_once(known: Knowledge) -> None:
    """Draw the picture unless a run is missing."""
    shot, subject = known.shot, subject_of_view(known.shot.view)
    lacks_other = "compared" in subject.needs and compared_run(known) is None
    if lacks_other or ("moment" in subject.needs and run_so_far(known) is None):
        return
    value: Any = subject.value(known)
    if value is not None:
        (width, height), scale = frame_for(shot, *_PIXELS)
        view_named(shot.view).scene(value, options_for(shot, theme_of(shot), (width, height), scale=scale))


def compared_run(known: Knowledge) -> KnownRun | None:
    """The run that a shot is compared with; None if it is not known."""
    return run_so_far(Knowledge.compared.at_hand(known))


def suits(known: Knowledge, shot: Shot) -> bool:
    """Whether the picture of another shot needs nothing else: it may differ in position, appearance and, within the watched
    block, in the watched threads.
    """
    return known.shot.view == shot.view and known.shares("subject", shot)
