"""A session: its state, the displayed run, and what follows from each event. Independent of any window."""

from typing import Any

from msgspec import structs
from psygnal import Signal

from gemmviz.analysis.replay.moment import Moment
from gemmviz.cuda.launch.legality import launch_for
from gemmviz.model.kernel import Launch
from gemmviz.model.messages import Cancelled, GemmvizError, SettingError, cancelled_after, tr
from gemmviz.model.setup import Setup
from gemmviz.run.cpu.executor import requested_blocks
from gemmviz.session.display import Comparison, Display
from gemmviz.session.notices import Notices, Reports
from gemmviz.session.playing import Navigation, Playback
from gemmviz.session.state import (
    Arrive,
    Begin,
    Fail,
    LaunchFound,
    Look,
    Move,
    Open,
    Pass,
    Refuse,
    Restore,
    SessionEvent,
    Show,
    State,
    TurnTo,
    Watch,
    first_state,
)
from gemmviz.shots.completion import Completion
from gemmviz.shots.jobs import Benchmarks, Engines, LatestTask, Post
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.runs import KnownRun, RequestedSizes, compared_run, run_so_far, suits
from gemmviz.shots.shot import Shot, default_shot

# The launch of a setup, computed within the time of one frame.

_SOON_S = 0.03


def launch_soon(setup: Setup) -> Launch:
    """The launch of a setup, as from ``launch_for``. An error names the nearest legal setting only if it is found within 0.03
    s. Raises as ``launch_for``, also if the setup names blocks that don't exist.
    """
    try:
        with cancelled_after(_SOON_S):
            launch = launch_for(setup)
    except Cancelled:
        launch = launch_for(setup, with_nearest=False)
    requested_blocks(setup, launch)
    return launch


class Session:
    """What is displayed. ``state`` changes in ``apply`` alone, which then runs, reads and draws what the state needs;
    ``completion``: what is known of the shot. ``post`` runs a function on the thread that owns the session, the only thread
    that may use it.

    Signals: ``shot_changed`` when the shot changes; ``position_changed`` for another step, moment or camera; ``run_changed``
    for another run; ``analysis_changed`` when more of the run's analysis is available; ``busy_changed`` when an engine starts
    or stops running the setup; ``message`` with a sentence for the status line.
    """

    shot_changed = Signal()
    position_changed = Signal()
    run_changed = Signal()
    analysis_changed = Signal()
    busy_changed = Signal()
    message = Signal(object)

    def __init__(self, post: Post, engines: Engines | None = None, shot: Shot | None = None) -> None:
        self._state = first_state(shot or default_shot())
        self.system_is_dark = True
        self.engines, self.benchmarks = engines or Engines(post), Benchmarks(post)
        self.notices = Notices()
        self.reports = Reports(self.notices, self.engines, self._show_answer, lambda setup: self.alter(setup=setup))
        self.completion, self.comparison = Completion(post, self.engines), Comparison(post, self.engines)
        self.display = Display(self, post, self._on_more_known)
        self.navigation = Navigation(self)
        self.player = Playback(self.navigation)
        self._connect()

    def _connect(self) -> None:
        self.engines.changed.connect(self._on_engine)
        self.reports.follow(self.completion, self.comparison.completion, self.benchmarks)
        completion = self.completion
        completion.finished.connect(self._on_finished)
        completion.failed.connect(lambda error: self.apply(Fail(error)))
        completion.hazards_found.connect(self._on_hazards)
        completion.no_hazards.connect(lambda: self.reports.report_no_hazard(self.completion.run))
        completion.replay_changed.connect(lambda: self.navigation.prepare(self.state.step))
        completion.loads_counted.connect(self.navigation.count_loads)  # up to the current step, which may have changed
        completion.loads_counted.connect(self.position_changed.emit)
        completion.analysis_changed.connect(self.analysis_changed.emit)
        completion.busy_changed.connect(self.busy_changed.emit)
        self.comparison.completion.analysis_changed.connect(self._on_more_known)

    # What is displayed

    @property
    def state(self) -> State:
        return self._state

    @property
    def shot(self) -> Shot:
        return self._state.shot

    @property
    def error(self) -> GemmvizError | None:
        """Why the displayed run is not the shot's."""
        return self._state.error

    @property
    def shown(self) -> KnownRun | None:
        """The displayed run; None before the first."""
        return self.completion.run

    @property
    def now(self) -> Moment | None:
        """The displayed step of the displayed run."""
        return self.completion.reading.at(self._state.step)

    @property
    def is_stale(self) -> bool:
        """Whether the displayed run is not the shot's."""
        return self.error is not None and self.shown is not None

    @property
    def is_busy(self) -> bool:
        """Whether an engine is running the shot's setup."""
        return self.completion.is_running

    @property
    def is_working(self) -> bool:
        """Whether any part of the picture is being computed."""
        return any(worker.is_busy for worker in self._picture_workers)

    @property
    def workers(self) -> tuple[LatestTask[Any], ...]:
        """All background tasks."""
        return (*self._picture_workers, self.benchmarks.worker, self.engines.worker)

    @property
    def _picture_workers(self) -> tuple[LatestTask[Any], ...]:
        return (*self.completion.workers, *self.comparison.completion.workers, *self.display.workers)

    # Changing the state

    def apply(self, event: SessionEvent) -> None:
        """Change the state, which changes nowhere else, and do what follows from the event."""
        before = self._state
        self._state = event.after(before)
        match event:
            case Begin() | Show() | Restore():
                self._show(event, before)
            case Open(run=run) | Arrive(run=run):
                self._take(run, before)
            case LaunchFound() if before.error is not self.error:
                self._report_error()
            case Fail(error=error):
                self._report_error()
                if not isinstance(error, SettingError):
                    self.player.play(False)
                self.completion.complete()
            case Watch():
                self.completion.watch(self.shot.focus)
                self.navigation.prepare(self.navigation.run_steps)
                self.analysis_changed.emit()
            case Move():
                self.navigation.prepare(abs(self._state.step - before.step))
                self.position_changed.emit()
            case Look(camera=camera):
                if camera.zoom != before.shot.camera.zoom:
                    self.completion.reading.forget()
                self.navigation.count_loads()
                self.position_changed.emit()
            case Pass():
                self.position_changed.emit()
            case Refuse() | TurnTo(redraws=True):
                self.shot_changed.emit()

    def start(self, shot: Shot | None = None, plays: bool = False) -> None:
        """Show the first picture, and start playback with it if ``plays``."""
        self.apply(Begin(shot or self.shot, plays))

    def show(self, shot: Shot, requested: RequestedSizes | None = None) -> None:
        """Show another shot. Deliberate changes can be undone."""
        self.apply(Show(shot, requested))

    def alter(self, requested: RequestedSizes | None = None, **changes: Any) -> None:
        """Show the shot with other values of some fields."""
        self.show(structs.replace(self.shot, **changes), requested)

    def undo(self) -> None:
        if self.state.history.undo_name is not None:
            self.player.play(False)
            self.apply(Restore(-1))

    def redo(self) -> None:
        if self.state.history.redo_name is not None:
            self.player.play(False)
            self.apply(Restore(1))

    def show_recorded(self, run: KnownRun, name: str) -> None:
        """Show a run from a file without running anything."""
        self.player.play(False)
        self.completion.stop()
        self.reports.drop_all()
        self.apply(Open(run, name))
        self.reports.offer_run(lambda: self._run(again=True))
        self.shot_changed.emit()

    def say(self, sentence: str) -> None:
        """Show a temporary message."""
        self.message.emit(sentence)

    def close(self) -> None:
        """Cancel all work and accept no more."""
        self.player.play(False)
        for worker in self.workers:
            worker.close()
        self.engines.close()

    # What follows from another shot

    def _show(self, event: Begin | Show | Restore, before: State) -> None:
        """Show what was prepared for the shot, or start what it needs."""
        shot = self.shot
        if (shot.setup, shot.view) != (before.shot.setup, before.shot.view):
            self.notices.drop("mended")
        ready = event.ready if isinstance(event, Show) and event.ready is not None and suits(event.ready, shot) else None
        beside = None if ready is None else compared_run(ready)
        if beside is not None:
            self.comparison.take(beside, shot.focus)
        self.comparison.follow(shot)
        is_missing = self.is_stale or (self.shown is None and not self.completion.suffices(shot))
        if ready is not None:
            self._take_ready(ready)
        elif isinstance(event, Begin) or shot.setup != before.shot.setup or is_missing:
            self._run()
        elif shot.focus != before.shot.focus:
            self._refocus()
        elif shot.view != before.shot.view:
            self.navigation.draw_in_background()
        self.navigation.count_loads()
        if shot.at != before.shot.at and not isinstance(event, Begin):
            self.navigation.go_to_position(shot)
        self.shot_changed.emit()

    def _run(self, again: bool = False) -> None:
        """Run the shot's setup unless its run is displayed; report the broken limit if it can't run."""
        completion, setup = self.completion, self.shot.setup
        is_shown = completion.run is not None and completion.run.setup == setup and not again
        try:
            self.apply(LaunchFound(launch_soon(setup), is_shown))
        except GemmvizError as error:
            completion.stop()
            self.apply(Fail(error))
            completion.find_nearest(setup, error)
            return
        if is_shown:
            completion.stop()
            self._refocus()
        else:
            completion.start(self.shot)

    def _take_ready(self, ready: Knowledge) -> None:
        """Show a shot whose picture was prepared, within this call."""
        completion, run = self.completion, run_so_far(ready)
        completion.stop()
        if run is None and ready.trouble is not None:
            self.apply(Fail(ready.trouble))
            completion.find_nearest(ready.setup, ready.trouble)
        elif run is None:
            completion.show_launch(ready)
            self.apply(LaunchFound(ready.launch, is_shown=True))
            self.reports.drop_run()
            self.run_changed.emit()
        else:
            is_shown = completion.run is not None and completion.run.trace is run.trace
            self.apply(LaunchFound(run.trace.launch, is_shown))
            if is_shown:
                self._refocus()
            else:
                self._on_finished(run)

    def _refocus(self) -> None:
        """Read the run through the shot's focus. A block that was not traced is traced, unless the setup names its blocks."""
        run, focus = self.shown, self.shot.focus
        if run is None:
            return
        inside = focus.within(run.trace)
        if inside.block != focus.block:
            if not run.from_file and not run.setup.blocks:
                self._run(again=True)
                return
            self.say(
                tr(
                    "Block {block} can't be watched: only blocks {blocks} are traced (see Blocks)",
                    block=focus.block[:2],
                    blocks=run.trace.blocks,
                )
            )
        self.apply(Watch(inside))

    def _show_answer(self, view: str, step: int | None) -> None:
        """Show the view that answers a notice."""
        self.player.play(False)
        self.alter(view=view, moment=1.0)
        if step is not None:
            self.navigation.go_to_step(step)

    # What follows from a run

    def _on_finished(self, run: KnownRun) -> None:
        self.reports.report_run(run)
        if run.outcome.fault is not None:
            self.player.play(False)
        self.apply(Arrive(run))
        self.reports.offer_gpu(self.shot.setup, run)

    def _take(self, run: KnownRun, before: State) -> None:
        """Show a finished run."""
        self.completion.show(run, self.shot.focus)  # before anything asks for its step
        self._report_error()
        self._refocus()
        self.run_changed.emit()
        if before.plays_next:
            self.player.play(True)

    def _report_error(self) -> None:
        self.notices.drop("kernel")
        is_shown_elsewhere = isinstance(self.error, SettingError) or self.shot.setup.kernel.is_in_the_making
        if self.error is not None and not is_shown_elsewhere:
            self.notices.complain("kernel", self.error)
        self.notices.changed.emit()

    def _on_hazards(self) -> None:
        """Go to the first step with a hazard, if playback hasn't started and the position is still step 0."""
        run = self.shown
        assert run is not None
        self.reports.report_hazard(run)
        steps = run.replay.conflicts.steps
        if steps and self.state.step == 0 and not self.player.is_moving:
            self.navigation.go_to_step(min(steps))

    def _on_engine(self) -> None:
        self.comparison.follow(self.shot)
        if not self.completion.is_without_run and (self.shown is None or not self.shown.from_file):
            self._run(again=True)

    def _on_more_known(self) -> None:
        """Redraw with a newly computed value."""
        self.analysis_changed.emit()
        self.position_changed.emit()
