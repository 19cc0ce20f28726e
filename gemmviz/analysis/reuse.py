"""How often each element has been loaded by a step: the reuse map, kept up to date as steps go by."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.grid import Grid, spread
from gemmviz.model.trace import Trace

_ACCESSES_AT_ONCE = 1 << 20


class LoadCounts:
    """Loads of one array's elements by some lanes of a trace, summed over the cells of a grid."""

    def __init__(self, trace: Trace, array: int, grid: Grid, lanes: slice = slice(None)) -> None:
        self.trace = trace
        self.grid = grid
        self.lanes = lanes
        loads = [number for number, site in enumerate(trace.sites) if site.array == array and site.kind == "load"]
        self._steps = np.flatnonzero(np.isin(trace.site, loads))
        self._counts = np.zeros(grid.shape[0] * grid.shape[1], np.int64)
        self._done = 0

    def after(self, step: int) -> npt.NDArray[np.int64]:
        """Loads up to and with ``step``: (rows, columns) of the grid. Valid until the next call."""
        wanted = int(np.searchsorted(self._steps, step, side="right"))
        if wanted < self._done // 2:
            self._counts[:] = 0
            self._done = 0
        forwards = wanted >= self._done
        between = self._steps[self._done : wanted] if forwards else self._steps[wanted : self._done]
        self._add(between, 1 if forwards else -1)
        self._done = wanted
        return self._counts.reshape(self.grid.shape)

    def _add(self, steps: npt.NDArray[Any], times: int) -> None:
        most = max(1, _ACCESSES_AT_ONCE // max(1, self.trace.space.lanes))
        for start in range(0, len(steps), most):
            some = steps[start : start + most]
            for number in np.unique(self.trace.site[some]).tolist():
                touched = self.trace.element[some[self.trace.site[some] == number], self.lanes]
                self._count(self.grid.cells(spread(touched.ravel(), self.trace.sites[number].width)), times)

    def _count(self, cells: npt.NDArray[np.int64], times: int) -> None:
        if len(cells) * 8 < len(self._counts):
            np.add.at(self._counts, cells, times)
        else:
            self._counts += times * np.bincount(cells, minlength=len(self._counts))
