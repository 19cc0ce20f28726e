"""Completes what is known of a shot on worker threads: first its run, then what the picture shows of it, then the rest."""

from collections.abc import Callable
from typing import Any

from msgspec import structs
from psygnal import Signal

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.cuda.launch.legality import launch_for
from gemmviz.model.cases import Cause
from gemmviz.model.messages import GemmvizError, SettingError
from gemmviz.model.setup import Setup
from gemmviz.model.trace import Watched
from gemmviz.run.engine import CannotAnswer, Engine
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.view import HEIGHT, WIDTH, ViewOptions
from gemmviz.shots.jobs import Engines, LatestTask, Post
from gemmviz.shots.knowledge import Knowledge, LaunchFacts
from gemmviz.shots.runs import KnownRun, finished_run, run_so_far
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import subject_of_view

AFTER_PICTURE_S = 0.08


class Completion:
    """Completes what is known of the shot that was started last. ``known``: of the shot that is displayed, None before the
    first; ``run``: its run with what is known so far. Of a launch that is displayed without a step of it, ``run`` is None.

    Signals: ``finished`` with a KnownRun for ``show``; ``failed`` if a setup can't be run, and ``fact_failed`` if something
    else can't be known, both with an error; ``replay_changed`` when the reader has a more complete replay of the same run;
    ``hazards_found`` and ``no_hazards`` after the search; ``analysis_changed`` when more is known; ``loads_counted`` when the
    reader has caught up after a jump; ``busy_changed`` when the engine starts or stops.
    """

    finished = Signal(object)
    failed = Signal(object)
    fact_failed = Signal(object)
    replay_changed = Signal()
    hazards_found = Signal()
    no_hazards = Signal()
    analysis_changed = Signal()
    loads_counted = Signal()
    busy_changed = Signal()

    def __init__(self, post: Post, engines: Engines) -> None:
        self.engines = engines
        self.run: KnownRun | None = None
        self.known: Knowledge | None = None
        self.setup: Setup | None = None  # the setup that was started last
        self.engine: Engine | None = None  # the engine that runs it
        self._is_over = False  # whether completing was cancelled or failed
        self.reading = Reading(post, self.loads_counted.emit, self.analysis_changed.emit)
        self._runner: LatestTask[KnownRun] = LatestTask(post, self._on_finished, self._on_not_run)
        self._lanes = tuple(LatestTask[object](post, self._on_more_known, self._on_failed) for _ in range(5))
        self._costs, self._watching, self._search, self._count, self._time = self._lanes

    @property
    def is_without_run(self) -> bool:
        """Whether a launch is displayed of which no step is shown."""
        return self.known is not None and self.run is None

    @property
    def facts(self) -> LaunchFacts | None:
        """Facts about the whole launch that is displayed; None while there is neither a run nor a counted launch."""
        return Knowledge.facts.at_hand(self.known) if self.run is None else self.run.facts

    @property
    def whole(self) -> LaunchFacts | None:
        """The same about the launch at the sizes of main(), if they are known."""
        if self.run is not None:
            return self.run.whole
        return None if self.known is None or self.facts is None else self.known.whole_facts(self.facts)

    @property
    def main_cause(self) -> Cause | None:
        """The main cause of that launch's time; None if there is none, or while it is unknown."""
        return Knowledge.main_cause.at_hand(self.known)

    @property
    def watched(self) -> Watched | None:
        """Variables of the first watched thread; None while they are unknown."""
        result = Knowledge.watch_result.at_hand(self.known)
        return None if result is None else result.watched

    @property
    def unwatched(self) -> str:
        """Why there are no variables."""
        result = Knowledge.watch_result.at_hand(self.known)
        return "" if result is None else result.why_none

    def suffices(self, shot: Shot) -> bool:
        """Whether a shot can be drawn from the launch that is displayed, without running its kernel."""
        needs = set(subject_of_view(shot.view).needs) & {"moment", "whole", "compared"}
        is_counted = not needs or (needs == {"whole"} and self.facts is not None)
        return self.is_without_run and self.setup == shot.setup and is_counted

    @property
    def is_running(self) -> bool:
        return self._runner.is_busy

    @property
    def will_count(self) -> bool:
        """Whether counts of whole launches are still to be computed."""
        run = self.run
        return run is not None and not run.is_counted and run.trace.stop is None and not self._is_over

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (self._runner, *self._lanes, *self.reading.workers)

    def start(self, shot: Shot) -> None:
        """Run the setup of a shot; if it names no blocks, some near the watched one are traced."""
        self.setup, self.engine = shot.setup, self.engines.engine_for(shot.setup.kernel)
        like = [known for known in (self.known,) if known is not None and known.engine is self.engine]
        known = Knowledge(shot, self.engine, with_values=False, like=like)
        self._end()
        self._runner.start(lambda: finished_run(known))
        self.busy_changed.emit()

    def find_nearest(self, setup: Setup, error: GemmvizError) -> None:
        """Search for the nearest legal setting if the error of a setup names none, then fail with it."""

        def work() -> KnownRun:
            launch_for(setup)  # fails with the nearest setting
            raise error

        if isinstance(error, SettingError) and not error.remedy:
            self._runner.start(work)
            self.busy_changed.emit()

    def stop(self) -> None:
        """Stop running; the displayed run stays."""
        self._runner.cancel()
        self.busy_changed.emit()

    def clear(self) -> None:
        """Remove the run and all that is known of it."""
        self.stop()
        self._end()
        self.reading.end()
        self.setup = self.run = self.known = None

    def show_launch(self, known: Knowledge) -> None:
        """Hold a launch without a run, for a view that shows no step of it."""
        self.clear()
        self.setup, self.known = known.setup, known

    def show(self, run: KnownRun, focus: Focus) -> None:
        """Hold a finished run, read through a focus."""
        if self.run is None or self.run.trace is not run.trace:
            self._end()
        self.engine = run.known.engine if run.from_file else self.engines.engine_for(run.setup.kernel)
        self.run, self.setup = run, run.setup
        self._read(run.known, focus)

    def watch(self, focus: Focus) -> None:
        """Read the run through another focus, and complete what is known."""
        assert self.known is not None
        self._read(self.known, focus)
        self.complete()

    def _read(self, known: Knowledge, focus: Focus) -> None:
        assert self.run is not None
        self.known = known.about(structs.replace(known.shot, focus=focus), self.engine)
        self.reading.begin(self.run.replay, focus, self.watched)

    def complete(self) -> None:
        """Continue with what is unknown of the displayed run, first with what the picture shows of its focus."""
        known, run, reader = self.known, self.run, self.reading.reader
        if known is None or run is None or reader is None:
            return
        self._is_over, replay, scope = False, run.replay, reader.scope
        if not (replay.knows_costs(scope) and replay.knows_terms(scope)):
            self._costs.start(lambda: (replay.sums(scope), replay.terms(scope)), AFTER_PICTURE_S)
        if Knowledge.watch_result.at_hand(known) is None:
            self._watching.start(lambda: known.watch_result, AFTER_PICTURE_S)
        else:
            self._complete_launch(known, run)

    def _complete_launch(self, known: Knowledge, run: KnownRun) -> None:
        """Search for hazards, count, judge the launch at the sizes of main(), then find the main cause, rearrange tiles with
        bank conflicts and try opposed suggestions; meanwhile, time.
        """
        if run.trace.stop is not None:
            return
        if run.searched is None:
            if not self._search.is_busy:
                self._search.start(lambda: known.replay)
        elif self.will_count and not self._count.is_busy:
            self._count.start(lambda: known.counted if run.counted is None else known.whole_counted)
        elif not self.will_count and not self._count.is_busy:
            if Knowledge.judged_as_launched.at_hand(known) is None:
                self._count.start(lambda: known.judged_as_launched)
            elif Knowledge.faster.at_hand(known) is None:
                self._count.start(lambda: (known.main_cause, known.rearranged, known.faster))
        if run.timed is None and not self._time.is_busy:
            self._time.start(lambda: (known.timed, known.whole.timed))

    def _end(self) -> None:
        self._is_over = True
        for lane in self._lanes:
            lane.cancel()

    def _on_finished(self, run: KnownRun) -> None:
        self.busy_changed.emit()
        self.finished.emit(run)

    def _on_not_run(self, error: GemmvizError) -> None:
        self.busy_changed.emit()
        self.failed.emit(error)

    def _on_failed(self, error: GemmvizError) -> None:
        self._is_over = True
        self.fact_failed.emit(error)

    def _on_more_known(self, fact: object) -> None:
        """Show what else is known of the run, and continue."""
        before, known, reader = self.run, self.known, self.reading.reader
        run = run_so_far(known)
        if before is None or run is None or known is None or reader is None:
            return
        self.run = run
        if run.replay is not before.replay:
            self.reading.begin(run.replay, reader.scope.focus, self.watched)
            self.replay_changed.emit()
        self.reading.know(self.watched)
        if run.searched is not None and before.searched is None:
            (self.hazards_found if run.replay.hazards else self.no_hazards).emit()
        error = run.counted.error if run.counted is not None and before.counted is None else None
        if error is not None and not isinstance(error, CannotAnswer):
            self._on_failed(error)
        self.analysis_changed.emit()
        if Knowledge.watch_result.at_hand(known) is not None:
            self._complete_launch(known, run)


# Reads the displayed run step by step; slow parts are computed in the background.

MAPPED = "stage"  # the view that has a reuse map
_MOST_COUNTED_AT_ONCE = 1 << 22  # maximum number of loads counted within one frame
_SMALL = 300_000  # accesses of a run whose views are all drawn within a frame
_PER_STEP = 64  # accesses that take as long as the fixed cost of a step


class Reading:
    """The reader of a replay, and the step up to which loads are counted. ``on_counted`` is called when counting has caught up
    after a jump; its resolution depends on ``size``, that of the drawn frames in units. Views of a large run are first drawn in
    the background, which fills the caches of the run; then ``on_drawn`` is called.
    """

    def __init__(self, post: Post, on_counted: Callable[[], None], on_drawn: Callable[[], None]) -> None:
        self.reader: Reader | None = None
        self.size = (WIDTH, HEIGHT)
        self.has_timeline = self.has_statement = True  # parts of the drawn frames, which leave less room for the matrices
        self._counting: LatestTask[tuple[Reader, int]] = LatestTask(post, self._on_counted, lambda error: None)
        self._drawing: LatestTask[tuple[Reader, str]] = LatestTask(post, self._on_drawn, lambda error: on_drawn())
        self.workers: tuple[LatestTask[Any], ...] = self._counting, self._drawing
        self._report_counted, self._report_drawn = on_counted, on_drawn
        self._counted = -1
        self._known: set[tuple[str, Focus]] = set()

    @property
    def is_counting(self) -> bool:
        return self._counting.is_busy

    @property
    def is_drawing(self) -> bool:
        """Whether data for the present view is being computed."""
        return self._drawing.is_busy

    @property
    def is_large(self) -> bool:
        """Whether the run is so large that a view may take longer than a frame."""
        if self.reader is None:
            return False
        element = self.reader.replay.trace.element
        return element.size + len(element) * _PER_STEP > _SMALL

    def at(self, step: int) -> Moment | None:
        return None if self.reader is None else self.reader.at(step)

    def begin(self, replay: Replay, focus: Focus, watched: Watched | None) -> None:
        """Read another replay, or the same one through another focus. ``watched``: variables of its first thread."""
        for worker in self.workers:
            worker.cancel()
        if self.reader is None or self.reader.replay.trace is not replay.trace:
            self._known = set()
        self.reader = Reader(replay, focus)
        self.know(watched)
        self.forget()

    def end(self) -> None:
        """Stop reading."""
        for worker in self.workers:
            worker.cancel()
        self.reader = None

    def know(self, watched: Watched | None) -> None:
        """Set the variables of the first watched thread."""
        if self.reader is not None:
            self.reader.watched = watched

    def forget(self) -> None:
        """Discard the count of loads, because the picture changed."""
        self._counted = -1

    def count(self, step: int, options: ViewOptions) -> None:
        """Count loads up to a step, for a frame with these options. Short distances are counted while drawing."""
        if self.reader is None or self._counting.is_busy:
            return
        threads = self.reader.scope.threads
        if abs(step - self._counted) * (threads.stop - threads.start) <= _MOST_COUNTED_AT_ONCE:
            self._counted = step
            return
        reader = Reader(self.reader.replay, self.reader.scope.focus)
        reader.watched = self.reader.watched

        def work() -> tuple[Reader, int]:
            view_named(MAPPED).scene(reader.at(step), options)
            return reader, step

        self._counting.start(work)

    def _on_counted(self, counted: tuple[Reader, int]) -> None:
        watched = None if self.reader is None else self.reader.watched
        self.reader, self._counted = counted
        self.know(watched)
        self._report_counted()

    def draw_in_background(self, view: str, step: int, distance: int, draw: Callable[[Moment], object]) -> None:
        """Draw a view of a large run in the background if it is its first view, or if ``distance`` in steps is too large for
        one frame.
        """
        reader = self.reader
        if reader is None or not self.is_large:
            return
        block, key = reader.scope.of_block, (view, reader.scope.focus)
        if key in self._known and distance * (block.stop - block.start) <= _MOST_COUNTED_AT_ONCE:
            self._drawing.cancel()
            return
        fresh = Reader(reader.replay, reader.scope.focus)
        fresh.watched = reader.watched

        def work() -> tuple[Reader, str]:
            draw(fresh.at(step))
            return fresh, view

        self._drawing.start(work)

    def _on_drawn(self, drawn: tuple[Reader, str]) -> None:
        reader, view = drawn
        if self.reader is not None and self.reader.replay.trace is reader.replay.trace:
            self._known.add((view, reader.scope.focus))
            reader.watched = self.reader.watched
            self.reader = reader if self.reader.replay is reader.replay else self.reader
        self._report_drawn()
