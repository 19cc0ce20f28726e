"""Watches one file for changes by polling, so that a file that is deleted and written again is noticed too."""

import threading
from collections.abc import Callable
from pathlib import Path

from gemmviz.jobs.events import Post

_POLL_S = 0.2
_FileState = tuple[int, int, int]


class FileWatcher:
    """A watcher of one file. ``on_changed`` is called through ``post`` once a changed file stays the same for 0.2 s."""

    def __init__(self, post: Post, on_changed: Callable[[], None]) -> None:
        self._post, self._on_changed = post, on_changed
        self._stop = threading.Event()

    def follow(self, path: Path | None) -> None:
        """Watches this file instead of the one before; None stops watching."""
        self._stop.set()
        self._stop = threading.Event()
        if path is not None:
            state = _file_state(path)
            threading.Thread(target=self._watch, args=(path, state, self._stop), name="gemmviz-file", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def _watch(self, path: Path, reported: _FileState | None, stop: threading.Event) -> None:
        before = reported
        while not stop.wait(_POLL_S):
            now = _file_state(path)
            if now is not None and now != reported and now == before:
                reported = now
                self._post(lambda: None if stop.is_set() else self._on_changed())
            before = now


def _file_state(path: Path) -> _FileState | None:
    """Modification time in ns, size in bytes and inode of a file; None if there is no file."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
