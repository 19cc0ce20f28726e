"""Work off the thread that draws: newer work cancels older work, and every outcome is brought back to that thread."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Generic, TypeVar

from gemmviz.jobs.events import Post
from gemmviz.model.cancelling import cancellable
from gemmviz.model.errors import Cancelled, GemmvizError
from gemmviz.run.engine import Cancel

Result = TypeVar("Result")
_NO_MEMORY = "there is not enough memory for this"


class LatestTask(Generic[Result]):
    """Does one thing at a time, the latest: ``last``, which begins once all before it are over. ``post`` runs a function on the
    thread that owns this; ``done`` and ``failed`` are called there, and never for work that was cancelled.
    """

    def __init__(self, post: Post, done: Callable[[Result], Any], failed: Callable[[GemmvizError], Any]) -> None:
        self._post, self._done, self._failed = post, done, failed
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gemmviz")
        self.last: Future[None] | None = None
        self._cancel = threading.Event()
        self._closed = False
        self.is_busy = False

    def start(self, work: Callable[[Cancel], Result], delay_s: float = 0.0) -> None:
        """Begins once what runs has noticed that it is cancelled, and not before ``delay_s`` has passed."""
        self.cancel()
        if not self._closed:
            self._cancel = threading.Event()
            self.is_busy = True
            self.last = self._pool.submit(self._run, work, self._cancel, delay_s)

    def cancel(self) -> None:
        self._cancel.set()
        self.is_busy = False

    def close(self) -> None:
        """Cancels, for the end of the program; ``have_ended`` waits."""
        self._closed = True
        self.cancel()
        self._pool.shutdown(wait=False)

    def _run(self, work: Callable[[Cancel], Result], cancel: threading.Event, delay_s: float) -> None:
        if cancel.wait(delay_s) if delay_s else cancel.is_set():
            return
        try:
            with cancellable(cancel.is_set):
                result = work(cancel.is_set)
        except Cancelled:
            return
        except GemmvizError as error:
            self._deliver(cancel, self._failed, error)
        except MemoryError:
            too_much = GemmvizError(_NO_MEMORY, remedy="choose smaller sizes or fewer blocks")
            self._deliver(cancel, self._failed, too_much)
        except Exception as error:  # the loop that must not let one task's bug end the program
            self._deliver(cancel, self._failed, GemmvizError(f"gemmviz failed here: {type(error).__name__}: {error}"))
        else:
            self._deliver(cancel, self._done, result)

    def _deliver(self, cancel: threading.Event, listener: Callable[[Any], Any], outcome: Any) -> None:
        def tell() -> None:
            if cancel is self._cancel and not cancel.is_set():
                self.is_busy = False
                listener(outcome)

        self._post(tell)


def have_ended(workers: Iterable[LatestTask[Any]], timeout_s: float) -> bool:
    """Whether all their work comes to its end within this time."""
    return not wait([worker.last for worker in workers if worker.last is not None], timeout_s).not_done
