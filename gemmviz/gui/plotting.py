"""Loading of the plotting library in the background: it takes longer than a frame."""

from types import ModuleType

from psygnal import Signal

from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.run.engine import Cancel
from gemmviz.session.session import Session


class Plotting:
    """The state of the plotting library. ``loaded`` is emitted once plots can be created; ``is_loaded``: whether they can."""

    loaded = Signal()

    def __init__(self, session: Session, post: Post) -> None:
        self.is_loaded = False
        self.worker: LatestTask[ModuleType] = LatestTask(
            post, self._on_loaded, lambda error: session.notices.complain("benchmark", error)
        )

    def load(self) -> None:
        """Start loading on the first request, so that windows without plots need not wait."""
        if not self.is_loaded and not self.worker.is_busy:
            self.worker.start(_load)

    def _on_loaded(self, library: ModuleType) -> None:
        self.is_loaded = True
        self.loaded.emit()


def _load(cancelled: Cancel) -> ModuleType:
    import pyqtgraph

    return pyqtgraph  # type: ignore[no-any-return]
