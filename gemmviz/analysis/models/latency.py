"""A model of latency hiding: the warps of one scheduler alternate between computing and waiting for memory.

Each warp issues for BUSY cycles, then waits LATENCY cycles for its data: those of a load from DRAM, as measured on an H200
(assets/measurements/access-times-nvidia-h200.json). A scheduler issues for one ready warp at a time, in turn; changing warps
costs nothing. The model takes both numbers as given and doesn't include bandwidth.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.models.occupancy import occupancy_limits
from gemmviz.model.occupancy import OccupancyCase
from gemmviz.model.translation import tr

BUSY, LATENCY, CYCLES = 20, 701, 2103


class Hiding(Struct, frozen=True):
    """``busy`` (warps, n): the cycles at which each warp begins to issue, padded with -1; ``used``: the share of cycles in
    which the scheduler issues in the long run; ``warps``: the warps of one scheduler; ``most``: the warps that it can hold.
    """

    busy: npt.NDArray[np.int64]
    used: float
    warps: int
    most: int

    @property
    def enough(self) -> int:
        """The number of warps that would hide all of the latency, which may be more than a scheduler holds."""
        return 1 + -(-LATENCY // BUSY)

    @property
    def percent(self) -> str:
        """``used`` in percent, as pictures and captions write it."""
        return f"{100 * self.used:.3g}"

    @property
    def sentence(self) -> str:
        """What the model says, in a sentence: the share, and how many warps would hide all latency."""
        if self.warps >= self.enough:
            return tr("the scheduler issues in {percent} % of the cycles; all latency is hidden", percent=self.percent)
        more = tr("{enough} warps would hide all latency", enough=self.enough)
        if self.enough > self.most:
            more = tr("{more}, but it holds {most} at most", more=more, most=self.most)
        return tr("the scheduler issues in {percent} % of the cycles; {more}", percent=self.percent, more=more)


def hiding(warps: int, most: int) -> Hiding:
    """Runs the model with this number of warps for one scheduler, which can hold ``most``."""
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
    return Hiding(table, min(1.0, warps * BUSY / (BUSY + LATENCY)), warps, most)


def hiding_of(case: OccupancyCase) -> Hiding:
    """Runs the model with the warps that occupancy allows for one scheduler of an SM."""
    limits = occupancy_limits(case.device, case.needs)
    schedulers = case.device.schedulers or case.device.warp_granularity
    return hiding(max(1, limits.warps // schedulers) if limits.warps else 0, max(1, limits.most_warps // schedulers))
