"""Keeps the displayed run up to date with the shot: executes it and reads it through the shot's focus."""

import time
from typing import Protocol

from psygnal import Signal

from gemmviz.analysis.replay.focus import Focus, Position, position_of, step_at
from gemmviz.cuda.launch.legality import device_for, launch_for
from gemmviz.model.cancelling import cancellable
from gemmviz.model.errors import Cancelled, GemmvizError, SettingError
from gemmviz.model.kernel import Launch
from gemmviz.model.records import replace
from gemmviz.model.setup import Setup
from gemmviz.model.translation import tr
from gemmviz.run.cpu.executor import requested_blocks
from gemmviz.session.display import Display
from gemmviz.session.navigation import Navigation
from gemmviz.session.player import Player
from gemmviz.session.reports import Reports
from gemmviz.shots.knowledge import WatchResult
from gemmviz.shots.ready_shot import ReadyShot
from gemmviz.shots.run_slot import RunSlot
from gemmviz.shots.runs import KnownRun
from gemmviz.shots.shot import Shot

# The launch of a setup, computed within the time of one frame.

_SOON_S = 0.03


def launch_soon(setup: Setup) -> Launch:
    """The launch of a setup, as from ``launch_for``. An error names the nearest legal setting only if it is found within 0.03
    s. Raises as ``launch_for``, also if the setup names blocks that don't exist.
    """
    end = time.monotonic() + _SOON_S
    try:
        with cancellable(lambda: time.monotonic() > end):
            launch = launch_for(setup)
    except Cancelled:
        launch = launch_for(setup, with_nearest=False)
    requested_blocks(setup, launch)
    return launch


class HasRun(Protocol):
    """The parts of a session that running a shot reads and changes."""

    shot: Shot
    slot: RunSlot
    launch: Launch | None
    error: GemmvizError | None
    display: Display
    navigation: Navigation
    player: Player
    reports: Reports

    def say(self, sentence: str) -> None: ...


class ShotRunner:
    """Runs the shot of a session. Signals: ``run_changed`` for another run; ``reader_changed`` for another focus on it."""

    run_changed = Signal()
    reader_changed = Signal()

    def __init__(self, session: HasRun) -> None:
        self.session = session
        self.plays_next = False  # whether playback starts with the next run
        session.slot.finished.connect(self._on_finished)
        session.slot.failed.connect(self.fail)
        session.slot.hazards_found.connect(self._on_hazards)

    def start(self, again: bool = False) -> None:
        """Run the shot's setup unless its run is displayed; report the broken limit if it can't run."""
        session, slot, setup = self.session, self.session.slot, self.session.shot.setup
        try:
            session.launch = launch_soon(setup)
            focus = session.shot.focus.within_launch(session.launch, device_for(setup).warp_size)
        except GemmvizError as error:
            slot.stop()
            self.fail(error)
            slot.find_nearest(setup, error)
            return
        session.shot = replace(session.shot, focus=focus)
        if slot.run is not None and slot.run.setup == setup and not again:
            slot.stop()
            self._set_error(None)
            self.refocus()
        else:
            slot.start(setup, focus.block)

    def take_ready(self, ready: ReadyShot) -> None:
        """Show a shot whose picture was prepared, within this call."""
        session, slot = self.session, self.session.slot
        if ready.error is not None and ready.run is None:
            slot.stop()
            session.display.take(ready)
            self.fail(ready.error)
            slot.find_nearest(ready.shot.setup, ready.error)
            return
        session.launch = ready.launch
        focus = session.shot.focus.within_launch(ready.launch, device_for(ready.shot.setup).warp_size)
        session.shot = replace(session.shot, focus=focus)
        if ready.run is None:
            slot.show_launch(ready.shot.setup, ready.facts)
        session.display.take(ready)  # before anything asks for it
        if ready.run is not None:
            self._show_ready_run(ready.run, ready.watched)
        else:
            self._set_error(None)
            session.reports.drop_run()
            self.run_changed.emit()

    def _show_ready_run(self, run: KnownRun, watched: WatchResult | None) -> None:
        """Show a run that is analysed already, unless it is displayed."""
        slot = self.session.slot
        slot.stop()
        if slot.run is not None and slot.run.trace is run.trace:
            self._set_error(None)
            self.refocus()
        else:
            self._on_finished(run, watched)

    def take(self, run: KnownRun, watched: WatchResult | None = None) -> None:
        """Show a finished run at the shot's position. ``watched``: variables that are known already."""
        session = self.session
        self._set_error(None)
        step = step_at(run.trace, session.shot.at)
        session.navigation.run_step = step
        session.shot = replace(session.shot, at=position_of(run.trace, step))
        session.slot.show(run, session.shot.focus, watched)
        self.refocus()
        self.run_changed.emit()
        if self.plays_next:
            self.plays_next = False
            session.player.play(True)

    def take_recorded(self, run: KnownRun) -> None:
        """Show a run from a file from its beginning, without running anything."""
        session = self.session
        session.reports.drop_all()
        session.launch = run.trace.launch
        view = session.display.latest_replay
        session.shot = replace(session.shot, setup=run.setup, view=view, at=Position(), moment=1.0)
        self.take(run)
        session.reports.offer_run(lambda: self.start(again=True))

    def refocus(self) -> None:
        """Read the run through the shot's focus. A block that was not traced is traced, unless the setup names its blocks."""
        session, run = self.session, self.session.slot.run
        if run is None:
            return
        focus = session.shot.focus
        inside = focus.within(run.trace)
        if inside.block != focus.block:
            if not run.from_file and not run.setup.blocks:
                self.start(again=True)
                return
            session.say(
                tr(
                    "Block {block} can't be watched: only blocks {blocks} are traced (see Blocks)",
                    block=focus.block[:2],
                    blocks=run.trace.blocks,
                )
            )
        session.shot = replace(session.shot, focus=inside)
        session.slot.watch(inside)
        session.navigation.count_loads()
        session.navigation.draw_in_background(run.trace.steps)
        self.reader_changed.emit()

    def fail(self, error: GemmvizError) -> None:
        """Report that the shot can't run; the analysis of the displayed run continues."""
        session, notices = self.session, self.session.reports.notices
        notices.drop("kernel")
        if not isinstance(error, SettingError):
            session.player.play(False)
            if not session.shot.setup.kernel.is_in_the_making:
                notices.complain("kernel", error)
        self._set_error(error)
        session.slot.analyse()

    def _set_error(self, error: GemmvizError | None) -> None:
        notices = self.session.reports.notices
        if error is None:
            notices.drop("kernel")
        self.session.error = error and error.kept()
        notices.changed.emit()

    def _on_finished(self, run: KnownRun, watched: WatchResult | None = None) -> None:
        session, fault = self.session, run.outcome.fault
        session.reports.report_run(run)
        if fault is not None:
            session.player.play(False)
            focus = session.shot.focus if fault.block is None else Focus(fault.block)
            session.shot = replace(session.shot, focus=focus, at=position_of(run.trace, run.trace.steps - 1), moment=1.0)
        self.take(run, watched)
        session.reports.offer_gpu(session.shot.setup, run)

    def _on_hazards(self) -> None:
        """Go to the first step with a hazard, if playback hasn't started and the position is still step 0."""
        session, run = self.session, self.session.slot.run
        assert run is not None
        session.reports.report_hazard(run)
        steps = run.replay.conflicts.steps
        if steps and session.navigation.run_step == 0 and not session.player.is_moving:
            session.navigation.go_to_step(min(steps))
