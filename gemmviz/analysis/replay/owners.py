"""The owner of each element of the result, C of a multiplication: the thread that stores it."""

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Touches, Trace

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

    def _stored(self, step: int, row: int, touches: Touches) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Elements, threads and step, one entry for each element that a step stores."""
        touched = self.trace.element[row]
        threads = np.flatnonzero(touched >= 0)
        elements = self.trace.spread(touches.operand, touched, slice(None))
        return elements, np.repeat(threads, touches.operand.width), np.full(len(elements), step)

    def steps_of(self, elements: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The step that first stores each of these elements of C, NEVER if no traced thread does."""
        if not len(self.elements):
            return np.full(elements.shape, NEVER)
        at = np.minimum(np.searchsorted(self.elements, elements), len(self.elements) - 1)
        return np.where(self.elements[at] == elements, self.steps[at], NEVER)

    def thread_of(self, element: int) -> int | None:
        """The thread that stores an element of C, None if no traced one does."""
        at = int(np.searchsorted(self.elements, element))
        return int(self.threads[at]) if at < len(self.elements) and self.elements[at] == element else None

    def of(self, threads: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The elements that some threads own, and their threads, counted from the first of ``threads``."""
        inside = (self.threads >= threads.start) & (self.threads < threads.stop)
        return self.elements[inside], self.threads[inside] - threads.start

    def homes(self, threads: slice) -> npt.NDArray[np.float64]:
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

    def _first_reads(self, number: int, threads: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
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
