"""A matrix at reduced resolution: each cell of a grid represents ``factor`` x ``factor`` elements, so that 8192 x 8192 stays
fast.
"""

from functools import cached_property

import numpy as np
from msgspec import Struct, structs

from gemmviz.model.arrays import AnyArray, Bytes, Floats, Longs
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Touches, Trace

Crop = tuple[int, int, int, int]


class Grid(Struct, frozen=True):
    """Cells over ``array``, or over its part ``crop``: rows and columns of cells, half-open."""

    array: MemoryArray
    factor: int = 1
    crop: Crop | None = None

    @property
    def whole(self) -> tuple[int, int]:
        """Rows and columns of cells over the whole array."""
        rows, columns = self.array.extents
        return -(-rows // self.factor), -(-columns // self.factor)

    @property
    def shape(self) -> tuple[int, int]:
        if self.crop is None:
            return self.whole
        r0, r1, c0, c1 = self.crop
        return r1 - r0, c1 - c0

    @property
    def origin(self) -> tuple[int, int]:
        """Row and column of the first cell."""
        return (0, 0) if self.crop is None else (self.crop[0], self.crop[2])

    @property
    def part(self) -> tuple[slice, slice]:
        """Its place in a table over the whole array."""
        (r0, c0), (rows, columns) = self.origin, self.shape
        return slice(r0, r0 + rows), slice(c0, c0 + columns)

    def cropped(self, crop: Crop) -> "Grid":
        """The part of this grid within ``crop``; at least one cell."""
        rows, columns = self.whole
        r0, c0 = max(0, min(crop[0], rows - 1)), max(0, min(crop[2], columns - 1))
        r1, c1 = max(r0 + 1, min(crop[1], rows)), max(c0 + 1, min(crop[3], columns))
        return self if (r0, r1, c0, c1) == (0, rows, 0, columns) else structs.replace(self, crop=(r0, r1, c0, c1))

    @property
    def cell_count(self) -> int:
        return self.shape[0] * self.shape[1]

    def cells(self, elements: AnyArray) -> Longs:
        """The cell of each element, flat, row by row; ``cell_count`` for an element outside the crop."""
        if self.factor == 1 and self.crop is None and not self.array.column_major:
            return elements.astype(np.int64)
        rows, columns = self.array.row_column(elements)
        (r0, c0), (height, width) = self.origin, self.shape
        rows, columns = rows // self.factor - r0, columns // self.factor - c0
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        return np.where(inside, rows * width + columns, self.cell_count).astype(np.int64)

    def elements(self) -> Longs:
        """The first element of each cell: (rows, columns)."""
        (r0, c0), (height, width) = self.origin, self.shape
        rows = (np.arange(r0, r0 + height, dtype=np.int64) * self.factor)[:, None]
        columns = (np.arange(c0, c0 + width, dtype=np.int64) * self.factor)[None, :]
        high, wide = self.array.extents
        return columns * high + rows if self.array.column_major else rows * wide + columns

    def table(self) -> Bytes:
        """Zeros, flat: one for each cell, and one more for elements outside the crop."""
        return np.zeros(self.cell_count + 1, np.uint8)

    def shaped(self, table: Bytes) -> Bytes:
        """A ``table`` as (rows, columns)."""
        return table[: self.cell_count].reshape(self.shape)


# The owner of each element of the result, C of a multiplication: the thread that stores it.

NEVER = np.iinfo(np.int64).max


class Owners:
    """``elements`` (ascending) are the elements of the result that the traced threads store, ``threads`` the thread that stores
    each (the last one), ``steps`` the step of the first store; ``array`` is the result itself, None in a trace without it.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        number = trace.result
        self.array: MemoryArray | None = None if number is None else trace.arrays[number]
        touches = () if number is None else trace.touches_of(number, "write")
        events = sorted((int(step), int(row), t) for t in touches for step, row in zip(t.steps, t.rows, strict=True))
        stores = [self._stored(step, row, each) for step, row, each in events]
        nothing = np.zeros(0, np.int64)
        elements, threads, steps = (np.concatenate(part) for part in zip(*stores, strict=True)) if stores else (nothing,) * 3
        self.elements, first = np.unique(elements, return_index=True)
        _, last = np.unique(elements[::-1], return_index=True)
        self.threads, self.steps = threads[::-1][last], steps[first]

    def _stored(self, step: int, row: int, touches: Touches) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Elements, threads and step, one entry for each element that a step stores."""
        touched = self.trace.element[row]
        threads = np.flatnonzero(touched >= 0)
        elements = self.trace.spread(touches.operand, touched, slice(None))
        return elements, np.repeat(threads, touches.operand.width), np.full(len(elements), step)

    def steps_of(self, elements: Longs) -> Longs:
        """The step that first stores each of these elements of C, NEVER if no traced thread does."""
        if not len(self.elements):
            return np.full(elements.shape, NEVER)
        at = np.minimum(np.searchsorted(self.elements, elements), len(self.elements) - 1)
        return np.where(self.elements[at] == elements, self.steps[at], NEVER)

    def thread_of(self, element: int) -> int | None:
        """The thread that stores an element of C, None if no traced one does."""
        at = int(np.searchsorted(self.elements, element))
        return int(self.threads[at]) if at < len(self.elements) and self.elements[at] == element else None

    def of(self, threads: slice) -> tuple[Longs, Longs]:
        """The elements that some threads own, and their threads, counted from the first of ``threads``."""
        inside = (self.threads >= threads.start) & (self.threads < threads.stop)
        return self.elements[inside], self.threads[inside] - threads.start

    def homes(self, threads: slice) -> Floats:
        """The mean (row, column) in the array ``home`` of each thread's own elements: (threads, 2), NaN for a thread without
        any.
        """
        if self.home is None:
            return np.full((threads.stop - threads.start, 2), np.nan)
        elements, thread = self.of(threads) if self.home == self.trace.result else self._first_reads(self.home, threads)
        rows, columns = self.trace.arrays[self.home].row_column(elements)
        count = threads.stop - threads.start
        own = np.bincount(thread, minlength=count)
        with np.errstate(invalid="ignore"):
            return np.stack([np.bincount(thread, where, count) / own for where in (rows, columns)], axis=1)

    @cached_property
    def home(self) -> int | None:
        """The number of the array on which threads are drawn: the result; the first matrix that is read if most threads have
        no element of the result, as in a reduction.
        """
        trace = self.trace
        if trace.is_multiply or 2 * len(np.unique(self.threads)) >= trace.space.thread_count:
            return trace.result
        reads = (n for n in trace.inputs if trace.touches_of(n, "read"))
        return next(reads, trace.result)

    def _first_reads(self, number: int, threads: slice) -> tuple[Longs, Longs]:
        """The first element of a matrix that each of some threads reads, and the threads."""
        first = np.full(threads.stop - threads.start, -1, np.int64)
        touches = self.trace.touches_of(number, "read")
        rows = sorted({int(row) for each in touches for row in each.rows})
        for row in rows:
            if (first >= 0).all():
                break
            first = np.where(first < 0, self.trace.element[row, threads], first)
        thread = np.flatnonzero(first >= 0)
        return first[thread], thread
