"""Global memory: what one warp's request moves, in 32-byte sectors and 128-byte lines.

Rule: a request's sectors are the distinct ``address >> 5`` of its active lanes, its lines the distinct ``address >> 7``.
Measured on an H200: equal to l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}.sum and l1tex__t_requests_... on 22 launches.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.warps import Rows, distinct_per_row

SECTOR_BYTES = 32
LINE_BYTES = 128
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Requests:
    """Per warp (rows,): whether it made a request, its sectors and lines, bytes asked for (an element counts for each lane
    that asks) and used (once), and the sectors that the bytes asked for would fill side by side (never more than it took).
    """

    made: Counts
    sectors: Counts
    lines: Counts
    bytes_asked: Counts
    bytes_used: Counts
    ideal_sectors: Counts


def requests(rows: Rows, itemsize: int, width: int = 1) -> Requests:
    """What each warp's access moves. ``rows``: elements (rows, warp), -1 inactive; ``itemsize`` in bytes."""
    active = rows >= 0
    lanes = np.count_nonzero(active, axis=1)
    addresses = rows * itemsize
    sectors = distinct_per_row(addresses >> 5, active)
    asked = lanes * (itemsize * width)
    return Requests(
        made=(lanes > 0).astype(np.int64),
        sectors=sectors,
        lines=distinct_per_row(addresses >> 7, active),
        bytes_asked=asked,
        bytes_used=distinct_per_row(rows, active) * (itemsize * width),
        ideal_sectors=np.minimum(sectors, -(-asked // SECTOR_BYTES)),
    )
