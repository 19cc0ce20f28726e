"""Writes files off the thread that draws, one after the other: none of them gets lost."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from gemmviz.jobs.events import Post
from gemmviz.model.errors import GemmvizError


class Saving:
    """``post`` runs a function on the thread that owns this; what is done with an outcome is called there."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gemmviz-saving")
        self._last: Future[None] | None = None

    def start(
        self,
        path: Path,
        write: Callable[[Path], None],
        saved: Callable[[Path], None],
        failed: Callable[[GemmvizError], None],
        here: bool = False,
    ) -> None:
        """Writes; then tells the path, or why it can't be written. ``here``: on this thread, at once."""

        def work() -> None:
            try:
                write(path)
            except GemmvizError as failure:
                error = failure
                self._post(lambda: failed(error))
            except Exception as failure:  # no save is lost without a word
                odd = GemmvizError(f"can't write: {type(failure).__name__} {failure}", file=str(path))
                self._post(lambda: failed(odd))
            else:
                self._post(lambda: saved(path))

        if here:
            work()
        else:
            self._last = self._pool.submit(work)

    def close(self, timeout_s: float) -> bool:
        """Whether all is written, within this time."""
        self._pool.shutdown(wait=False)
        return self._last is None or not wait([self._last], timeout_s).not_done
