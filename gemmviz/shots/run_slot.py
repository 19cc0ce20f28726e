"""One run with everything that is computed about it: analysis, reader, variables."""

from typing import Any

from psygnal import Signal

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Reader
from gemmviz.cuda.launch.legality import launch_for
from gemmviz.model.errors import GemmvizError, SettingError
from gemmviz.model.outcome import Watched
from gemmviz.model.setup import Setup
from gemmviz.model.threads import Triple
from gemmviz.run.choosing import run
from gemmviz.run.engine import Cancel, Engine
from gemmviz.shots.background_analysis import BackgroundAnalysis
from gemmviz.shots.catalog import subject_of_view
from gemmviz.shots.jobs import Engines, LatestTask, Post
from gemmviz.shots.knowledge import Knowledge, LaunchFacts, WatchResult
from gemmviz.shots.reading import Reading
from gemmviz.shots.runs import KnownRun, finished_run
from gemmviz.shots.shot import Shot


class RunSlot:
    """Holds one run in ``run``, None before the first. ``known``: what is known of its launch; ``watched``: variables of the
    first watched thread; ``unwatched``: why there are none. A slot may hold a launch instead, of which no step is shown:
    ``run`` is None, ``facts`` are its counts and speed if they are shown.

    Signals: ``finished`` with a KnownRun for ``show``; ``failed`` if a setup can't be run, and ``analysis_failed`` if a part of
    the analysis fails, both with an error; ``replay_changed`` when the reader has a more complete replay of the same run;
    ``hazards_found``; ``analysis_changed`` when more is known; ``loads_counted`` when the reader has caught up after a jump;
    ``busy_changed`` when the engine starts or stops.
    """

    finished = Signal(object)
    failed = Signal(object)
    analysis_failed = Signal(object)
    replay_changed = Signal()
    hazards_found = Signal()
    analysis_changed = Signal()
    loads_counted = Signal()
    busy_changed = Signal()

    def __init__(self, post: Post, engines: Engines) -> None:
        self.engines = engines
        self.run: KnownRun | None = None
        self.known: Knowledge | None = None
        self.setup: Setup | None = None  # the setup that was started last
        self.engine: Engine | None = None  # the engine that runs it
        self.watched: Watched | None = None
        self.unwatched = ""
        self.is_without_run = False  # whether the slot holds a launch of which no step is shown
        self._facts: LaunchFacts | None = None
        self._known_watched: WatchResult | None = None
        self.reading = Reading(post, self.loads_counted.emit, self.analysis_changed.emit)
        self._tracer: LatestTask[KnownRun] = LatestTask(post, self._on_finished, self._on_failed)
        self._analysis = BackgroundAnalysis(post, self._on_more_known, self._on_watched, self.analysis_failed.emit)

    @property
    def reader(self) -> Reader | None:
        return self.reading.reader

    @property
    def facts(self) -> LaunchFacts | None:
        """Facts about the whole launch of the run; None while there is neither a run nor a counted launch."""
        return self._facts if self.run is None else self.run.facts

    def suffices(self, shot: Shot) -> bool:
        """Whether a shot can be drawn from the launch that the slot holds, without running its kernel."""
        needs = set(subject_of_view(shot.view).needs) & {"moment", "facts", "compared"}
        is_counted = not needs or (needs == {"facts"} and self._facts is not None)
        return self.is_without_run and self.setup == shot.setup and is_counted

    @property
    def is_running(self) -> bool:
        return self._tracer.is_busy

    @property
    def will_count(self) -> bool:
        """Whether the counts of the whole launch are still to be computed."""
        return self._analysis.will_count

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        return (self._tracer, *self._analysis.workers, *self.reading.workers)

    def start(self, setup: Setup, around: Triple) -> None:
        """Run a setup; if it names no blocks, some near the block ``around`` are traced."""
        engine = self.engines.engine_for(setup.kernel)
        self.setup, self.engine = setup, engine
        self.is_without_run, self._facts = False, None
        self._analysis.cancel()

        def work(cancelled: Cancel) -> KnownRun:
            return finished_run(setup, run(setup, around, engine, cancelled=cancelled))

        self._tracer.start(work)
        self.busy_changed.emit()

    def find_nearest(self, setup: Setup, error: GemmvizError) -> None:
        """Search for the nearest legal setting if the error of a setup names none, then fail with it."""

        def work(cancelled: Cancel) -> KnownRun:
            launch_for(setup)  # fails with the nearest setting
            raise error

        if isinstance(error, SettingError) and not error.remedy:
            self._tracer.start(work)
            self.busy_changed.emit()

    def stop(self) -> None:
        """Stop running; the displayed run stays."""
        self._tracer.cancel()
        self.busy_changed.emit()

    def clear(self) -> None:
        """Remove the run and all results."""
        self.stop()
        self._analysis.cancel()
        self.reading.end()
        self.setup = self.run = self.known = self._facts = None
        self.is_without_run = False

    def show_launch(self, setup: Setup, facts: LaunchFacts | None) -> None:
        """Hold a launch without a run, for a view that shows no step of it."""
        self.clear()
        self.setup, self._facts, self.is_without_run = setup, facts, True
        self.watched, self.unwatched = None, ""

    def show(self, run: KnownRun, focus: Focus, watched: WatchResult | None = None) -> None:
        """Hold a finished run, read through a focus. ``watched``: variables that are known already."""
        self._known_watched = watched
        self.run, self.setup, self._facts, self.is_without_run = run, run.setup, None, False
        self.engine = self.engines.recorded if run.from_file else self.engines.engine_for(run.setup.kernel)
        if self.known is None or self.known.engine is not self.engine or self.known.setup != run.setup:
            self.known = Knowledge(Shot(run.setup), self.engine)
        self._read(focus)

    def watch(self, focus: Focus) -> None:
        """Read the run through another focus, and complete its analysis."""
        self._read(focus)
        self.analyse()

    def _read(self, focus: Focus) -> None:
        assert self.run is not None
        self.watched, self.unwatched = None, ""
        self.reading.begin(self.run.replay, focus)
        if self._is_watched and self._known_watched is not None:
            self.watched, self.unwatched = self._known_watched.watched, self._known_watched.why_none
            self.reading.know(self.watched)

    @property
    def _is_watched(self) -> bool:
        """Whether the variables of the first watched thread are known."""
        known = self._known_watched
        return known is not None and self.reader is not None and known.scope == self.reader.scope

    def analyse(self) -> None:
        """Continue the analysis of the displayed run."""
        if self.run is not None and self.reader is not None and self.known is not None:
            self._analysis.begin(self.run, self.reader.scope, self.known, self._is_watched)

    def close(self) -> None:
        """Cancel all work and accept no more."""
        for worker in self.workers:
            worker.close()

    def _on_finished(self, run: KnownRun) -> None:
        self.busy_changed.emit()
        self.finished.emit(run)

    def _on_failed(self, error: GemmvizError) -> None:
        self.busy_changed.emit()
        self.failed.emit(error)

    def _on_watched(self, result: WatchResult) -> None:
        if self.reader is not None and result.scope == self.reader.scope:
            self.watched, self.unwatched = result.watched, result.why_none
            self.reading.know(result.watched)
            self.analysis_changed.emit()

    def _on_more_known(self, known: KnownRun) -> None:
        shown, reader = self.run, self.reader
        if shown is None or reader is None or known.trace is not shown.trace:
            return
        self.run = known
        if known.replay is not shown.replay:
            self.reading.begin(known.replay, reader.scope.focus)
            self.reading.know(self.watched)
            self.replay_changed.emit()
        if known.searched is not None and shown.searched is None and known.replay.hazards:
            self.hazards_found.emit()
        self.analysis_changed.emit()
