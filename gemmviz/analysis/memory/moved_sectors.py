"""The sectors of an array that some requests move: which ones, which of their elements lanes request, and whether fewer
sectors could hold what the requests need.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.memory.coalescing import moves_segment
from gemmviz.analysis.memory.costs import cost_table
from gemmviz.analysis.memory.warps import Rows, lanes_of
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.sites import MemoryArray, Operand

_SECTORS, _IDEAL = COST_COLUMNS.index("sectors"), COST_COLUMNS.index("ideal_sectors")


class MovedSectors(Struct, frozen=True):
    """Distinct sectors that some requests move.

    ``numbers`` (sectors,): byte address over the size of a sector, ascending. ``first`` (sectors, elements of a sector): the
    first lane that requests each element, -1 for none. ``asking``: how many lanes of all requests request it.
    ``is_wasteful`` (sectors,): whether a request that moves the sector moves more sectors than it needs.
    """

    numbers: Longs
    first: Longs
    asking: Longs
    is_wasteful: Bools

    @property
    def is_asked(self) -> Bools:
        """Which elements any lane requests: (sectors, elements of a sector)."""
        return np.asarray(self.asking > 0)

    @property
    def elements(self) -> Longs:
        """The elements of each sector: (sectors, elements of a sector). The last ones may be behind the end of the array."""
        per_sector = self.first.shape[1]
        return np.asarray(self.numbers[:, None] * per_sector + np.arange(per_sector))


def moved_sectors(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules) -> MovedSectors:
    """Return the sectors that requests move. ``rows`` (requests, lanes): elements of an array in global memory, -1 inactive."""
    per_sector = max(1, rules.sector_bytes // array.itemsize)
    request, place = np.nonzero(rows >= 0)
    lane = lanes_of(rows, rules)[request, place]
    width = operand.layout.width
    element = operand.layout.spread(rows[request, place], lane).ravel()
    request, lane = np.repeat(request, width), np.repeat(lane, width)
    costs = cost_table(rows, operand, array, rules)
    wastes = costs[:, _SECTORS] > costs[:, _IDEAL]
    of_segments = _rest_of_segments(rows, operand, array, rules)
    sector = element // per_sector
    numbers = np.unique(np.concatenate([sector, of_segments]))
    where = np.searchsorted(numbers, sector)
    cell, shape = where * per_sector + element % per_sector, (len(numbers), per_sector)
    asking = np.bincount(cell, minlength=len(numbers) * per_sector).reshape(shape)
    first = np.full(shape, -1, np.int64)
    first.reshape(-1)[cell[::-1]] = lane[::-1]  # the last one written is the first one
    is_wasteful = np.zeros(len(numbers), bool)
    is_wasteful[where[wastes[request]]] = True
    return MovedSectors(numbers, first, asking, is_wasteful)


def _rest_of_segments(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules) -> npt.NDArray[np.int64]:
    """Return all sectors of the segments that requests move as a whole, where the device moves segments."""
    word = array.itemsize * operand.layout.width
    if rules.coalescing != "segments" or not len(rows):
        return np.zeros(0, np.int64)
    together = moves_segment(rows, rows >= 0, array.itemsize, operand.layout)
    own = rows * array.itemsize - np.arange(rows.shape[1]) * word
    start = np.where(rows >= 0, own, np.iinfo(np.int64).max).min(axis=1)[together] // rules.sector_bytes
    return np.asarray((start[:, None] + np.arange(max(1, rows.shape[1] * word // rules.sector_bytes))).ravel())
