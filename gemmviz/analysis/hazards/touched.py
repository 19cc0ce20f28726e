"""The threads that have touched the elements of one array since the last barrier, and in asynchronous steps that are
under way.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Bools

_NOBODY = np.iinfo(np.int32).max


class Touched:
    """Lowest and highest thread that touched each element since the last barrier, and the step of the latest access."""

    def __init__(self, blocks: int, size: int) -> None:
        self.low = np.full((blocks, size), _NOBODY, np.int32)
        self.high = np.full((blocks, size), -1, np.int32)
        self.step = np.full((blocks, size), -1, np.int64)

    def other(self, at: Any, who: npt.NDArray[np.int32], unit: int) -> npt.NDArray[np.int32]:
        """For each access a thread of another unit (a thread, or a warp of ``unit`` threads) that touched the same element, or
        -1. The lowest and the highest suffice, because units are runs of threads.
        """
        low, high, own = self.low[at], self.high[at], who // unit
        others = np.where((high >= 0) & (high // unit != own), high, -1)
        return np.where((low != _NOBODY) & (low // unit != own), low, others)

    def add(self, at: Any, who: npt.NDArray[np.int32], step: int) -> None:
        np.minimum.at(self.low, at, who)
        np.maximum.at(self.high, at, who)
        self.step[at] = step

    def spread(self, blocks: int) -> None:
        """Repeats the state of one block for ``blocks`` blocks."""
        self.low = np.repeat(self.low, blocks, axis=0)
        self.high = np.repeat(self.high, blocks, axis=0)
        self.step = np.repeat(self.step, blocks, axis=0)

    def forget(self, which: Bools) -> None:
        """Removes the accesses of some threads (blocks, threads). Accesses of threads between the lowest and the highest are
        also lost if both of these are removed.
        """
        block = np.arange(len(self.low))[:, None]
        no_low = which[block, np.minimum(self.low, which.shape[1] - 1)] & (self.low != _NOBODY)
        no_high = which[block, self.high] & (self.high >= 0)
        low, high = self.low, self.high
        self.low = np.where(no_low, np.where(no_high, _NOBODY, high), low).astype(np.int32)
        self.high = np.where(no_high, np.where(no_low, -1, low), high).astype(np.int32)

    def clear(self, blocks: Any) -> None:
        self.low[blocks], self.high[blocks], self.step[blocks] = _NOBODY, -1, -1


class UnderWay:
    """Asynchronous steps under way: for each element the step that will touch it, -1 for none, and the thread that began it."""

    def __init__(self, blocks: int, size: int) -> None:
        self.step = np.full((blocks, size), -1, np.int64)
        self.who = np.full((blocks, size), -1, np.int32)

    def add(self, at: Any, who: npt.NDArray[np.int32], step: int) -> None:
        self.step[at], self.who[at] = step, who

    def spread(self, blocks: int) -> None:
        """Repeats the state of one block for ``blocks`` blocks."""
        self.step, self.who = np.repeat(self.step, blocks, axis=0), np.repeat(self.who, blocks, axis=0)
