"""What each warp of a block knows of the others' accesses, where barriers order some threads but not all: vector clocks.

A time is a number that grows from access to access. Who arrives at a barrier leaves there the latest time of each warp that it
knows to be over; who has waited there knows these times.
"""

import numpy as np

from gemmviz.model.arrays import Bools, Longs

_Key = tuple[int, str]  # an array, and how it is accessed


class Clocks:
    """``known`` (blocks, warps, warps): the latest time of each warp, last axis, that each warp knows to be over."""

    def __init__(self, blocks: int, threads: int, warp_size: int) -> None:
        self.warp_size, self._warp = warp_size, np.arange(threads) // warp_size
        self._starts = np.arange(0, threads, warp_size)
        self.known = np.full((blocks, len(self._starts), len(self._starts)), -1)
        self._left: dict[int, Longs] = {}  # at each barrier: (blocks, warps)
        self._waiting: dict[int, Bools] = {}  # who goes on when it opens: (blocks, warps)
        self._came: dict[int, Bools] = {}  # the threads that have arrived since it opened: (blocks, threads)
        self._latest: dict[_Key, Longs] = {}  # accesses of each warp to each cell, by time and lane

    def spread(self, blocks: int) -> None:
        """Repeats the state of one block for ``blocks`` blocks."""
        self.known = np.tile(self.known, (blocks, 1, 1))
        for table in (self._left, self._waiting, self._came, self._latest):
            for key, of_block in table.items():
                table[key] = np.tile(of_block, (blocks, 1))  # type: ignore[index,assignment]

    def forget(self) -> None:
        """Forgets all accesses: a barrier has ordered all threads."""
        self._latest = {}
        self._waiting = {}

    def all_lanes(self, threads: Bools) -> Bools:
        """All threads of the warps of which any is chosen, (blocks, threads)."""
        return self._warps(threads)[:, self._warp]

    def _warps(self, threads: Bools) -> Bools:
        """The warps of which any thread is chosen: (blocks, warps) from (blocks, threads)."""
        return np.asarray(np.logical_or.reduceat(threads, self._starts, axis=1))

    def arrive(self, numbers: Longs, time: int, waits: bool) -> None:
        """Threads arrive at barriers. ``numbers`` (blocks, threads): of the barrier, -1 for none. ``waits``: their warps know
        what all others left there as soon as they go on.
        """
        for number in np.unique(numbers[numbers >= 0]).tolist():
            arrived = self._warps(numbers == number)
            self._go_on(arrived)
            self._reopen(number, numbers == number)
            left = self._at(number)
            np.maximum(left, np.where(arrived[:, :, None], self.known, -1).max(axis=1), out=left)
            left[arrived] = time
            if waits:
                self._waiting[number] = self._waiting.get(number, np.zeros_like(arrived)) | arrived

    def _reopen(self, number: int, threads: Bools) -> None:
        """Threads that arrive at a barrier again show that it has opened: those that waited go on with what was left so far."""
        came = self._came.get(number, np.zeros_like(threads))
        is_again = (came & threads).any(axis=1, keepdims=True)
        self._came[number] = (came & ~is_again) | threads
        if number in self._waiting:
            self._learn(self._waiting[number] & is_again, self._at(number))
            self._waiting[number] = self._waiting[number] & ~is_again

    def wait(self, numbers: Longs) -> None:
        """Threads pass an mbarrier, as in ``arrive``."""
        for number in np.unique(numbers[numbers >= 0]).tolist():
            self._learn(self._warps(numbers == number), self._at(number))

    def come(self, numbers: Longs, blocks: Longs, who: Longs, time: int) -> None:
        """Copies of some threads have come to the mbarriers that others wait at."""
        for number in np.unique(numbers[numbers >= 0]).tolist():
            self._at(number)[blocks, self._warp[who]] = time

    def touch(self, key: _Key, cells: int, cell: Longs, who: Longs, time: int) -> None:
        """Threads access cells, of which the array has as many. Of a warp's lanes in a cell the lowest counts."""
        if key not in self._latest:
            self._latest[key] = np.full((cells, len(self._starts)), -1)
        stamp = (time + 1) * self.warp_size - 1 - who % self.warp_size
        np.maximum.at(self._latest[key], (cell, self._warp[who]), stamp)

    def others(self, key: _Key, cells_per_block: int, cell: Longs, who: Longs) -> tuple[Longs, Longs]:
        """For each of the threads' accesses, a thread of another warp whose earlier access isn't known to be over, or -1, and
        its time.
        """
        latest = self._latest.get(key)
        if latest is None:
            return np.full(len(cell), -1), np.full(len(cell), -1)
        block, mine = cell // cells_per_block, self._warp[who]
        self._go_on_of(block, mine)
        time, lane = np.divmod(latest[cell], self.warp_size)
        open_ = (latest[cell] >= 0) & (time > self.known[block, mine]) & (np.arange(len(self._starts)) != mine[:, None])
        first = np.argmax(open_, axis=1)
        rows = np.arange(len(cell))
        thread = first * self.warp_size + self.warp_size - 1 - lane[rows, first]
        return np.where(open_.any(axis=1), thread, -1), time[rows, first]

    def _at(self, number: int) -> Longs:
        blocks, warps, _ = self.known.shape
        return self._left.setdefault(number, np.full((blocks, warps), -1))

    def _go_on_of(self, block: Longs, warp: Longs) -> None:
        if self._waiting:
            active = np.zeros(self.known.shape[:2], bool)
            active[block, warp] = True
            self._go_on(active)

    def _go_on(self, active: Bools) -> None:
        """Warps that act again have passed the barriers at which they waited."""
        for number, waiting in self._waiting.items():
            passing = waiting & active
            if passing.any():
                self._learn(passing, self._at(number))
                waiting &= ~passing

    def _learn(self, warps: Bools, left: Longs) -> None:
        self.known = np.where(warps[:, :, None], np.maximum(self.known, left[:, None, :]), self.known)
