"""Analysis of a run after its picture is on the screen: costs of the focus, hazards and values of the trace, counts of the
whole launch, and the speed of the real kernel.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.counts import LaunchCounts, count_steps
from gemmviz.analysis.replay.focus import Scope
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.errors import GemmvizError
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.timing import KernelSpeed
from gemmviz.model.trace import Trace
from gemmviz.model.translation import tr
from gemmviz.run.choosing import MOST_BYTES
from gemmviz.run.engine import Cancel, CannotAnswer, Engine, Recording
from gemmviz.shots.jobs import LatestTask, Post
from gemmviz.shots.knowledge import Knowledge, WatchResult, searched_blocks, watch, with_hazards
from gemmviz.shots.runs import KnownRun

AFTER_PICTURE_S = 0.08
_MOST_VALUES = 12_000_000  # accesses


class BackgroundAnalysis:
    """Analyses one run in the background. ``on_more_known`` gets the run whenever more of it is known, ``on_watched`` a
    WatchResult, ``on_failed`` a GemmvizError.
    """

    def __init__(
        self,
        post: Post,
        on_more_known: Callable[[KnownRun], Any],
        on_watched: Callable[[WatchResult], Any],
        on_failed: Callable[[GemmvizError], Any],
    ) -> None:
        self._report, self._report_watched, self._report_failed = on_more_known, on_watched, on_failed
        self._run: KnownRun | None = None
        self._known: Knowledge | None = None
        self._is_over = False  # whether the analysis was cancelled or failed
        self._costs: LatestTask[object] = LatestTask(post, self._on_costs, on_failed)
        self._watch: LatestTask[WatchResult] = LatestTask(post, self._on_watched, self._on_failed)
        self._search: LatestTask[tuple[Replay, int]] = LatestTask(post, self._on_searched, self._on_failed)
        self._count: LatestTask[LaunchCounts] = LatestTask(post, self._on_counted, self._on_not_counted)
        self._time: LatestTask[KernelSpeed] = LatestTask(post, self._on_timed, self._on_not_timed)
        self.workers: tuple[LatestTask[Any], ...] = self._costs, self._watch, self._search, self._count, self._time

    def begin(self, run: KnownRun, scope: Scope, known: Knowledge, is_watched: bool = False) -> None:
        """Analyse another run, or the same run for another scope; known results are not computed again. ``known``: what is
        known of its launch; ``is_watched``: the variables of the scope's first thread are known.
        """
        if self._run is None or self._run.trace is not run.trace:
            self.cancel()
        self._run, self._known, self._is_over = run, known, False
        setup, replay = run.setup, run.replay
        if not (replay.knows_costs(scope) and replay.knows_terms(scope)):
            self._costs.start(lambda cancelled: (replay.sums(scope), replay.terms(scope)), AFTER_PICTURE_S)
        if is_watched:
            self._continue()
        else:
            self._watch.start(lambda cancelled: watch(setup, replay, scope, known.engine), AFTER_PICTURE_S)

    def cancel(self) -> None:
        self._is_over = True
        for worker in self.workers:
            worker.cancel()

    @property
    def will_count(self) -> bool:
        """Whether the counts of the whole launch are still to be computed."""
        run = self._run
        is_open = run is not None and run.counts is None and not run.no_counts and run.trace.stop is None
        return is_open and not self._is_over

    def _on_failed(self, error: GemmvizError) -> None:
        self._is_over = True
        self._report_failed(error)

    def _on_costs(self, sums: object) -> None:
        self._add()

    def _on_watched(self, result: WatchResult) -> None:
        self._report_watched(result)
        self._continue()

    def _continue(self) -> None:
        """Search for hazards, count and time what is still unknown."""
        run, known = self._run, self._known
        if run is None or known is None or run.trace.stop is not None:
            return
        setup, replay = run.setup, run.replay
        if run.searched is None and not self._search.is_busy:
            self._search.start(lambda cancelled: search(setup, replay, known.engine, cancelled))
        elif run.searched is not None:
            self._count_whole()
        if run.speed is None and not run.no_speed and not self._time.is_busy:
            self._time.start(lambda cancelled: known.speed)

    def _on_searched(self, result: tuple[Replay, int]) -> None:
        replay, blocks = result
        self._add(replay=replay, searched=blocks)
        self._count_whole()

    def _count_whole(self) -> None:
        run, known = self._run, self._known
        if run is not None and known is not None and self.will_count and not self._count.is_busy:
            self._count.start(lambda cancelled: count_launch(run, known))

    def _on_counted(self, counts: LaunchCounts) -> None:
        self._add(counts=counts)

    def _on_not_counted(self, error: GemmvizError) -> None:
        self._add(no_counts=str(error))
        if not isinstance(error, CannotAnswer):
            self._report_failed(error)

    def _on_timed(self, speed: KernelSpeed) -> None:
        self._add(speed=speed)

    def _on_not_timed(self, error: GemmvizError) -> None:
        self._add(no_speed=str(error))

    def _add(self, **known: Any) -> None:
        assert self._run is not None
        self._run = replace(self._run, **known)
        self._report(self._run)


def search(setup: Setup, replay: Replay, engine: Engine, cancelled: Cancel) -> tuple[Replay, int]:
    """The replay with its hazards, and with values if they fit in memory; and the number of searched blocks."""
    blocks = searched_blocks(replay.trace)
    if replay.value is None and replay.trace.element.size <= _MOST_VALUES:
        replay = replace(replay, value=_values(setup, replay.trace, engine, cancelled))
    return with_hazards(replay, blocks, cancelled), blocks


def count_launch(run: KnownRun, known: Knowledge) -> LaunchCounts:
    """Counts of the whole launch; of a run from a file, from its trace. Raises CannotAnswer if that trace is incomplete."""
    trace = run.trace
    if run.from_file:
        if not trace.is_whole:
            raise CannotAnswer(tr("the file contains only a part of the launch"))
        return count_steps(trace, range(trace.steps))
    return known.counts


def _values(setup: Setup, trace: Trace, engine: Engine, cancelled: Cancel) -> npt.NDArray[np.float32] | None:
    """Values read and written, from a second run; None if that run differs or fails, since they are optional."""
    with contextlib.suppress(GemmvizError):
        recording = Recording(values=True, origins=False, limit_bytes=MOST_BYTES)
        again = engine.trace(setup, trace.blocks, recording, cancelled=cancelled).trace
        if again is not None and again.element.shape == trace.element.shape and np.array_equal(again.element, trace.element):
            return again.value
    return None
