"""Reads the displayed run step by step; slow parts are computed in the background."""

from collections.abc import Callable
from typing import Any

from gemmviz.analysis.replay.focus import Focus
from gemmviz.analysis.replay.moment import Moment, Reader
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.outcome import Watched
from gemmviz.model.trace import Trace
from gemmviz.run.engine import Cancel
from gemmviz.scenes.catalog import view_named
from gemmviz.scenes.kit.frame import HEIGHT, WIDTH, ViewOptions
from gemmviz.shots.jobs import LatestTask, Post

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
        return self.reader is not None and not is_small(self.reader.replay.trace)

    def at(self, step: int) -> Moment | None:
        return None if self.reader is None else self.reader.at(step)

    def begin(self, replay: Replay, focus: Focus) -> None:
        """Read another replay, or the same one through another focus."""
        for worker in self.workers:
            worker.cancel()
        if self.reader is None or self.reader.replay.trace is not replay.trace:
            self._known = set()
        self.reader = Reader(replay, focus)
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

        def work(cancelled: Cancel) -> tuple[Reader, int]:
            view_named(MAPPED).scene(reader.at(step), options)
            return reader, step

        self._counting.start(work)

    def _on_counted(self, counted: tuple[Reader, int]) -> None:
        self.reader, self._counted = counted
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

        def work(cancelled: Cancel) -> tuple[Reader, str]:
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


def is_small(trace: Trace) -> bool:
    """Whether any view of a trace can be drawn within a frame."""
    return trace.element.size + len(trace.element) * _PER_STEP <= _SMALL
