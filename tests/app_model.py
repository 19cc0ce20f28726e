"""A session without a window: what other threads post is run here, while a test waits."""

import queue
import time
from collections.abc import Callable
from pathlib import Path

from gemmviz.session.app_model import AppModel

_LONG_S = 30.0


class Inbox:
    """Takes the place of a window's loop."""

    def __init__(self) -> None:
        self._posted: queue.Queue[Callable[[], None]] = queue.Queue()

    def post(self, action: Callable[[], None]) -> None:
        self._posted.put(action)

    def until(self, ready: Callable[[], bool], within_s: float = _LONG_S) -> None:
        """Runs what is posted until something is so."""
        end = time.monotonic() + within_s
        while not ready():
            assert time.monotonic() < end, "it doesn't come"
            try:
                self._posted.get(timeout=0.02)()
            except queue.Empty:
                continue


class TestModel(AppModel):
    """An application whose posted work is done while a test waits."""

    __test__ = False

    def __init__(self) -> None:
        self.inbox = Inbox()
        super().__init__(self.inbox.post)

    def open(self, path: Path) -> None:
        """Opens a file, and waits until it is read."""
        self.opening.open(path)
        self.inbox.until(lambda: not self.opening.is_busy)

    def settle(self) -> None:
        """Waits until the picture is that of the shot, or can't be had."""
        self.inbox.until(
            lambda: not (self.opening.is_busy or self.session.is_busy or self.course.is_waiting or self.saved_views.is_waiting)
        )

    def know(self) -> None:
        """Waits until everything about it is known."""
        self.inbox.until(lambda: not self.session.is_working)
