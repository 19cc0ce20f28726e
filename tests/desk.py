"""A session without a window: what other threads post is run here, while a test waits."""

import queue
import time
from collections.abc import Callable
from pathlib import Path

from gemmviz.session.lesson_editor import LessonEditor
from gemmviz.session.lesson_player import LessonPlayer
from gemmviz.session.opening import Opening
from gemmviz.session.session import Session

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


class AppModel:
    """A session with what opens files into it."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self.session = Session(self.inbox.post)
        self.bookmarks = LessonEditor(self.session, self.inbox.post)
        self.course = LessonPlayer(self.session, self.inbox.post)
        self.opening = Opening(self.session, self.inbox.post, self.bookmarks, self.course)

    def open(self, path: Path) -> None:
        """Opens a file, and waits until it is read."""
        self.opening.open(path)
        self.inbox.until(lambda: not self.opening.is_busy)

    def settle(self) -> None:
        """Until the picture is that of what is asked for, or it is known why not."""
        self.inbox.until(lambda: not self.opening.is_busy and not self.session.is_busy)

    def know(self) -> None:
        """Until all is known of it."""
        self.inbox.until(lambda: not self.session.is_working)
