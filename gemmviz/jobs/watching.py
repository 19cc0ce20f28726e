"""Follows one file: tells when it has been written again, also when it was deleted in between."""

import threading
from collections.abc import Callable
from pathlib import Path

from gemmviz.jobs.events import Post

_POLL_S = 0.2
State = tuple[int, int, int]


class Following:
    """``changed`` is called through ``post``, once what is written has come to rest."""

    def __init__(self, post: Post, changed: Callable[[], None]) -> None:
        self._post, self._changed = post, changed
        self._stop = threading.Event()

    def follow(self, path: Path | None) -> None:
        """This file from now on, and no other; None for no file."""
        self._stop.set()
        self._stop = threading.Event()
        if path is not None:
            known = _state(path)
            threading.Thread(target=self._watch, args=(path, known, self._stop), name="gemmviz-file", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def _watch(self, path: Path, known: State | None, stop: threading.Event) -> None:
        before = known
        while not stop.wait(_POLL_S):
            now = _state(path)
            if now is not None and now != known and now == before:
                known = now
                self._post(lambda: None if stop.is_set() else self._changed())
            before = now


def _state(path: Path) -> State | None:
    """What changes with every writing; None for a file that isn't there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
