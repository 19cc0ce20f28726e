"""Models of the hardware: occupancy, latency that warps hide, limits of scaling, and schedules of blocks."""

from functools import lru_cache
from math import isqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from gemmviz.model.arrays import Ints, Longs
from gemmviz.model.device import Device, Needs, OccupancyCase
from gemmviz.model.messages import counted, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.timing import Schedule

# Occupancy: the number of blocks that an SM holds at once, by each of its limits.

SLOTS, WARPS, REGISTERS, SHARED = marked("block slots"), marked("warps"), marked("registers"), marked("shared memory")


class OccupancyLimits(Struct, frozen=True):
    """Blocks that an SM holds according to each limit, by its name: None for registers if unknown.

    ``warps_per_block``: the last warp may be half empty and counts as a whole one.
    """

    limits: dict[str, int | None]
    needs: Needs
    warps_per_block: int
    device: Device

    @property
    def blocks_per_sm(self) -> int:
        """The smallest of the known limits."""
        return min(limit for limit in self.limits.values() if limit is not None)

    @property
    def is_certain(self) -> bool:
        """Whether all limits are known, or a known one allows no block at all."""
        return None not in self.limits.values() or self.blocks_per_sm == 0

    @property
    def limiting(self) -> tuple[str, ...]:
        """The names of the smallest limits."""
        least = self.blocks_per_sm
        return tuple(name for name, limit in self.limits.items() if limit == least)

    @property
    def uses(self) -> dict[str, tuple[int, int] | None]:
        """What a block takes and what an SM holds of each resource, by the limit's name: None for registers if unknown."""
        device, registers = self.device, self.needs.registers
        taken = None if registers is None else _registers_taken(device, self.warps_per_block, registers)
        return {
            SLOTS: (1, device.max_blocks_per_sm),
            WARPS: (self.warps_per_block, _most_warps(device)),
            REGISTERS: None if taken is None else (taken, device.registers_per_sm),
            SHARED: (_shared_taken(device, self.needs), device.shared_per_sm),
        }

    @property
    def threads(self) -> int:
        """Threads resident on an SM."""
        return self.blocks_per_sm * self.needs.threads

    @property
    def warps(self) -> int:
        """Warps resident on an SM."""
        return self.blocks_per_sm * self.warps_per_block

    @property
    def most_warps(self) -> int:
        """Warps that an SM holds at most, of any kernel."""
        return _most_warps(self.device)

    @property
    def threads_percent(self) -> float:
        """Resident threads in percent of an SM's maximum, as lectures define occupancy."""
        return 100.0 * self.threads / self.device.max_threads_per_sm

    @property
    def warps_percent(self) -> float:
        """Resident warps in percent of an SM's maximum, as the profiler defines occupancy."""
        return 100.0 * self.warps / self.device.max_warps_per_sm


def occupancy_limits(device: Device, needs: Needs, shared_bytes: int | None = None) -> OccupancyLimits:
    """The limits of a block on a device. ``shared_bytes``: an SM's shared memory that the driver gives to blocks, by default
    all of it. A block that the device can't hold at all has a limit of 0.
    """
    warps = -(-max(needs.threads, 1) // device.warp_size)
    fits = 1 <= needs.threads <= device.max_threads_per_block
    limits = {
        SLOTS: device.max_blocks_per_sm,
        WARPS: _most_warps(device) // warps if fits else 0,
        REGISTERS: None if needs.registers is None else _blocks_by_registers(device, warps, needs.registers),
        SHARED: _blocks_by_shared(device, needs, device.shared_per_sm if shared_bytes is None else shared_bytes),
    }
    return OccupancyLimits(limits, needs, warps, device)


def _most_warps(device: Device) -> int:
    return min(device.max_warps_per_sm, device.max_threads_per_sm // device.warp_size)


def _blocks_by_registers(device: Device, warps: int, registers: int) -> int:
    """The limit by registers. An SM's register file has one part per scheduler, and a warp's registers lie in one of them; if a
    block may have only part of the file, the file is filled in such portions.
    """
    if registers > device.max_registers_per_thread:
        return 0
    if registers == 0:
        return device.max_blocks_per_sm
    if device.registers_by_block:
        return device.registers_per_sm // _registers_taken(device, warps, registers)
    per_warp = _up(registers * device.warp_size, device.register_unit)
    portion = min(device.registers_per_block, device.registers_per_sm)
    held = portion // device.warp_granularity // per_warp * device.warp_granularity
    return held // warps * (device.registers_per_sm // portion)


def _registers_taken(device: Device, warps: int, registers: int) -> int:
    """The registers that a block takes: whole units for each warp, or for the block with its warps rounded up."""
    if device.registers_by_block:
        rounded = _up(warps, device.warp_granularity)
        return _up(rounded * device.warp_size * registers, device.register_unit)
    return warps * _up(registers * device.warp_size, device.register_unit)


def _shared_taken(device: Device, needs: Needs) -> int:
    """The shared memory that a block takes: whole units, with the reserve and, where they are in it, the arguments."""
    arguments = needs.argument_bytes if device.arguments_in_shared else 0
    return _up(needs.shared_bytes + device.shared_reserved_per_block + arguments, device.shared_unit)


def _blocks_by_shared(device: Device, needs: Needs, available: int) -> int:
    """The limit by shared memory."""
    taken = _shared_taken(device, needs)
    return device.max_blocks_per_sm if taken == 0 else available // taken


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit


class WhatIf(Struct, frozen=True):
    """Occupancy as a function of one resource: its name, its values (n,), and the resident warps for each."""

    name: str
    values: Longs
    warps: Longs

    def nearest(self, value: int) -> int:
        """Index of the value that is nearest to the given one."""
        return int(np.abs(self.values - value).argmin())


_CURVES = ("threads", "registers", "shared")


@lru_cache(maxsize=64)
def what_ifs(device: Device, needs: Needs) -> tuple[WhatIf, ...]:
    """Occupancy over the block's size, its registers and its shared memory, each with the other two unchanged."""
    ranges = {
        "threads": np.arange(1, device.max_threads_per_block // device.warp_size + 1) * device.warp_size,
        "registers": np.arange(1, min(device.max_registers_per_thread, 255) + 1),
        "shared": np.arange(0, 65) * (device.shared_per_block // 64),
    }
    return tuple(_what_if(device, needs, name, ranges[name].astype(np.int64)) for name in _CURVES)


def tried(needs: Needs, name: str, value: int) -> Needs:
    """The resources with one of them changed by the user: ``name`` as in ``what_ifs``."""
    match name:
        case "threads":
            return structs.replace(needs, threads=value)
        case "registers":
            return structs.replace(needs, registers=value)
    return structs.replace(needs, shared_bytes=value)


def _what_if(device: Device, needs: Needs, name: str, values: Longs) -> WhatIf:
    warps = [occupancy_limits(device, tried(needs, name, value)).warps for value in values.tolist()]
    return WhatIf(name, values, np.array(warps, np.int64))


# Models of time: latency that warps hide, limits of scaling, and schedules of blocks.

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

    busy: Longs
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


def residents(schedule: Schedule, sms: int, columns: int, span_ns: int) -> Ints:
    """Blocks on each SM in the middle of each of ``columns`` intervals of a span: (sms, columns)."""
    middles = (np.arange(columns) + 0.5) * span_ns / columns
    at, least = schedule.sm * (columns + 1), sms * (columns + 1)
    begun, ended = (
        np.bincount(at + np.searchsorted(middles, times), minlength=least) for times in (schedule.start_ns, schedule.stop_ns)
    )
    return np.cumsum((begun - ended).reshape(sms, -1), axis=1)[:, :columns].astype(np.int32)
