"""Ends a command between two pictures when a person, or the window, interrupts it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gemmviz.model.cancelling import cancellable

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible() -> Iterator[None]:
    """Makes SIGINT and SIGTERM end what runs within at its next checkpoint, with Cancelled; a second signal ends the program.

    An exception that Python raises out of a signal, in the middle of painting, crashes Qt.
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
