"""Work that somebody may call off: whoever does it looks now and then whether it is still wanted."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gemmviz.model.errors import Cancelled

_asked: ContextVar[Callable[[], bool] | None] = ContextVar("cancelled", default=None)


@contextmanager
def cancellable(cancelled: Callable[[], bool]) -> Iterator[None]:
    """Whatever runs within ends with Cancelled at its next checkpoint once ``cancelled()`` is true."""
    assert cancelled is not is_cancelled, "it would ask itself"
    before = _asked.set(cancelled)
    try:
        yield
    finally:
        _asked.reset(before)


def is_cancelled() -> bool:
    """Whether nobody waits for this thread's work any more."""
    asked = _asked.get()
    return asked is not None and asked()


def checkpoint() -> None:
    """Raises Cancelled where nobody waits for this thread's work any more."""
    if is_cancelled():
        raise Cancelled
