"""What a warp reads of the matrices at one moment: the elements of its lanes, and what the request moves."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.memory.counts import Counts, count_rows
from gemmviz.analysis.memory.moved_sectors import MovedSectors, moved_sectors
from gemmviz.analysis.memory.warps import warp_rows
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import reads_at
from gemmviz.model.arrays import Longs
from gemmviz.model.sites import MemoryArray


class WarpRead(Struct, frozen=True):
    """A warp's request for a matrix: its elements and their lanes, one entry for each element of each lane, with its sectors
    and counts. ``ks``: the range of k that it covers.
    """

    array: MemoryArray
    elements: Longs
    lanes: Longs
    moved: MovedSectors
    cost: Counts
    ks: tuple[int, int]


def warp_reads(moment: Moment, warp: int) -> list[WarpRead]:
    """Return what a warp reads of A and of B; nothing of other problems."""
    return [read for name in "AB" if (read := _read(moment, warp, name))] if moment.trace.is_multiply else []


def _read(moment: Moment, warp: int, name: str) -> WarpRead | None:
    """Return a warp's latest request for A or B in global memory, its first one before that; None if it makes none."""
    trace, reads = moment.trace, reads_at(moment)
    number, size = trace.number_of(name), trace.rules.warp_size
    own = np.flatnonzero((reads.number == number) & (reads.thread // size == warp))
    if number is None or not len(own):
        return None
    past = own[reads.step[own] <= moment.step]
    step = int(reads.step[past[-1] if len(past) else own[0]])
    place, operand = next(
        (place, each)
        for place, each in enumerate(trace.site_of(step).operands)
        if (each.array, each.access) == (number, "read")
    )
    rows = warp_rows(trace.element[int(trace.row[step]) + place][None, moment.scope.of_block], size)[warp]
    lanes = np.flatnonzero(rows >= 0)
    requests, array = rows.reshape(-1, trace.rules.request_lanes), trace.arrays[number]
    elements = operand.layout.spread(rows[lanes], lanes).ravel()
    row, column = array.row_column(elements)
    k = column if name == "A" else row
    return WarpRead(
        array, elements, np.repeat(lanes, operand.width), moved_sectors(requests, operand, array, trace.rules),
        count_rows(requests, operand, array, trace.rules), (int(k.min()), int(k.max()) + 1),
    )  # fmt: skip
