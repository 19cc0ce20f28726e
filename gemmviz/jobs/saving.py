"""Writes files in the background, one after the other, without losing any."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from gemmviz.jobs.events import Post
from gemmviz.model.errors import GemmvizError
from gemmviz.model.translation import tr


class SaveQueue:
    """A queue of files to write. ``post`` runs a function on the thread that owns the queue: callbacks are called there."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gemmviz-saving")
        self._last: Future[None] | None = None

    def start(
        self,
        path: Path,
        write: Callable[[Path], None],
        on_saved: Callable[[Path], None],
        on_failed: Callable[[GemmvizError], None],
        at_once: bool = False,
    ) -> None:
        """Writes a file, then calls ``on_saved`` with its path, or ``on_failed``. ``at_once``: here, before returning."""

        def work() -> None:
            try:
                write(path)
            except GemmvizError as failure:
                error = failure
                self._post(lambda: on_failed(error))
            except Exception as failure:  # no save fails silently
                unexpected = GemmvizError(
                    tr("can't write: {name} {failure}", name=type(failure).__name__, failure=failure), file=str(path)
                )
                self._post(lambda: on_failed(unexpected))
            else:
                self._post(lambda: on_saved(path))

        if at_once:
            work()
        else:
            self._last = self._pool.submit(work)

    def close(self, timeout_s: float) -> bool:
        """Accepts no more files. Returns whether all are written within ``timeout_s`` seconds."""
        self._pool.shutdown(wait=False)
        return self._last is None or not wait([self._last], timeout_s).not_done
