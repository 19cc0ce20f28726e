"""Sectors that a request moves, those that it needs, and what it costs."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.memory.banks import lane_words, wavefronts
from gemmviz.analysis.memory.warps import PerRow, Rows, distinct_per_row, lanes_of, moved_by_lane
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.layouts import SCALAR, Layout
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.sites import MemoryArray, Operand

# Global memory: sectors and lines that one request moves.

_LARGEST_SEGMENT = 128  # bytes


class Requests(Struct, frozen=True):
    """Figures of each request (rows,): whether any lane is active, its sectors and lines, bytes requested (an element counts
    for each lane that requests it) and used (once), and the sectors that these bytes would fill side by side, never more than
    ``sectors``: the used bytes the ``needed_sectors``, the requested ones the ``ideal_sectors``. By the rule of compute
    capability 1.0, which serves an element once for each lane, the two are the same.
    """

    requests: PerRow
    sectors: PerRow
    lines: PerRow
    bytes_asked: PerRow
    bytes_used: PerRow
    needed_sectors: PerRow
    ideal_sectors: PerRow


def requests(rows: Rows, itemsize: int, rules: MemoryRules, layout: Layout = SCALAR) -> Requests:
    """The figures of some requests. ``rows``: elements (rows, lanes), -1 inactive; ``itemsize`` in bytes; ``layout``: the
    elements that each lane touches, relative to its own.
    """
    active = rows >= 0
    lanes = np.count_nonzero(active, axis=1)
    requested = lanes * (itemsize * layout.width)
    touched, all_active = _touched_bytes(rows, active, itemsize, rules, layout)
    sectors = distinct_per_row(touched // rules.sector_bytes, all_active)
    if rules.coalescing == "segments":
        sectors = _sectors_by_segment(rows, active, itemsize, rules, layout)
    used = _bytes_used(rows, active, touched, all_active, itemsize, layout)
    ideal = used if rules.coalescing == "segments" else requested
    return Requests(
        requests=(lanes > 0).astype(np.int64),
        sectors=sectors,
        lines=distinct_per_row(touched // rules.line_bytes, all_active),
        bytes_asked=requested,
        bytes_used=used,
        needed_sectors=np.minimum(sectors, -(-used // rules.sector_bytes)),
        ideal_sectors=np.minimum(sectors, -(-ideal // rules.sector_bytes)),
    )


def _bytes_used(
    rows: Rows, active: npt.NDArray[np.bool_], touched: Rows, all_active: npt.NDArray[np.bool_], itemsize: int, layout: Layout
) -> PerRow:
    """Bytes that each request needs, each counted once."""
    if layout.is_dense:
        return distinct_per_row(rows, active) * (itemsize * layout.width)
    return distinct_per_row(touched, all_active) * itemsize


def moves_segment(rows: Rows, active: npt.NDArray[np.bool_], itemsize: int, layout: Layout) -> npt.NDArray[np.bool_]:
    """Whether each request moves one whole segment by the rule of compute capability 1.0: (rows,)."""
    word = itemsize * layout.width
    own = rows * itemsize - np.arange(rows.shape[1]) * word
    first = np.where(active, own, np.iinfo(np.int64).max).min(axis=1)
    in_order = ((own == first[:, None]) | ~active).all(axis=1) & active.any(axis=1)
    fits = word in (4, 8, 16) and layout.is_dense
    return np.asarray(in_order & (first % min(_LARGEST_SEGMENT, rows.shape[1] * word) == 0) & fits)


def _sectors_by_segment(rows: Rows, active: npt.NDArray[np.bool_], itemsize: int, rules: MemoryRules, layout: Layout) -> PerRow:
    """Sectors by the rule of compute capability 1.0: those of a whole segment, or one for each lane."""
    word = itemsize * layout.width
    together = moves_segment(rows, active, itemsize, layout)
    alone = np.count_nonzero(active, axis=1) * max(1, word // rules.sector_bytes)
    return np.asarray(np.where(together, rows.shape[1] * word // rules.sector_bytes, alone), np.int64)


def _touched_bytes(
    rows: Rows, active: npt.NDArray[np.bool_], itemsize: int, rules: MemoryRules, layout: Layout
) -> tuple[Rows, npt.NDArray[np.bool_]]:
    """Byte addresses: one per lane if its elements are aligned neighbours within a sector, else one per element."""
    width = layout.width
    neighbours = layout.is_dense and rules.sector_bytes % (itemsize * width) == 0
    if neighbours and (width == 1 or not (rows[active] % width).any()):
        return rows * itemsize, active
    by_lane = layout.table[0] if layout.lanes == 1 else layout.table[lanes_of(rows, rules) % layout.lanes]
    spread = (rows[:, :, None] + by_lane).reshape(len(rows), -1) * itemsize
    return spread, np.repeat(active, width, axis=1)


CostSums = npt.NDArray[np.int64]  # sums in the order of COST_COLUMNS
Passes = Callable[[Rows, int, bool, MemoryRules], tuple[CostSums, CostSums]]  # as ``wavefronts``
_NARROW, _ELEMENTS_AT_ONCE = 16, 1 << 22  # elements


def cost_table(
    rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules, passes: Passes = wavefronts
) -> npt.NDArray[np.int64]:
    """Costs of each request: int64 (rows, columns), columns named by COST_COLUMNS. ``passes`` computes wavefronts."""
    layout, most = operand.layout, _most_rows(rows, operand.width, rules)
    if len(rows) > most:
        parts = range(0, len(rows), most)
        return np.concatenate([cost_table(rows[at : at + most], operand, array, rules, passes) for at in parts])
    lanes = np.count_nonzero(rows >= 0, axis=1)
    requested = lanes * (array.itemsize * layout.width)
    columns: dict[str, npt.NDArray[np.int64]] = {
        "requests": (lanes > 0).astype(np.int64),
        "lanes": lanes,
        "bytes_asked": requested,
    }
    if array.space == "global":
        moved = requests(rows, array.itemsize, rules, layout)
        columns |= {
            name: getattr(moved, name) for name in ("bytes_used", "sectors", "needed_sectors", "ideal_sectors", "lines")
        }
    else:
        columns["wavefronts"], columns["ideal_wavefronts"] = _of_banks(rows, operand, array, rules, passes)
    nothing = np.zeros(len(rows), np.int64)
    return np.stack([columns.get(name, nothing) for name in COST_COLUMNS], axis=1)


def _most_rows(rows: Rows, width: int, rules: MemoryRules) -> int:
    """Number of rows that are processed together: whole warps, and fewer for a wide access."""
    per_warp = rules.warp_size // rules.request_lanes
    return len(rows) if width <= _NARROW else max(1, _ELEMENTS_AT_ONCE // (width * rows.shape[1] * per_warp)) * per_warp


def _of_banks(
    rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules, passes: Passes
) -> tuple[CostSums, CostSums]:
    """Wavefronts of each request, and the fewest possible, summed over the runs of neighbours of its layout."""
    actual, ideal = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for run in operand.layout.runs:
        words, per_lane = lane_words(moved_by_lane(rows, run.first, rules), array.itemsize, rules, run.width)
        took, needed = passes(words, per_lane, operand.access == "read", rules)
        actual, ideal = actual + took, ideal + needed
    return actual, ideal


# The sectors of an array that some requests move: which ones, which of their elements lanes request, and whether fewer
# sectors could hold what the requests need.

_SECTORS, _NEEDED = COST_COLUMNS.index("sectors"), COST_COLUMNS.index("needed_sectors")


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
    wastes = costs[:, _SECTORS] > costs[:, _NEEDED]
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
