"""A session: the current shot, the displayed run, and the position in it. Independent of any window."""

from typing import Any, Generic, TypeVar

from psygnal import Signal

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.errors import GemmvizError
from gemmviz.model.kernel import Launch
from gemmviz.model.translation import tr
from gemmviz.session.display import Comparison, Display
from gemmviz.session.navigation import Navigation
from gemmviz.session.player import Player
from gemmviz.session.reports import Reports
from gemmviz.session.running import ShotRunner
from gemmviz.shots.benchmarks import Benchmarks
from gemmviz.shots.jobs import Engines, LatestTask, Post
from gemmviz.shots.notices import Notices
from gemmviz.shots.ready_shot import ReadyShot
from gemmviz.shots.requested_sizes import RequestedSizes
from gemmviz.shots.run_slot import RunSlot
from gemmviz.shots.runs import KnownRun
from gemmviz.shots.shot import DRAGGED, Shot, change_name, default_shot

# A generic undo list.

State = TypeVar("State")
_MOST = 200


class Undo(Generic[State]):
    """Entries with the names of the changes that led to them. ``settle`` updates the present entry; ``note`` adds an entry and
    discards the undone ones.
    """

    def __init__(self, first: State) -> None:
        self._entries: list[tuple[State, str]] = [(first, "")]
        self._at = 0

    @property
    def present(self) -> State:
        return self._entries[self._at][0]

    @property
    def undo_name(self) -> str | None:
        """Name of the change that ``undo`` reverts; None if there is none."""
        return self._entries[self._at][1] if self._at else None

    @property
    def redo_name(self) -> str | None:
        return self._entries[self._at + 1][1] if self._at + 1 < len(self._entries) else None

    def settle(self, entry: State) -> None:
        """Update the present entry."""
        self._entries[self._at] = entry, self._entries[self._at][1]

    def note(self, entry: State, name: str) -> None:
        """Add an entry after the change ``name``."""
        del self._entries[self._at + 1 :]
        self._entries.append((entry, name))
        del self._entries[:-_MOST]
        self._at = len(self._entries) - 1

    def undo(self) -> State:
        """Go back one entry, if there is one, and return it."""
        self._at = max(0, self._at - 1)
        return self.present

    def redo(self) -> State:
        self._at = min(len(self._entries) - 1, self._at + 1)
        return self.present


# Undo history: shots, each with the sizes that were requested for it.

Entry = tuple[Shot, RequestedSizes]


class History:
    """Named changes that can be undone. Dragging one value is a single change."""

    def __init__(self, present: Entry) -> None:
        self._undo = Undo(present)

    @property
    def undo_name(self) -> str | None:
        """Name of the change that ``undo`` reverts; None if there is none."""
        return self._undo.undo_name

    @property
    def redo_name(self) -> str | None:
        return self._undo.redo_name

    def restart(self, present: Entry) -> None:
        self._undo = Undo(present)

    def leave(self, present: Entry, name: str = "") -> None:
        """Update the present entry before a change of this name."""
        if not name == DRAGGED == self.undo_name:
            self._undo.settle(present)

    def arrive(self, present: Entry, name: str) -> None:
        """Add the entry that results from a change of this name."""
        if name == DRAGGED == self.undo_name:
            self._undo.settle(present)
        else:
            self._undo.note(present, name)

    def undo(self) -> Entry:
        return self._undo.undo()

    def redo(self) -> Entry:
        return self._undo.redo()


class Session:
    """The current shot and its run. ``shot``: what to display; ``requested``: the sizes requested for it; ``slot``: the
    displayed run; ``error``: why that run is not the shot's. ``post`` runs a function on the thread that owns the session, the
    only thread that may use it.

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
        self.shot = shot or default_shot()
        self.requested = RequestedSizes.of(self.shot.setup)
        self.launch: Launch | None = None
        self.error: GemmvizError | None = None
        self.edited = ""  # name of the field that was set last
        self.system_is_dark = True
        self.engines, self.benchmarks = engines or Engines(post), Benchmarks(post)
        self.notices = Notices()
        self.reports = Reports(self.notices, self.engines)
        self.slot, self.comparison = RunSlot(post, self.engines), Comparison(post, self.engines)
        self.history = History(self._entry)
        self.display = Display(self, post, self._on_more_known)
        self.navigation = Navigation(self, self.position_changed.emit)
        self.player = Player(self.navigation)
        self.runner = ShotRunner(self)
        self._connect()

    def _connect(self) -> None:
        self.engines.changed.connect(self._on_engine)
        self.reports.follow(self.slot, self.comparison.slot, self.benchmarks)
        self.runner.run_changed.connect(self.run_changed.emit)
        for changed in (self.runner.reader_changed, self.slot.analysis_changed):
            changed.connect(self.analysis_changed.emit)
        self.slot.busy_changed.connect(self.busy_changed.emit)
        self.comparison.slot.analysis_changed.connect(self._on_more_known)

    # What is displayed

    @property
    def shown(self) -> KnownRun | None:
        """The displayed run; None before the first."""
        return self.slot.run

    @property
    def now(self) -> Moment | None:
        """The displayed step of the displayed run."""
        return self.slot.reading.at(self.navigation.run_step)

    @property
    def is_stale(self) -> bool:
        """Whether the displayed run is not the shot's."""
        return self.error is not None and self.shown is not None

    @property
    def is_busy(self) -> bool:
        """Whether an engine is running the shot's setup."""
        return self.slot.is_running

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
        return (*self.slot.workers, *self.comparison.slot.workers, *self.display.workers)

    @property
    def _entry(self) -> Entry:
        return self.shot, self.requested

    # Changing the shot

    def start(self, shot: Shot | None = None, plays: bool = False) -> None:
        """Show the first picture, and start playback with it if ``plays``."""
        self.shot = shot or self.shot
        self._follow()
        self.requested = RequestedSizes.of(self.shot.setup)
        self.history.restart(self._entry)
        self.runner.plays_next = plays
        self.runner.start()
        self.shot_changed.emit()

    def show(self, shot: Shot, requested: RequestedSizes | None = None, ready: ReadyShot | None = None) -> None:
        """Show another shot. Deliberate changes can be undone. ``ready``: what the picture needs, if it was prepared: then the
        picture is complete when this call returns.
        """
        name = change_name(self.shot, shot)
        if name:
            self.history.leave(self._entry, name)
        self._become(shot, requested or self.requested, ready)
        if name:
            self.history.arrive(self._entry, name)
        self.shot_changed.emit()

    def undo(self) -> None:
        if self.history.undo_name is not None:
            self.history.leave(self._entry)
            self._restore(self.history.undo())

    def redo(self) -> None:
        if self.history.redo_name is not None:
            self.history.leave(self._entry)
            self._restore(self.history.redo())

    def show_recorded(self, run: KnownRun, name: str) -> None:
        """Show a run from a file without running anything."""
        self.stop_running()
        self.history.leave(self._entry)
        self.requested = RequestedSizes.of(run.setup)
        self.runner.take_recorded(run)
        self.history.arrive(self._entry, tr("trace {name}", name=name))
        self.shot_changed.emit()

    def stop_running(self) -> None:
        """Stop running the shot; the displayed run stays."""
        self.player.play(False)
        self.slot.stop()

    def say(self, sentence: str) -> None:
        """Show a temporary message."""
        self.message.emit(sentence)

    def close(self) -> None:
        """Cancel all work and accept no more."""
        self.player.play(False)
        for each in (self.slot, self.comparison.slot, self.display, self.benchmarks, self.engines):
            each.close()

    def _restore(self, entry: Entry) -> None:
        self.player.play(False)
        self._become(*entry)
        self.shot_changed.emit()

    def _become(self, shot: Shot, requested: RequestedSizes, ready: ReadyShot | None = None) -> None:
        before, self.shot, self.requested = self.shot, shot, requested
        if ready is not None and ready.compared is not None and ready.is_for(shot):
            self.comparison.take(ready.compared, shot.focus)
        self._follow()
        if ready is not None and ready.is_for(shot):
            self.runner.take_ready(ready)
        elif shot.setup != before.setup or self.is_stale or (self.shown is None and not self.slot.suffices(shot)):
            self.runner.start()
        elif shot.focus != before.focus:
            self.runner.refocus()
        elif shot.view != before.view:
            self.navigation.draw_in_background()
        self.navigation.count_loads()
        if shot.at != before.at:
            self.navigation.go_to_position(shot)

    def _follow(self) -> None:
        self.comparison.follow(self.shot)
        self.display.follow(self.shot)

    def _on_engine(self) -> None:
        self.comparison.follow(self.shot)
        if not self.slot.is_without_run and (self.shown is None or not self.shown.from_file):
            self.runner.start(again=True)

    def _on_more_known(self) -> None:
        """Redraw with a newly computed value."""
        self.analysis_changed.emit()
        self.position_changed.emit()
