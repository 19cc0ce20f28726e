"""Reads what is shown, step by step; what the reuse map needs after a jump is counted beside what draws."""

from collections.abc import Callable

from gemmviz.analysis.focus import Focus
from gemmviz.analysis.moment import Moment, Reader
from gemmviz.analysis.replay import Replay
from gemmviz.model.watched import Watched
from gemmviz.run.engine import Cancel
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.frame import HEIGHT, WIDTH, ViewOptions
from gemmviz.show.events import Post
from gemmviz.show.tasks import Latest

MAPPED = "stage"  # the view that has a reuse map
_MOST_COUNTED_AT_ONCE = 1 << 22  # loads between one frame and the next


class Reading:
    """The reader of a replay, and how far it has counted loads. ``done`` is called when it has caught up with a jump; how
    finely loads are counted depends on the ``size`` of the frames that are drawn, in units.
    """

    def __init__(self, post: Post, done: Callable[[], None]) -> None:
        self.reader: Reader | None = None
        self.size = (WIDTH, HEIGHT)
        self.lane: Latest[tuple[Reader, int]] = Latest(post, self._on_counted, lambda error: None)
        self._done = done
        self._counted = -1

    @property
    def is_counting(self) -> bool:
        return self.lane.is_busy

    def at(self, step: int) -> Moment | None:
        return None if self.reader is None else self.reader.at(step)

    def begin(self, replay: Replay, focus: Focus) -> None:
        """Another replay, or through another focus."""
        self.lane.cancel()
        self.reader = Reader(replay, focus)
        self.forget()

    def know(self, watched: Watched | None) -> None:
        """The variables of the first of the watched threads."""
        if self.reader is not None:
            self.reader.watched = watched

    def forget(self) -> None:
        """What was counted was for another picture."""
        self._counted = -1

    def count(self, step: int, options: ViewOptions) -> None:
        """Up to a step, for a frame that is drawn so: from one step to the next that is done as it is drawn."""
        if self.reader is None or self.lane.is_busy:
            return
        threads = self.reader.scope.threads
        if abs(step - self._counted) * (threads.stop - threads.start) <= _MOST_COUNTED_AT_ONCE:
            self._counted = step
            return
        reader = Reader(self.reader.replay, self.reader.scope.focus)
        reader.watched = self.reader.watched

        def work(cancelled: Cancel) -> tuple[Reader, int]:
            view_named(MAPPED).scene(reader.at(step), options)
            return reader, step

        self.lane.start(work)

    def _on_counted(self, counted: tuple[Reader, int]) -> None:
        self.reader, self._counted = counted
        self._done()
