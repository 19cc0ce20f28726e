"""The threads that use the elements of an array, and the barriers that order them.

A search for hazards has two steps. ``used_by_several`` finds the cells at which threads can conflict at all, at the cost of one
pass over the accesses; in a right kernel there are few. Who uses those, and when, is looked at in detail.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from gemmviz.model.arrays import Bools, Ints, Longs
from gemmviz.model.sites import Site
from gemmviz.model.trace import Trace

NOBODY = np.iinfo(np.int64).max


def used_by_several(cells: int, writes: Iterable[tuple[Longs, Longs]], reads: Iterable[tuple[Longs, Longs]]) -> Bools:
    """Which cells of an array several threads use, at least one of them to write. ``writes`` and ``reads`` are cells and the
    threads that use them.
    """
    writer, found = np.zeros(cells, np.int32), np.zeros(cells, bool)  # 1 + the number of a thread that writes the cell, or 0
    for cell, thread in writes:
        number, before = thread + 1, writer[cell]
        writer[cell] = number
        found[cell[((before != 0) & (before != number)) | (writer[cell] != number)]] = True
    for cell, thread in reads:
        before = writer[cell]
        found[cell[(before != 0) & (before != thread + 1)]] = True
    return found


class Extremes:
    """The least and the greatest of the numbers added for each of some cells. They tell whether the numbers lie in several
    units, which are runs of ``unit`` numbers, such as the threads of a warp or of a block.
    """

    def __init__(self, cells: int) -> None:
        self.low, self.high = np.full(cells, NOBODY), np.full(cells, -NOBODY)

    def add(self, at: Longs, numbers: Longs) -> None:
        np.minimum.at(self.low, at, numbers)
        np.maximum.at(self.high, at, numbers)

    @property
    def is_empty(self) -> Bools:
        return np.asarray(self.low > self.high)

    def is_split(self, unit: int = 1) -> Bools:
        """Whether the numbers of a cell lie in several units."""
        return np.asarray(self.low // unit < self.high // unit)

    def other(self, at: Longs, own: Longs, unit: int = 1) -> Longs:
        """For each of the cells ``at`` a number in another unit than ``own``, -1 if there is none."""
        low, high, own = self.low[at], self.high[at], own // unit
        others = np.where((high >= 0) & (high // unit != own), high, -1)
        return np.where((low != NOBODY) & (low // unit != own), low, others)


def arrivals(trace: Trace, blocks: slice | Longs) -> Iterator[tuple[int, Site, Bools]]:
    """The barriers of a trace: the step, the site, and which threads of some blocks (blocks, threads) arrive; at one that some
    threads don't reach, also those that have returned.
    """
    elements = trace.element.reshape(len(trace.element), -1, trace.space.threads_per_block)
    returned: Longs | None = None
    for step in np.flatnonzero(np.array([site.is_barrier for site in trace.sites], bool)[trace.site]).tolist():
        site, row = trace.site_of(step), int(trace.row[step])
        arrived = elements[row, blocks] >= 0
        if site.is_warp_barrier or not arrived.all():
            returned = _last_rows(elements, blocks) if returned is None else returned
            arrived |= returned < row
        yield step, site, arrived


def _last_rows(elements: Ints, blocks: slice | Longs) -> Longs:
    """The last row in which each thread of some blocks is active, -1 for none: it is assumed to have returned afterwards."""
    found = np.full(elements[0, blocks].shape, -1, np.int64)
    for row in range(len(elements) - 1, -1, -1):
        found[(found < 0) & (elements[row, blocks] >= 0)] = row
        if (found >= 0).all():
            break
    return found


def ordered(site: Site, arrived: Bools, warp_size: int) -> Bools:
    """Which threads (blocks, threads) a barrier orders, those of a block or those of a warp among themselves: a warp whose
    threads have all ``arrived``, a block of which any has.
    """
    if not site.is_warp_barrier:
        return np.broadcast_to(arrived.any(axis=1, keepdims=True), arrived.shape)
    threads = np.arange(arrived.shape[1])
    whole: Bools = np.logical_and.reduceat(arrived, threads[::warp_size], axis=1)
    return whole[:, threads // warp_size]
