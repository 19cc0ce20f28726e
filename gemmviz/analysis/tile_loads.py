"""How often what a shared array holds now has been loaded from there: counted anew for each cell from when it was stored."""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.focus import Scope
from gemmviz.model.trace import Trace

Longs = npt.NDArray[np.int64]
_MOST_ROWS = 4096  # of the record that are looked at: more than any phase has


def tile_loads(trace: Trace, number: int, step: int, scope: Scope) -> Longs:
    """Of each cell of a shared array, flat, after ``step``: loads by the chosen threads of the block since the latest store."""
    size = trace.arrays[number].size
    stored = np.full(size, -1, np.int64)
    for touches in trace.touches_of(number, "write"):
        last = int(np.searchsorted(touches.steps, step, side="right"))
        missing = np.ones(size, bool)
        for at in range(last - 1, max(-1, last - 1 - _MOST_ROWS), -1):
            cells = _cells(trace, int(touches.rows[at]), touches.operand.offsets, scope.of_block)
            stored[cells] = np.maximum(stored[cells], int(touches.steps[at]))
            missing[cells] = False
            if not missing.any():
                break
    counts = np.zeros(size, np.int64)
    known = stored[stored >= 0]
    if not len(known):
        return counts
    for touches in trace.touches_of(number, "read"):
        first, last = np.searchsorted(touches.steps, [int(known.min()), step], side="right")
        for at in range(max(int(first), int(last) - _MOST_ROWS), int(last)):
            cells = _cells(trace, int(touches.rows[at]), touches.operand.offsets, scope.in_block)
            later = cells[stored[cells] < int(touches.steps[at])]
            np.add.at(counts, later, 1)
    counts[stored < 0] = 0
    return counts


def _cells(trace: Trace, row: int, offsets: tuple[int, ...], threads: slice) -> Longs:
    touched = trace.element[row, threads]
    first = touched[touched >= 0].astype(np.int64)
    return first if offsets == (0,) else (first[:, None] + np.array(offsets)).ravel()
