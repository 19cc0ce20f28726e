"""Progress of a long command on a terminal."""

import sys
import time

from gemmviz.model.cancelling import checkpoint
from gemmviz.session.export_job import SAVED

_EVERY_S = 2.0


class ProgressBar:
    """A progress report. On a terminal it prints the state and the remaining time every other second; for a calling program,
    every picture.
    """

    def __init__(self, what: str, for_program: bool = False) -> None:
        self._what, self._for_program = what, for_program
        self._began = self._printed = time.monotonic()

    def update(self, done: int, of: int) -> None:
        """Report how many pictures are done. Raises Cancelled if the command was interrupted."""
        checkpoint()
        if self._for_program:
            print(done, of, flush=True)
            return
        now = time.monotonic()
        if done and now - self._printed >= _EVERY_S and sys.stderr.isatty():
            self._printed = now
            left = (now - self._began) / done * (of - done)
            print(f"{self._what}: {done} of {of}, {left:.0f} s left", file=sys.stderr)

    def saved(self) -> None:
        """Report to a calling program that the file is complete. The exit code can't, because it also depends on the kernel."""
        if self._for_program:
            print(SAVED, flush=True)
