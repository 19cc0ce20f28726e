"""A background task of which only the latest counts: newer work cancels older work, results return to the owner's thread."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Generic, TypeVar

from gemmviz.jobs.events import Post
from gemmviz.model.cancelling import cancellable
from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.model.translation import marked, tr
from gemmviz.run.engine import Cancel

_Result = TypeVar("_Result")
_NO_MEMORY = marked("there is not enough memory for this")


class LatestTask(Generic[_Result]):
    """Runs one function at a time on a worker thread; starting another one cancels the one before.

    ``post`` runs a function on the thread that owns the task. ``on_done`` gets the result and ``on_failed`` the error there;
    neither is called for cancelled work. ``last`` is the future of the latest work.
    """

    def __init__(self, post: Post, on_done: Callable[[_Result], Any], on_failed: Callable[[GemmvizError], Any]) -> None:
        self._post, self._on_done, self._on_failed = post, on_done, on_failed
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gemmviz")
        self.last: Future[None] | None = None
        self._cancel = threading.Event()
        self._closed = False
        self.is_busy = False

    def start(self, work: Callable[[Cancel], _Result], delay_s: float = 0.0) -> None:
        """Cancels the present work and runs ``work`` after it has ended, at least ``delay_s`` seconds from now."""
        self.cancel()
        if not self._closed:
            self._cancel = threading.Event()
            self.is_busy = True
            self.last = self._pool.submit(self._run, work, self._cancel, delay_s)

    def cancel(self) -> None:
        self._cancel.set()
        self.is_busy = False

    def close(self) -> None:
        """Cancels and accepts no more work. ``wait_for_tasks`` waits for the end."""
        self._closed = True
        self.cancel()
        self._pool.shutdown(wait=False)

    def _run(self, work: Callable[[Cancel], _Result], cancel: threading.Event, delay_s: float) -> None:
        if cancel.wait(delay_s) if delay_s else cancel.is_set():
            return
        try:
            with cancellable(cancel.is_set):
                result = work(cancel.is_set)
        except Cancelled:
            return
        except GemmvizError as error:
            self._deliver(cancel, self._on_failed, error.kept())
        except MemoryError:
            too_much = GemmvizError(tr(_NO_MEMORY), remedy=tr("choose smaller sizes or fewer blocks"))
            self._deliver(cancel, self._on_failed, too_much)
        except Exception as error:  # a bug in one task must not end the program
            self._deliver(
                cancel,
                self._on_failed,
                GemmvizError(tr("internal error: {name}: {error}", name=type(error).__name__, error=error)),
            )
        else:
            self._deliver(cancel, self._on_done, result)

    def _deliver(self, cancel: threading.Event, callback: Callable[[Any], Any], outcome: Any) -> None:
        def deliver() -> None:
            if cancel is self._cancel and not cancel.is_set():
                self.is_busy = False
                callback(outcome)

        self._post(deliver)


def wait_for_tasks(tasks: Iterable[LatestTask[Any]], timeout_s: float) -> bool:
    """Waits at most ``timeout_s`` seconds for the work of all tasks; returns whether it has ended."""
    return not wait([task.last for task in tasks if task.last is not None], timeout_s).not_done
