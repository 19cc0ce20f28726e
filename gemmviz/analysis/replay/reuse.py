"""The reuse map: loads of each element up to a step, updated from step to step."""

import numpy as np

from gemmviz.analysis.replay.grid import Grid
from gemmviz.model.arrays import Longs
from gemmviz.model.cancelling import checkpoint
from gemmviz.model.sites import Operand
from gemmviz.model.trace import Trace

_ACCESSES_AT_ONCE = 1 << 20


class LoadCounts:
    """A cursor: loads of one array's elements by some threads of a trace, summed over the cells of a grid."""

    def __init__(self, trace: Trace, array: int, grid: Grid, threads: slice = slice(None)) -> None:
        self.trace = trace
        self.grid = grid
        self.threads = threads
        self.loads = trace.touches_of(array, "read")
        self._counts = np.zeros(grid.shape[0] * grid.shape[1], np.int64)
        self._at = -1

    def after(self, step: int) -> Longs:
        """Loads up to and including ``step``: (rows, columns) of the grid. Valid until the next call."""
        if step < self._at // 2:
            self._counts[:] = 0
            self._at = -1
        forwards = step >= self._at
        first, last = (self._at, step) if forwards else (step, self._at)
        for load in self.loads:
            start, stop = np.searchsorted(load.steps, [first, last], side="right")
            self._add(load.rows[start:stop], load.operand, 1 if forwards else -1)
        self._at = step
        return self._counts.reshape(self.grid.shape)

    def _add(self, rows: Longs, operand: Operand, times: int) -> None:
        most = max(1, _ACCESSES_AT_ONCE // max(1, self.trace.space.thread_count))
        for start in range(0, len(rows), most):
            checkpoint()
            touched = self.trace.element[rows[start : start + most], self.threads]
            self._count(self.trace.spread(operand, touched, self.threads), times)

    def _count(self, elements: Longs, times: int) -> None:
        """Adds loads. Equal elements are counted before their cells are looked up, which is most of the work."""
        often: Longs | int = 1
        if len(elements) * 8 >= self.grid.array.size:
            counts = np.bincount(elements)
            elements = np.flatnonzero(counts)
            often = counts[elements]
        np.add.at(self._counts, self.grid.cells(elements), times * often)
