"""Description of the cell under the pointer; its history is looked up in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psygnal import Signal

from gemmviz.analysis.replay.moment import Moment
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.scenes.kit.counting import counted_text
from gemmviz.scenes.kit.primitives import Hit
from gemmviz.session.session import Session

if TYPE_CHECKING:
    from gemmviz.analysis.replay.history import ElementHistory


class PointerTool:
    """Emits ``lines_changed`` with the lines about the cell under the pointer, empty for none."""

    lines_changed = Signal(object)

    def __init__(self, session: Session, post: Post) -> None:
        self.session = session
        self.worker: LatestTask[tuple[Moment, Hit, ElementHistory]] = LatestTask(post, self._on_history, lambda error: None)

    def at(self, hit: Hit | None) -> None:
        """Set the cell under the pointer; None for none."""
        from gemmviz.analysis.replay.history import element_history
        from gemmviz.scenes.stage.hover import hover_lines, pointed_at

        if hit is not None and hit.cells.tips is not None:
            self.worker.cancel()
            self._emit([line for line in str(hit.cells.tips[hit.row, hit.column]).split("\n") if line])
            return
        now = self.session.now
        target = None if hit is None or now is None else pointed_at(now.trace, hit)
        if hit is None or now is None or target is None:
            self.worker.cancel()
            self._emit([])
        elif hit.cells.factor > 1:
            self.worker.cancel()
            self._emit(hover_lines(now, hit, labels=self.session.shot.labels))
        else:
            number, element = target
            self.worker.start(lambda cancelled: (now, hit, element_history(now, number, element)))

    def _emit(self, lines: list[str]) -> None:
        """Emit the lines, with their counts hidden while a question is open."""
        share = self.session.display.counted
        self.lines_changed.emit([counted_text(each, share) for each in lines])

    def close(self) -> None:
        self.worker.close()

    def _on_history(self, result: tuple[Moment, Hit, ElementHistory]) -> None:
        from gemmviz.scenes.stage.hover import hover_lines

        moment, hit, history = result
        if self.session.now is moment:
            self._emit(hover_lines(moment, hit, history, self.session.shot.labels))
