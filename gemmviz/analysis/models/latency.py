"""A model of latency hiding: warps of one scheduler that compute for a while and then wait for memory.

Each warp issues BUSY cycles, then waits LATENCY for what it has asked for. A scheduler issues for one warp at a time, in turn
among those that are ready; to change from one to the next costs nothing. It is a model: it takes the two numbers as given and
says nothing of bandwidth.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.models.occupancy import occupancy_limits
from gemmviz.model.occupancy import OccupancyCase

BUSY, LATENCY, CYCLES = 20, 400, 1600


@dataclass(frozen=True)
class Hiding:
    """``busy`` (warps, n): when each warp begins to issue, in cycles, -1 padded; ``used``: the share of the cycles in which the
    scheduler issues in the long run; ``warps``: those of one scheduler.
    """

    busy: npt.NDArray[np.int64]
    used: float
    warps: int

    @property
    def enough(self) -> int:
        """So many warps hide all of the latency."""
        return 1 + -(-LATENCY // BUSY)


def hiding(warps: int) -> Hiding:
    """Runs the model for so many warps of one scheduler."""
    ready, starts = [0] * warps, [[] for _ in range(warps)]  # type: ignore[var-annotated]
    now = 0
    while now < CYCLES and warps:
        turn = min(range(warps), key=lambda w: (max(ready[w], now), len(starts[w]), w))
        now = max(now, ready[turn])
        if now >= CYCLES:
            break
        starts[turn].append(now)
        now += BUSY
        ready[turn] = now + LATENCY
    table = np.full((warps, max(map(len, starts), default=0)), -1, np.int64)
    for row, each in enumerate(starts):
        table[row, : len(each)] = each
    return Hiding(table, min(1.0, warps * BUSY / (BUSY + LATENCY)), warps)


def hiding_of(case: OccupancyCase) -> Hiding:
    """With the warps that occupancy lets one scheduler of an SM have."""
    limits = occupancy_limits(case.device, case.needs)
    schedulers = case.device.schedulers or case.device.warp_granularity
    return hiding(max(1, limits.warps // schedulers) if limits.warps else 0)
