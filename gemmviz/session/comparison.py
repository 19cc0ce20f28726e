"""The run that a shot is compared with: executed for the comparison, or pinned as displayed."""

from gemmviz.analysis.replay.focus import Focus
from gemmviz.jobs.engines import Engines
from gemmviz.jobs.events import Post
from gemmviz.state.shot import Shot
from gemmviz.subjects.run_slot import RunSlot
from gemmviz.subjects.runs import KnownRun
from gemmviz.subjects.subject import Compared


class Comparison:
    """Run and analysis of the other side of a comparison, in ``slot``."""

    def __init__(self, post: Post, engines: Engines) -> None:
        self.engines = engines
        self.slot = RunSlot(post, engines)
        self._focus = Focus()
        self._is_pinned = False
        self.slot.finished.connect(self._on_finished)

    @property
    def compared(self) -> Compared | None:
        """The other run in the form that subjects take; None until it is available."""
        run, reader = self.slot.run, self.slot.reader
        return None if run is None or reader is None else Compared(reader, run.facts)

    def follow(self, shot: Shot) -> None:
        """Run the setup that ``shot`` is compared with, unless its run is available, and apply the shot's focus to it."""
        slot, against = self.slot, shot.against
        if shot.focus != self._focus:
            self._focus = shot.focus
            if slot.run is not None:
                slot.watch(self._focus.within(slot.run.trace))
        if against is None:
            self._is_pinned = False
            if slot.setup is not None:
                slot.clear()
            return
        is_same_engine = slot.engine is self.engines.engine_for(against.setup.kernel)
        if slot.setup == against.setup and (self._is_pinned or is_same_engine):
            return
        slot.clear()
        self._is_pinned = False
        slot.start(against.setup, (0, 0, 0))

    def pin(self, run: KnownRun) -> None:
        """Pin a finished run; only missing parts of its analysis are computed."""
        self.slot.clear()
        self._is_pinned = True
        self._on_finished(run)

    def take(self, run: KnownRun, focus: Focus) -> None:
        """Use a run that was analysed before it is shown, as if ``follow`` had started it."""
        if self.slot.run is not run:
            self.slot.clear()
            self._is_pinned, self._focus = False, focus
            self.slot.show(run, focus.within(run.trace))

    def _on_finished(self, run: KnownRun) -> None:
        self.slot.show(run, self._focus.within(run.trace))
        self.slot.analyse()
        self.slot.analysis_changed.emit()
