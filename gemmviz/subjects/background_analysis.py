"""What is worked out once a picture is on the screen: what a focus needs, then what the trace tells, then the whole launch,
and meanwhile how fast the real kernel is.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.counts import LaunchCounter, LaunchCounts, count_steps
from gemmviz.analysis.replay.focus import Focus, Scope, thread_place
from gemmviz.analysis.replay.moment import Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.errors import GemmvizError, KernelFault
from gemmviz.model.outcome import Outcome
from gemmviz.model.setup import Setup
from gemmviz.model.threads import phases_text
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import Trace
from gemmviz.model.watched import Watched
from gemmviz.run.engine import Cancel, CannotAnswer, Engine
from gemmviz.run.recording import Recording
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.text import load_faces
from gemmviz.subjects.picture import MOST_BYTES, searched_blocks, with_hazards

AFTER_PICTURE_S = 0.08
_MOST_VALUES, _LARGE = 12_000_000, 1_000_000  # accesses


@dataclass(frozen=True)
class Shown:
    """The run that a picture is of, and what is known of it by now: ``searched`` blocks have no other hazards than those of the
    replay; ``counts`` are those of the whole launch, ``no_counts`` why nobody knows them; ``speed`` is that of the real kernel,
    ``no_speed`` why nobody knows it. ``from_file``: it was recorded before, and is not run.
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


def ran(setup: Setup, outcome: Outcome) -> Shown | KernelFault:
    """What there is to show of a run. What frames need of all of the record is worked out here, where no frame waits."""
    if outcome.trace is None:
        assert outcome.fault is not None
        return outcome.fault
    return Shown(setup, outcome, _ready(outcome.trace))


def recorded_run(trace: Trace) -> Shown:
    """Likewise, of a run from a file."""
    whole = trace.blocks.count == trace.launch.block_count
    phases = "" if trace.phases is None else phases_text(trace.phases)
    setup = replace(trace.setup, blocks="" if whole else str(trace.blocks), phases=phases)
    return Shown(setup, Outcome(trace, trace.by), _ready(trace), from_file=True)


def _ready(trace: Trace) -> Replay:
    """Its replay; what frames measure letters with has been read, and what the last frame of a large one needs worked out."""
    load_faces()
    replay = Replay.of(trace)
    if trace.element.size > _LARGE:
        for everyone in (False, True):
            focus = replace(Focus().within(trace), everyone=everyone)
            view_named("stage").scene(Reader(replay, focus).at(trace.steps - 1), ViewOptions())
    return replay


@dataclass(frozen=True)
class WatchResult:
    """What a focus needs: ``watched``, the variables of its first thread, or ``why_none`` are known."""

    scope: Scope
    watched: Watched | None
    why_none: str = ""


class BackgroundAnalysis:
    """Works on what is shown, one thing after the other. ``changed`` gets what is shown with more in it; ``looked`` a Look;
    ``failed`` a GemmvizError.
    """

    def __init__(
        self,
        post: Post,
        changed: Callable[[Shown], Any],
        looked: Callable[[WatchResult], Any],
        failed: Callable[[GemmvizError], Any],
    ) -> None:
        self._changed, self._looked, self._failed = changed, looked, failed
        self._shown: Shown | None = None
        self._engine: Engine | None = None
        self._is_over = False  # whether it was cancelled, or failed
        self._cost: LatestTask[object] = LatestTask(post, self._on_costs, failed)
        self._look: LatestTask[WatchResult] = LatestTask(post, self._on_look, self._on_failed)
        self._search: LatestTask[tuple[Replay, int]] = LatestTask(post, self._on_searched, self._on_failed)
        self._count: LatestTask[LaunchCounts] = LatestTask(post, self._on_counted, self._on_not_counted)
        self._time: LatestTask[KernelSpeed] = LatestTask(post, self._on_timed, self._on_no_speed)
        self.lanes: tuple[LatestTask[Any], ...] = self._cost, self._look, self._search, self._count, self._time

    def begin(self, shown: Shown, scope: Scope, engine: Engine) -> None:
        """Another picture, or the same through another focus: what is known of it already is not worked out again."""
        if self._shown is None or self._shown.trace is not shown.trace:
            self.cancel()
        self._shown, self._engine, self._is_over = shown, engine, False
        setup, replay = shown.setup, shown.replay
        self._cost.start(lambda cancelled: (replay.sums(scope), replay.terms(scope)), AFTER_PICTURE_S)
        self._look.start(lambda cancelled: look(setup, replay, scope, engine, cancelled), AFTER_PICTURE_S)

    def cancel(self) -> None:
        self._is_over = True
        for lane in self.lanes:
            lane.cancel()

    def close(self) -> None:
        for lane in self.lanes:
            lane.close()

    @property
    def is_busy(self) -> bool:
        return any(lane.is_busy for lane in self.lanes)

    @property
    def will_count(self) -> bool:
        """Whether the counts of the whole launch are still to come."""
        shown = self._shown
        is_open = shown is not None and shown.counts is None and not shown.no_counts and shown.trace.stop is None
        return is_open and not self._is_over

    def _on_failed(self, error: GemmvizError) -> None:
        self._is_over = True
        self._failed(error)

    def _on_costs(self, sums: object) -> None:
        self._found()

    def _on_look(self, found: WatchResult) -> None:
        self._looked(found)
        shown, engine = self._shown, self._engine
        if shown is None or engine is None or shown.trace.stop is not None:
            return
        setup, replay = shown.setup, shown.replay
        if shown.searched is None and not self._search.is_busy:
            self._search.start(lambda cancelled: search(setup, replay, engine, cancelled))
        elif shown.searched is not None:
            self._count_whole()
        if shown.speed is None and not shown.no_speed and not self._time.is_busy:
            self._time.start(lambda cancelled: engine.time(setup, cancelled=cancelled))

    def _on_searched(self, found: tuple[Replay, int]) -> None:
        replay, blocks = found
        self._found(replay=replay, searched=blocks)
        self._count_whole()

    def _count_whole(self) -> None:
        shown, engine = self._shown, self._engine
        if shown is None or engine is None or shown.no_counts:
            return
        if shown.counts is None and not self._count.is_busy:
            self._count.start(lambda cancelled: count(shown, engine, cancelled))

    def _on_counted(self, counts: LaunchCounts) -> None:
        self._found(counts=counts)

    def _on_not_counted(self, error: GemmvizError) -> None:
        self._found(no_counts=str(error))
        if not isinstance(error, CannotAnswer):
            self._failed(error)

    def _on_timed(self, speed: KernelSpeed) -> None:
        self._found(speed=speed)

    def _on_no_speed(self, error: GemmvizError) -> None:
        self._found(no_speed=str(error))

    def _found(self, **facts: Any) -> None:
        assert self._shown is not None
        self._shown = replace(self._shown, **facts)
        self._changed(self._shown)


def look(setup: Setup, replay: Replay, scope: Scope, engine: Engine, cancelled: Cancel) -> WatchResult:
    """Works out the variables of the first of the watched threads."""
    if replay.trace.stop is not None:
        return WatchResult(scope, None, "the run ended early")
    thread = thread_place(scope.first_thread, replay.trace.launch)
    try:
        return WatchResult(scope, engine.watch(setup, scope.focus.block, thread, cancelled=cancelled))
    except CannotAnswer:
        return WatchResult(scope, None, "a trace holds none; they are there once it is run here")
    except GemmvizError as error:
        return WatchResult(scope, None, str(error))
    except MemoryError:
        return WatchResult(scope, None, "there is not enough memory for them")


def search(setup: Setup, replay: Replay, engine: Engine, cancelled: Cancel) -> tuple[Replay, int]:
    """The replay with its hazards, and values where there is room for them; and how many blocks were searched."""
    blocks = searched_blocks(replay.trace)
    if replay.value is None and replay.trace.element.size <= _MOST_VALUES:
        replay = replace(replay, value=_values(setup, replay.trace, engine, cancelled))
    return with_hazards(replay, blocks, cancelled), blocks


def count(shown: Shown, engine: Engine, cancelled: Cancel) -> LaunchCounts:
    """What the whole launch costs: of a record that holds all of it, from that."""
    trace = shown.trace
    if shown.from_file:
        if not trace.is_whole:
            raise CannotAnswer("the file holds a part of it")
        return count_steps(trace, range(trace.steps))
    counter = LaunchCounter(trace.rules, cancelled)
    engine.count(shown.setup, counter, cancelled=cancelled)
    return counter.counts


def _values(setup: Setup, trace: Trace, engine: Engine, cancelled: Cancel) -> npt.NDArray[np.float32] | None:
    """What was read and written, from another run; None where that was not the same run, or there is none: a picture without
    values is a picture.
    """
    with contextlib.suppress(GemmvizError):
        recording = Recording(values=True, origins=False, limit_bytes=MOST_BYTES)
        again = engine.trace(setup, trace.blocks, recording, cancelled=cancelled).trace
        if again is not None and again.element.shape == trace.element.shape and np.array_equal(again.element, trace.element):
            return again.value
    return None
