"""Totals: what a step, a site, a phase or a whole launch costs, in the words of Nsight Compute."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.banks import wavefronts, words_of
from gemmviz.analysis.coalescing import requests
from gemmviz.analysis.warps import Rows, access_rows, alike, request_rows
from gemmviz.model.device import MemoryRules
from gemmviz.model.errors import Cancelled
from gemmviz.model.sinks import COST_COLUMNS, AccessSink, Bools, Longs
from gemmviz.model.sites import MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import Trace

_MOST_PATTERNS = 1 << 14
_LARGEST_PATTERN = 1 << 16  # elements


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over requests: the executions by a warp of an access to global memory, or of one to shared memory. In the order of
    COST_COLUMNS.

    Bytes asked for count an element once for each lane that asks, bytes used once for each request. Sectors, lines and bytes
    used belong to global memory, wavefronts to shared memory.
    """

    requests: int = 0
    lanes: int = 0
    bytes_asked: int = 0
    bytes_used: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    lines: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def times(self, factor: int) -> "Counts":
        return Counts(*(getattr(self, f.name) * factor for f in fields(self)))

    def bytes_moved(self, rules: MemoryRules) -> int:
        """What global memory sends or takes: whole sectors."""
        return self.sectors * rules.sector_bytes

    @property
    def excessive_sectors(self) -> int:
        return self.sectors - self.ideal_sectors

    @property
    def excessive_wavefronts(self) -> int:
        return self.wavefronts - self.ideal_wavefronts


def count_rows(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules) -> Counts:
    """The cost of one access by the requests in ``rows`` (rows, lanes), elements, -1 inactive."""
    return Counts(*cost_table(rows, operand, array, rules).sum(axis=0).tolist())


def cost_table(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules) -> npt.NDArray[np.int64]:
    """What each request costs: int64 (rows, columns), columns as COST_COLUMNS names them."""
    lanes = np.count_nonzero(rows >= 0, axis=1)
    asked = lanes * (array.itemsize * operand.width)
    found: dict[str, npt.NDArray[np.int64]] = {"requests": (lanes > 0).astype(np.int64), "lanes": lanes, "bytes_asked": asked}
    if array.space == "global":
        moved = requests(rows, array.itemsize, rules, operand.offsets)
        found |= {name: getattr(moved, name) for name in ("bytes_used", "sectors", "ideal_sectors", "lines")}
    else:
        words, per_lane = words_of(rows, array.itemsize, rules, operand.width)
        found["wavefronts"], found["ideal_wavefronts"] = wavefronts(words, per_lane, operand.access == "read", rules)
    nothing = np.zeros(len(rows), np.int64)
    return np.stack([found.get(name, nothing) for name in COST_COLUMNS], axis=1)


@dataclass
class LaunchCounts:
    """What a whole launch costs, per access (a site and one of its operands) and per phase (-1 outside of phases)."""

    rules: MemoryRules
    arrays: tuple[MemoryArray, ...] = ()
    accesses: dict[tuple[Site, Operand], Counts] = field(default_factory=dict)
    phases: dict[int, Counts] = field(default_factory=dict)

    def add(self, site: Site, operand: Operand, phase: int, counts: Counts) -> None:
        self.accesses[site, operand] = self.accesses.get((site, operand), Counts()) + counts
        self.phases[phase] = self.phases.get(phase, Counts()) + counts

    def total(self, space: str | None = None, *accesses: str) -> Counts:
        """Of one kind of memory (and some kinds of access)."""
        chosen = (
            counts
            for (_, operand), counts in self.accesses.items()
            if space in (None, self.arrays[operand.array].space) and (not accesses or operand.access in accesses)
        )
        return sum(chosen, Counts())


class LaunchCounter:
    """Counts a launch as its accesses stream by, and holds none of them: a ``LaunchSink``."""

    def __init__(self, rules: MemoryRules, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.counts = LaunchCounts(rules)
        self.cancelled = cancelled
        self.patterns: dict[tuple[Any, ...], Counts] = {}

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        self.counts.arrays = arrays
        return GroupCounter(self, space, phase_loop)

    def add_sums(self, arrays: tuple[MemoryArray, ...], sums: Mapping[tuple[Site, int], tuple[int, ...]]) -> None:
        self.counts.arrays = arrays
        for (site, phase), found in sums.items():
            self.counts.add(site, site.operands[0], phase, Counts(*found))

    def cost(self, rows: Rows, operand: Operand) -> Counts:
        """As ``count_rows``; a pattern that came before, if shifted by whole lines (or whole rows of banks), is not counted
        again.
        """
        array, rules = self.counts.arrays[operand.array], self.counts.rules
        if rows.size > _LARGEST_PATTERN:
            return count_rows(rows, operand, array, rules)
        unit = rules.line_bytes if array.space == "global" else rules.banks * rules.bank_bytes
        elements = max(1, unit // array.itemsize)
        active = rows >= 0
        low = int(rows.min()) if active.all() else int(rows[active].min(initial=0))
        key = operand, rows.shape, np.where(active, rows - low // elements * elements, -1).tobytes()
        found = self.patterns.get(key)
        if found is None:
            if len(self.patterns) >= _MOST_PATTERNS:
                self.patterns.clear()
            found = self.patterns[key] = count_rows(rows, operand, array, rules)
        return found


class GroupCounter(AccessSink):
    """The sink for one group of blocks. What doesn't vary along an axis of the grid is counted once and multiplied."""

    def __init__(self, counter: LaunchCounter, space: ThreadSpace, phase_loop: int) -> None:
        self.counter = counter
        self.space = space
        self.phase_loop = phase_loop
        self.sites: list[Site] = []
        self.requests = len(request_rows(np.zeros((1, space.threads_per_block)), counter.counts.rules))

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        where, counts = self.sites[site], self.counter.counts
        if where.is_barrier:
            return
        (operand,) = where.operands
        array, rules = counts.arrays[operand.array], counts.rules
        found = Counts()
        for part, times in access_rows(self.space, rules, offset, mask):
            if self.counter.cancelled():
                raise Cancelled
            rows, same = part, 1
            if array.space == "global":
                rows, same = alike(part, self.requests, max(1, rules.line_bytes // array.itemsize))
            found += self.counter.cost(rows, operand).times(times * same)
        phase = visits[where.loops.index(self.phase_loop)] if self.phase_loop in where.loops else -1
        counts.add(where, operand, phase, found)


def count_steps(trace: Trace, steps: Iterable[int]) -> LaunchCounts:
    """The cost of some steps of a trace, over all traced blocks."""
    counts = LaunchCounts(trace.rules, trace.arrays)
    for step in steps:
        site = trace.site_of(step)
        for place, operand in enumerate(site.operands):
            row = trace.element[trace.row[step] + place].reshape(-1, trace.launch.threads_per_block)
            cost = count_rows(request_rows(row, trace.rules), operand, trace.arrays[operand.array], trace.rules)
            counts.add(site, operand, int(trace.phase[step]), cost)
    return counts


def totals(counts: LaunchCounts) -> dict[str, int]:
    """Sums by kind of access, under the names that the hardware's counters go by."""
    loads, stores = counts.total("global", "read"), counts.total("global", "write")
    shared_loads, shared_stores = counts.total("shared", "read"), counts.total("shared", "write")
    shared = shared_loads + shared_stores
    return {
        "global_load_requests": loads.requests,
        "global_load_sectors": loads.sectors,
        "global_load_sectors_ideal": loads.ideal_sectors,
        "global_load_bytes": loads.bytes_asked,
        "global_store_requests": stores.requests,
        "global_store_sectors": stores.sectors,
        "global_store_sectors_ideal": stores.ideal_sectors,
        "global_store_bytes": stores.bytes_asked,
        "shared_load_instructions": shared_loads.requests,
        "shared_store_instructions": shared_stores.requests,
        "shared_load_bytes": shared_loads.bytes_asked,
        "shared_store_bytes": shared_stores.bytes_asked,
        "shared_wavefronts": shared.wavefronts,
        "shared_wavefronts_ideal": shared.ideal_wavefronts,
    }


def loads_per_element(counts: LaunchCounts) -> dict[str, float]:
    """How often an element of each array is loaded, on average over the array (shared arrays: summed over blocks)."""
    found: dict[str, float] = {}
    for number, array in enumerate(counts.arrays):
        loads = sum(
            counted.lanes * operand.width
            for (_, operand), counted in counts.accesses.items()
            if operand.array == number and operand.access == "read"
        )
        found[array.name] = loads / array.size
    return found


def intensity(flops: int, size_bytes: int) -> float:
    """Arithmetic intensity in flop per byte; infinite where there are no bytes."""
    return flops / size_bytes if size_bytes else float("inf")
