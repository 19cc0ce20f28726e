"""How far something is that takes a while, for who waits at a terminal."""

import sys
import time

_EVERY_S = 2.0


class Progress:
    """Says every other second how much is done, and for how long it will go on."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = self._said = time.monotonic()

    def told(self, done: int, of: int) -> None:
        """So many pictures of so many are done."""
        now = time.monotonic()
        if done and now - self._said >= _EVERY_S and sys.stderr.isatty():
            self._said = now
            left = (now - self._began) / done * (of - done)
            print(f"{self._what}: {done} of {of}, {left:.0f} s left", file=sys.stderr)
