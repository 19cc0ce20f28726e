"""Cooperative cancelling: long work calls ``checkpoint()`` now and then, which raises Cancelled if the work was cancelled."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gemmviz.model.errors import Cancelled

_cancelled: ContextVar[Callable[[], bool] | None] = ContextVar("cancelled", default=None)


@contextmanager
def cancellable(cancelled: Callable[[], bool]) -> Iterator[None]:
    """A context in which checkpoints raise Cancelled once ``cancelled()`` is true."""
    assert cancelled is not is_cancelled, "is_cancelled can't depend on itself"
    before = _cancelled.set(cancelled)
    try:
        yield
    finally:
        _cancelled.reset(before)


def is_cancelled() -> bool:
    """Whether the work of this thread was cancelled."""
    cancelled = _cancelled.get()
    return cancelled is not None and cancelled()


def checkpoint() -> None:
    """Raises Cancelled if the work of this thread was cancelled."""
    if is_cancelled():
        raise Cancelled
