"""Models of time: latency that warps hide, limits of scaling, and schedules of blocks."""

from math import isqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.models.occupancy import occupancy_limits
from gemmviz.model.device import OccupancyCase
from gemmviz.model.problem import Problem
from gemmviz.model.schedule import Schedule
from gemmviz.model.translation import counted, tr

# Quantities that grow with a multiplication: its work and span, the bytes of its matrices, and the sizes that a cache
# holds.

BYTES = 4  # of a float32


def work_of(problem: Problem) -> int:
    """Return T1 of C = A B: the 2 M N K operations that one thread does in sequence."""
    return 2 * problem.M * problem.N * problem.K


def span_of(problem: Problem) -> int:
    """Return T-infinity, the longest chain of operations: one product, since products wait for nothing, and K additions."""
    return problem.K + 1


def parallelism_of(problem: Problem) -> float:
    """Return work divided by span: the most that any number of threads can gain."""
    return work_of(problem) / span_of(problem)


def matrix_bytes(problem: Problem) -> dict[str, int]:
    """Return the bytes of A, B and C in float32."""
    m, n, k = problem.M, problem.N, problem.K
    return {"A": BYTES * m * k, "B": BYTES * k * n, "C": BYTES * m * n}


def data_bytes(problem: Problem) -> int:
    """Return the bytes of A, B and C together."""
    return sum(matrix_bytes(problem).values())


def largest_held(cache_bytes: int) -> int:
    """Return the largest N of which three N x N matrices fit a cache; 0 if none do."""
    return isqrt(cache_bytes // (3 * BYTES))


# A model of latency hiding: the warps of one scheduler alternate between computing and waiting for memory.

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
        return counted(f"{100 * self.used:.3g}")

    @property
    def sentence(self) -> str:
        """What the model says, in a sentence: the share, and how many warps would hide all latency."""
        if self.warps >= self.enough:
            return tr("the scheduler issues in {percent} % of the cycles; all latency is hidden", percent=self.percent)
        more = tr("{enough} warps would hide all latency", enough=counted(self.enough))
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


# Schedules of blocks: a model of their distribution over SMs, their states at an instant, and the blocks on each SM.

WAITING, RUNNING, DONE = range(3)
WAVE_NS = 1000  # time of every block, in the model's unit


def modelled(blocks: int, sms: int, blocks_per_sm: int) -> Schedule:
    """A schedule in which every block takes the same time: the first blocks go to the SMs in turn until these are full; each
    later one takes the next free place. This models CUDA's waves, not the scheduler of any GPU, which is not published.
    """
    number = np.arange(blocks, dtype=np.int64)
    held = max(1, sms * blocks_per_sm)
    start = number // held * WAVE_NS
    return Schedule((number % held % sms).astype(np.int32), start, start + WAVE_NS, WAVE_NS)


def waves(blocks: int, sms: int, blocks_per_sm: int) -> int:
    """Number of times that all SMs are filled before every block has run."""
    return -(-blocks // max(1, sms * blocks_per_sm))


def states(schedule: Schedule, at_ns: float) -> npt.NDArray[np.int8]:
    """The state of each block at an instant: WAITING, RUNNING or DONE."""
    running = (schedule.start_ns <= at_ns) & (at_ns < schedule.stop_ns)
    return np.where(schedule.stop_ns <= at_ns, DONE, np.where(running, RUNNING, WAITING)).astype(np.int8)


def residents(schedule: Schedule, sms: int, columns: int, span_ns: int) -> npt.NDArray[np.int32]:
    """Blocks on each SM in the middle of each of ``columns`` intervals of a span: (sms, columns)."""
    middles = (np.arange(columns) + 0.5) * span_ns / columns
    changes = np.zeros((sms, columns + 1), np.int32)
    np.add.at(changes, (schedule.sm, np.searchsorted(middles, schedule.start_ns)), 1)
    np.add.at(changes, (schedule.sm, np.searchsorted(middles, schedule.stop_ns)), -1)
    return np.cumsum(changes, axis=1)[:, :columns].astype(np.int32)
