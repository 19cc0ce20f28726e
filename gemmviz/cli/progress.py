"""How far something is that takes a while, for who waits at a terminal."""

import sys
import time

from gemmviz.model.cancelling import checkpoint
from gemmviz.session.export_job import SAVED

_EVERY_S = 2.0


class ProgressBar:
    """Says every other second how much is done, and for how long it will go on; to another program, where one is told, each
    picture as it is done.
    """

    def __init__(self, what: str, is_told: bool = False) -> None:
        self._what, self._is_told = what, is_told
        self._began = self._said = time.monotonic()

    def told(self, done: int, of: int) -> None:
        """So many pictures of so many are done. Raises Cancelled if the command was interrupted."""
        checkpoint()
        if self._is_told:
            print(done, of, flush=True)
            return
        now = time.monotonic()
        if done and now - self._said >= _EVERY_S and sys.stderr.isatty():
            self._said = now
            left = (now - self._began) / done * (of - done)
            print(f"{self._what}: {done} of {of}, {left:.0f} s left", file=sys.stderr)

    def saved(self) -> None:
        """Tells another program that the file is complete: the exit code speaks of the kernel."""
        if self._is_told:
            print(SAVED, flush=True)
