"""Loads of the present contents of a shared array: each cell is counted from its latest store."""

import numpy as np

from gemmviz.analysis.replay.focus import Scope
from gemmviz.model.arrays import Longs
from gemmviz.model.cancelling import checkpoint
from gemmviz.model.trace import Trace

_ROWS_AT_ONCE = 256


class TileLoads:
    """A cursor for one shared array of a scope's block, counting loads of the chosen threads."""

    def __init__(self, trace: Trace, number: int, scope: Scope) -> None:
        self.trace, self.scope = trace, scope
        size = trace.arrays[number].size
        self._counts = np.zeros(size, np.int64)
        self._reads = trace.touches_of(number, "read")
        writes = trace.touches_of(number, "write")
        stores = ((int(s), int(r), t.operand) for t in writes for s, r in zip(t.steps, t.rows, strict=True))
        self._stores = sorted(stores, key=lambda each: each[:2])
        self._store_steps = np.array([step for step, _, _ in self._stores], np.int64)
        self._at = -1

    def after(self, step: int) -> Longs:
        """Loads of each cell, flat, since the latest store there. Valid until the next call. Raises Cancelled."""
        if step < self._at:
            self._counts[:] = 0
            self._at = -1
        first, last = np.searchsorted(self._store_steps, [self._at, step], side="right")
        for store_step, row, operand in self._stores[int(first) : int(last)]:
            self._read(self._at, store_step - 1)
            self._counts[self.trace.spread(operand, self.trace.element[row, self.scope.of_block], self.scope.of_block)] = 0
            self._at = store_step
        self._read(self._at, step)
        self._at = step
        return self._counts

    def _read(self, after: int, until: int) -> None:
        """Adds the loads of the steps from ``after`` + 1 to ``until``."""
        for touches in self._reads:
            first, last = np.searchsorted(touches.steps, [after, until], side="right")
            for start in range(int(first), int(last), _ROWS_AT_ONCE):
                checkpoint()
                rows = touches.rows[start : min(start + _ROWS_AT_ONCE, int(last))]
                cells = self.trace.spread(touches.operand, self.trace.element[rows, self.scope.in_block], self.scope.in_block)
                self._counts += np.bincount(cells, minlength=len(self._counts))
