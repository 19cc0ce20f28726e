"""Which thread computes which element of C: the one that stores it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.grid import spread
from gemmviz.model.trace import MemoryArray, Trace


class Owners:
    """``elements`` (ascending) are the elements of C that the traced threads store, ``lanes`` who stores each (the last that
    does), ``steps`` when that is first done; ``array`` is C itself, None in a trace without it.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        number, array = next(((n, array) for n, array in enumerate(trace.arrays) if array.name == "C"), (-1, None))
        self.array: MemoryArray | None = array
        stores = [n for n, site in enumerate(trace.sites) if site.kind == "store" and site.array == number]
        found = [self._stored(step) for step in np.flatnonzero(np.isin(trace.site, stores)).tolist()]
        nothing = np.zeros(0, np.int64)
        elements, lanes, steps = (np.concatenate(part) for part in zip(*found, strict=True)) if found else (nothing,) * 3
        self.elements, first = np.unique(elements, return_index=True)
        _, last = np.unique(elements[::-1], return_index=True)
        self.lanes, self.steps = lanes[::-1][last], steps[first]

    def _stored(self, step: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Elements, lanes and step, one entry for each element that a step stores."""
        touched, width = self.trace.element[step], self.trace.site_of(step).width
        lanes = np.flatnonzero(touched >= 0)
        elements = spread(touched, width)
        return elements, np.repeat(lanes, width), np.full(len(elements), step)

    def lane_of(self, element: int) -> int | None:
        """The lane that stores an element of C, None where no traced one does."""
        at = int(np.searchsorted(self.elements, element))
        return int(self.lanes[at]) if at < len(self.elements) and self.elements[at] == element else None

    def of(self, lanes: slice) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The elements that some lanes own, and their lanes counted from the first of ``lanes``."""
        inside = (self.lanes >= lanes.start) & (self.lanes < lanes.stop)
        return self.elements[inside], self.lanes[inside] - lanes.start

    def homes(self, lanes: slice) -> npt.NDArray[np.float64]:
        """The middle (row, column) of each lane's own elements of C: (lanes, 2), NaN for a lane that stores none."""
        elements, lane = self.of(lanes)
        assert self.array is not None
        rows, columns = self.array.row_column(elements)
        count = lanes.stop - lanes.start
        own = np.bincount(lane, minlength=count)
        with np.errstate(invalid="ignore"):
            return np.stack([np.bincount(lane, where, count) / own for where in (rows, columns)], axis=1)
