"""What moves at a step: copies of elements that go from a matrix to a tile, or to the thread that asked for them.

A copy that a thread will put into a shared tile covers the first half of its way when it is loaded and the second half when
it is stored; between the two it is in a register.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import Ints, Site, Trace

THREADS = -1
_ROWS_AHEAD = 64
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Flights:
    """One entry a copy. ``source`` and ``target`` are array numbers, or THREADS; ``start`` and ``end`` the elements there, or
    the thread's number in the block; ``thread`` who moves it. ``way`` is the part of the way that the step covers.
    """

    source: int
    target: int
    start: Longs
    end: Longs
    thread: Longs
    way: tuple[float, float] = (0.0, 1.0)

    def __len__(self) -> int:
        return len(self.start)


def flights(trace: Trace, step: int, lanes: slice, block: int) -> list[Flights]:
    """What some lanes of one block, which starts at lane ``block``, move at ``step``; nothing for a barrier, and for a store
    into global memory, where the element arrives in the cell that its thread stands on.
    """
    site, array = trace.site_of(step), trace.array_of(step)
    if array is None or (array.space == "global" and site.kind == "store"):
        return []
    threads, elements = _touches(trace.element[step, lanes], site.width)
    threads += lanes.start - block
    if site.kind == "store":
        return _into_tile(trace, step, site, threads, elements, block)
    if array.space == "shared":
        return [Flights(site.array, THREADS, elements, threads, threads)]
    return _from_matrix(trace, step, site, threads, elements, block)


def _touches(touched: Ints, width: int) -> tuple[Longs, Longs]:
    """The active ones, counted from 0, and the elements that they touch: component after component of a wide access."""
    active = np.flatnonzero(touched >= 0)
    elements = (touched[active].astype(np.int64) + np.arange(width)[:, None]).ravel()
    return np.tile(active, width), elements


def _into_tile(trace: Trace, step: int, site: Site, threads: Longs, cells: Longs, block: int) -> list[Flights]:
    """Copies of a matrix's elements come from there, what was computed comes from its thread."""
    first = int(np.searchsorted(trace.origin_step, step))
    if first == len(trace.origin_step) or trace.origin_step[first] != step:
        return [Flights(THREADS, site.array, threads, cells, threads)]
    lanes = threads + block
    row = first + np.repeat(np.arange(site.width), len(threads) // site.width)
    matrix, element = trace.origin_array[row, lanes], trace.origin[row, lanes].astype(np.int64)
    found = []
    for number in np.unique(matrix).tolist():
        these = matrix == number
        if number >= 0:
            found.append(Flights(number, site.array, element[these], cells[these], threads[these], (0.5, 1.0)))
        else:
            found.append(Flights(THREADS, site.array, threads[these], cells[these], threads[these]))
    return found


def _from_matrix(trace: Trace, step: int, site: Site, threads: Longs, elements: Longs, block: int) -> list[Flights]:
    """What is stored into a tile next goes there, half of the way; the rest goes to its thread."""
    lanes = threads + block
    tile, cell = np.full(len(threads), THREADS), np.zeros(len(threads), np.int64)
    first = int(np.searchsorted(trace.origin_step, step + 1))
    for row in range(first, min(first + _ROWS_AHEAD, len(trace.origin_step))):
        store = int(trace.origin_step[row])
        component = row - int(np.searchsorted(trace.origin_step, store))
        same = (trace.origin_array[row, lanes] == site.array) & (trace.origin[row, lanes] == elements)
        same &= (trace.element[store, lanes] >= 0) & (tile == THREADS)
        tile[same], cell[same] = trace.site_of(store).array, trace.element[store, lanes][same] + component
        if (tile != THREADS).all():
            break
    found = []
    for number in np.unique(tile).tolist():
        these = tile == number
        ends, way = (threads, (0.0, 1.0)) if number == THREADS else (cell, (0.0, 0.5))
        found.append(Flights(site.array, number, elements[these], ends[these], threads[these], way))
    return found
