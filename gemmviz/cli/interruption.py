"""Interruption of a command between two pictures, by Ctrl+C or by the window."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gemmviz.model.cancelling import cancellable

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """Make SIGINT and SIGTERM raise Cancelled at the next checkpoint of the body; a second signal ends the program.

    An exception raised by Python's own signal handler while Qt paints would crash Qt.
    """
    received: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)

    before = {each: signal.signal(each, note) for each in _SIGNALS}
    try:
        with cancellable(lambda: bool(received)):
            yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
