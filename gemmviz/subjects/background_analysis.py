"""What is worked out once a picture is on the screen: what a focus needs, then what the trace tells, then the whole launch,
and meanwhile how fast the real kernel is.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.counts import LaunchCounts, count_steps
from gemmviz.analysis.replay.focus import Scope, thread_place
from gemmviz.analysis.replay.replay import Replay
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.model.errors import GemmvizError
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import Trace
from gemmviz.model.watched import Watched
from gemmviz.run.engine import Cancel, CannotAnswer, Engine
from gemmviz.run.recording import Recording
from gemmviz.subjects.counting import launch_counts
from gemmviz.subjects.runs import MOST_BYTES, KnownRun, searched_blocks, with_hazards

AFTER_PICTURE_S = 0.08
_MOST_VALUES = 12_000_000  # accesses


@dataclass(frozen=True)
class WatchResult:
    """What a focus needs: ``watched``, the variables of its first thread, or ``why_none`` are known."""

    scope: Scope
    watched: Watched | None
    why_none: str = ""


class BackgroundAnalysis:
    """Works on what is known, one thing after the other. ``changed`` gets what is known with more in it; ``on_watched`` a Look;
    ``failed`` a GemmvizError.
    """

    def __init__(
        self,
        post: Post,
        changed: Callable[[KnownRun], Any],
        on_watched: Callable[[WatchResult], Any],
        failed: Callable[[GemmvizError], Any],
    ) -> None:
        self._changed, self._on_watched, self._failed = changed, on_watched, failed
        self._known: KnownRun | None = None
        self._engine: Engine | None = None
        self._is_over = False  # whether it was cancelled, or failed
        self._cost: LatestTask[object] = LatestTask(post, self._on_costs, failed)
        self._look: LatestTask[WatchResult] = LatestTask(post, self._on_look, self._on_failed)
        self._search: LatestTask[tuple[Replay, int]] = LatestTask(post, self._on_searched, self._on_failed)
        self._count: LatestTask[LaunchCounts] = LatestTask(post, self._on_counted, self._on_not_counted)
        self._time: LatestTask[KernelSpeed] = LatestTask(post, self._on_timed, self._on_no_speed)
        self.workers: tuple[LatestTask[Any], ...] = self._cost, self._look, self._search, self._count, self._time

    def begin(self, known: KnownRun, scope: Scope, engine: Engine) -> None:
        """Another picture, or the same through another focus: what is known of it already is not worked out again."""
        if self._known is None or self._known.trace is not known.trace:
            self.cancel()
        self._known, self._engine, self._is_over = known, engine, False
        setup, replay = known.setup, known.replay
        self._cost.start(lambda cancelled: (replay.sums(scope), replay.terms(scope)), AFTER_PICTURE_S)
        self._look.start(lambda cancelled: look(setup, replay, scope, engine, cancelled), AFTER_PICTURE_S)

    def cancel(self) -> None:
        self._is_over = True
        for worker in self.workers:
            worker.cancel()

    def close(self) -> None:
        for worker in self.workers:
            worker.close()

    @property
    def is_busy(self) -> bool:
        return any(worker.is_busy for worker in self.workers)

    @property
    def will_count(self) -> bool:
        """Whether the counts of the whole launch are still to come."""
        known = self._known
        is_open = known is not None and known.counts is None and not known.no_counts and known.trace.stop is None
        return is_open and not self._is_over

    def _on_failed(self, error: GemmvizError) -> None:
        self._is_over = True
        self._failed(error)

    def _on_costs(self, sums: object) -> None:
        self._found()

    def _on_look(self, found: WatchResult) -> None:
        self._on_watched(found)
        known, engine = self._known, self._engine
        if known is None or engine is None or known.trace.stop is not None:
            return
        setup, replay = known.setup, known.replay
        if known.searched is None and not self._search.is_busy:
            self._search.start(lambda cancelled: search(setup, replay, engine, cancelled))
        elif known.searched is not None:
            self._count_whole()
        if known.speed is None and not known.no_speed and not self._time.is_busy:
            self._time.start(lambda cancelled: engine.time(setup, cancelled=cancelled))

    def _on_searched(self, found: tuple[Replay, int]) -> None:
        replay, blocks = found
        self._found(replay=replay, searched=blocks)
        self._count_whole()

    def _count_whole(self) -> None:
        known, engine = self._known, self._engine
        if known is None or engine is None or known.no_counts:
            return
        if known.counts is None and not self._count.is_busy:
            self._count.start(lambda cancelled: count(known, engine, cancelled))

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
        assert self._known is not None
        self._known = replace(self._known, **facts)
        self._changed(self._known)


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


def count(known: KnownRun, engine: Engine, cancelled: Cancel) -> LaunchCounts:
    """Counts of the whole launch: from the record, if that holds all of it."""
    trace = known.trace
    if known.from_file:
        if not trace.is_whole:
            raise CannotAnswer("the file holds a part of it")
        return count_steps(trace, range(trace.steps))
    return launch_counts(known.setup, engine, cancelled=cancelled)


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
