"""The owner of each element of C: the thread that stores it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Touches, Trace

NEVER = np.iinfo(np.int64).max


class Owners:
    """``elements`` (ascending) are the elements of C that the traced threads store, ``threads`` the thread that stores each
    (the last one), ``steps`` the step of the first store; ``array`` is C itself, None in a trace without it.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        number = trace.number_of("C")
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
        """The mean (row, column) of each thread's own elements of C: (threads, 2), NaN for a thread without any."""
        elements, thread = self.of(threads)
        assert self.array is not None
        rows, columns = self.array.row_column(elements)
        count = threads.stop - threads.start
        own = np.bincount(thread, minlength=count)
        with np.errstate(invalid="ignore"):
            return np.stack([np.bincount(thread, where, count) / own for where in (rows, columns)], axis=1)
