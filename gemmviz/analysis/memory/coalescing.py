"""Global memory: sectors and lines that one request moves.

Rule: a request's sectors are the distinct ``address // sector`` of its active lanes, its lines likewise. Measured on an H200:
equal to l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum and l1tex__t_requests_... on 22 launches.

On compute capability 1.0 and 1.1 the lanes of half a warp move one aligned segment of 64 bytes (words of 4 bytes) or 128 (8 and
16 bytes, of which the latter take two) if lane k requests word k of it or nothing; otherwise each lane moves 32 bytes by
itself. Source: CUDA C Programming Guide 4.2, Appendix F.3.2, Global Memory.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.memory.warps import PerRow, Rows, distinct_per_row, lanes_of
from gemmviz.model.device import MemoryRules
from gemmviz.model.layouts import SCALAR, Layout

_LARGEST_SEGMENT = 128  # bytes


class Requests(Struct, frozen=True):
    """Figures of each request (rows,): whether any lane is active, its sectors and lines, bytes requested (an element counts
    for each lane that requests it) and used (once), and the sectors that the requested bytes would fill side by side (never
    more than ``sectors``); by the rule of compute capability 1.0, which serves an element once for each lane, the used bytes.
    """

    requests: PerRow
    sectors: PerRow
    lines: PerRow
    bytes_asked: PerRow
    bytes_used: PerRow
    ideal_sectors: PerRow


def requests(rows: Rows, itemsize: int, rules: MemoryRules, layout: Layout = SCALAR) -> Requests:
    """The figures of some requests. ``rows``: elements (rows, lanes), -1 inactive; ``itemsize`` in bytes; ``layout``: the
    elements that each lane touches, relative to its own.
    """
    active = rows >= 0
    lanes = np.count_nonzero(active, axis=1)
    requested = lanes * (itemsize * layout.width)
    touched, all_active = _touched(rows, active, itemsize, rules, layout)
    sectors = distinct_per_row(touched // rules.sector_bytes, all_active)
    if rules.coalescing == "segments":
        sectors = _segments(rows, active, itemsize, rules, layout)
    used = _used(rows, active, touched, all_active, itemsize, layout)
    needed = used if rules.coalescing == "segments" else requested
    return Requests(
        requests=(lanes > 0).astype(np.int64),
        sectors=sectors,
        lines=distinct_per_row(touched // rules.line_bytes, all_active),
        bytes_asked=requested,
        bytes_used=used,
        ideal_sectors=np.minimum(sectors, -(-needed // rules.sector_bytes)),
    )


def _used(
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


def _segments(rows: Rows, active: npt.NDArray[np.bool_], itemsize: int, rules: MemoryRules, layout: Layout) -> PerRow:
    """Sectors by the rule of compute capability 1.0: those of a whole segment, or one for each lane."""
    word = itemsize * layout.width
    together = moves_segment(rows, active, itemsize, layout)
    alone = np.count_nonzero(active, axis=1) * max(1, word // rules.sector_bytes)
    return np.asarray(np.where(together, rows.shape[1] * word // rules.sector_bytes, alone), np.int64)


def _touched(
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
