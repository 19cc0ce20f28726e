"""Patterns of accesses that differ by a shift alone: between two accesses of a site, and between the blocks of one access."""

from typing import Any

import numpy as np

from gemmviz.analysis.memory.costs import CostSums
from gemmviz.model.arrays import Bools, Longs

LARGEST_KEPT = 1 << 20  # offsets
SWITCHED_OFF = np.iinfo(np.int64).min  # the offset of a thread that takes no part


class LatestPattern:
    """The latest pattern of a site: its offsets and mask, and its cost at each shift within a unit."""

    def __init__(self, offset: Any, mask: Bools | None) -> None:
        self.offset, self.mask = offset, mask
        self.costs: dict[int, CostSums] = {}

    def shift(self, offset: Any, mask: Bools | None) -> int | None:
        """Shift of the same threads' offsets relative to these, None if it differs between threads."""
        if mask is not self.mask and (mask is None or self.mask is None or not np.array_equal(mask, self.mask)):
            return None
        if offset is self.offset:
            return 0
        if np.shape(offset) != np.shape(self.offset):
            return None
        beyond = np.asarray(offset - self.offset)
        if mask is not None and beyond.size > 1:
            beyond, active = np.broadcast_arrays(beyond, mask)
            if beyond.size > LARGEST_KEPT:
                return None
            beyond = beyond[active]
        if not beyond.size:
            return 0
        first = int(beyond.flat[0])
        return first if beyond.size == 1 or bool((beyond == first).all()) else None


def shifts_along(values: Longs, axis: int, unit: int) -> dict[int, int] | None:
    """Number of slices along an axis with each shift within a unit, if all slices equal the first except for a shift; else
    None.
    """
    first = values.take([0], axis)
    active = first != SWITCHED_OFF
    at = tuple(int(place) for place in np.unravel_index(int(np.argmax(active)), active.shape))
    line = values[tuple(slice(None) if dim == axis else place for dim, place in enumerate(at))] - first[at]
    shape = [1] * values.ndim
    shape[axis] = -1
    expected = np.where(active, first + line.reshape(shape), SWITCHED_OFF) if not active.all() else first + line.reshape(shape)
    if not np.array_equal(values, expected):
        return None
    distinct, counts = np.unique(line % unit, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def summed_shifts(a: dict[int, int], b: dict[int, int], unit: int) -> dict[int, int]:
    """Number of occurrences of each sum of two shifts."""
    total: dict[int, int] = {}
    for x, many in a.items():
        for y, several in b.items():
            total[(x + y) % unit] = total.get((x + y) % unit, 0) + many * several
    return total
