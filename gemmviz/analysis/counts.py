"""Totals: what a step, a site, a phase or a whole launch costs, in the words of Nsight Compute."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.banks import wavefronts, words_of
from gemmviz.analysis.coalescing import LINE_BYTES, SECTOR_BYTES, requests
from gemmviz.analysis.warps import Rows, access_rows, alike, warp_rows
from gemmviz.model.errors import Cancelled
from gemmviz.model.lanes import LaneSpace
from gemmviz.model.trace import AccessSink, Bools, Longs, MemoryArray, Site, Trace


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over warps. ``requests`` counts a warp's execution of an access to global memory or of one to shared memory.

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

    @property
    def bytes_moved(self) -> int:
        """What global memory sends or takes: whole sectors."""
        return self.sectors * SECTOR_BYTES

    @property
    def excessive_sectors(self) -> int:
        return self.sectors - self.ideal_sectors

    @property
    def excessive_wavefronts(self) -> int:
        return self.wavefronts - self.ideal_wavefronts


COST_COLUMNS = tuple(f.name for f in fields(Counts))


def count_rows(rows: Rows, site: Site, array: MemoryArray) -> Counts:
    """The cost of one access by the warps in ``rows`` (rows, warp), elements, -1 inactive."""
    return Counts(*cost_table(rows, site, array).sum(axis=0).tolist())


def cost_table(rows: Rows, site: Site, array: MemoryArray) -> npt.NDArray[np.int64]:
    """What each warp pays: int64 (rows, columns), columns as COST_COLUMNS names them."""
    lanes = np.count_nonzero(rows >= 0, axis=1)
    asked = lanes * (array.itemsize * site.width)
    found: dict[str, npt.NDArray[np.int64]] = {"requests": (lanes > 0).astype(np.int64), "lanes": lanes, "bytes_asked": asked}
    if array.space == "global":
        moved = requests(rows, array.itemsize, site.width)
        found |= {name: getattr(moved, name) for name in ("bytes_used", "sectors", "ideal_sectors", "lines")}
    else:
        words = words_of(rows, array.itemsize, site.width)
        found["wavefronts"], found["ideal_wavefronts"] = wavefronts(*words, site.kind == "load")
    nothing = np.zeros(len(rows), np.int64)
    return np.stack([found.get(name, nothing) for name in COST_COLUMNS], axis=1)


class LaunchCounter:
    """Counts a launch as its accesses stream by, per site and per phase; holds none of them.

    Feed it through ``sink``, one for each group of blocks. ``arrays`` are known from the first on.
    """

    def __init__(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.cancelled = cancelled
        self.arrays: tuple[MemoryArray, ...] = ()
        self.phase_loop = -1
        self.sites: dict[Site, Counts] = {}
        self.phases: dict[int, Counts] = {}

    @classmethod
    def of(cls, arrays: tuple[MemoryArray, ...], sums: Mapping[tuple[Site, int], tuple[int, ...]]) -> "LaunchCounter":
        """A counter that holds what somebody else counted: by site and phase, in the order of Counts."""
        counter = cls()
        counter.arrays = arrays
        for (site, phase), found in sums.items():
            counter.add(site, phase, Counts(*found))
        return counter

    def sink(self, space: LaneSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> "GroupCounter":
        self.arrays, self.phase_loop = arrays, phase_loop
        return GroupCounter(self, space)

    def add(self, site: Site, phase: int, counts: Counts) -> None:
        self.sites[site] = self.sites.get(site, Counts()) + counts
        self.phases[phase] = self.phases.get(phase, Counts()) + counts


class GroupCounter(AccessSink):
    """The sink for one group of blocks. What doesn't vary along an axis of the grid is counted once and multiplied."""

    def __init__(self, counter: LaunchCounter, space: LaneSpace) -> None:
        self.counter = counter
        self.space = space
        self.sites: list[Site] = []

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        where = self.sites[site]
        if where.is_barrier:
            return
        array = self.counter.arrays[where.array]
        counts = Counts()
        for part, times in access_rows(self.space, offset, mask):
            if self.counter.cancelled():
                raise Cancelled
            rows, same = part, 1
            if array.space == "global":
                rows, same = alike(part, self.space.warps, LINE_BYTES // array.itemsize)
            counts += count_rows(rows, where, array).times(times * same)
        loop = self.counter.phase_loop
        phase = visits[where.loops.index(loop)] if loop in where.loops else -1
        self.counter.add(where, phase, counts)


def count_steps(trace: Trace, steps: Iterable[int]) -> dict[Site, Counts]:
    """The cost of some steps of a trace, over all traced blocks, by site."""
    found: dict[Site, Counts] = {}
    for step in steps:
        site, array = trace.site_of(step), trace.array_of(step)
        if array is not None:
            rows = warp_rows(trace.element[step].reshape(-1, trace.launch.threads), trace.warp_size)
            found[site] = found.get(site, Counts()) + count_rows(rows, site, array)
    return found


def totals(sites: Mapping[Site, Counts], arrays: tuple[MemoryArray, ...]) -> dict[str, int]:
    """Sums by kind of access, under the names that the hardware's counters go by."""

    def total(space: str, *kinds: str) -> Counts:
        chosen = (c for s, c in sites.items() if not s.is_barrier and s.kind in kinds and arrays[s.array].space == space)
        return sum(chosen, Counts())

    loads, stores = total("global", "load"), total("global", "store")
    shared_loads, shared_stores = total("shared", "load"), total("shared", "store")
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


def loads_per_element(sites: Mapping[Site, Counts], arrays: tuple[MemoryArray, ...]) -> dict[str, float]:
    """How often an element of each array is loaded, on average over the array (shared arrays: summed over blocks)."""
    found: dict[str, float] = {}
    for number, array in enumerate(arrays):
        loads = sum(c.lanes * site.width for site, c in sites.items() if site.array == number and site.kind == "load")
        found[array.name] = loads / array.size
    return found


def intensity(flops: int, bytes_moved: int) -> float:
    """Arithmetic intensity in flop per byte; infinite where nothing is moved."""
    return flops / bytes_moved if bytes_moved else float("inf")
