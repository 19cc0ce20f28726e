"""Totals of the costs of a step, a site, a phase or a whole launch, named as in Nsight Compute."""

from collections.abc import Iterable, Mapping
from operator import add, attrgetter
from typing import Any

import numpy as np
from msgspec import Struct, field

from gemmviz.analysis.costs import CostSums, Passes, Rows, access_rows, cost_table, request_rows, warp_rows, wavefronts
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.device import MemoryRules
from gemmviz.model.messages import checkpoint
from gemmviz.model.sinks import COST_COLUMNS, AccessSink, Shifted, SumKey
from gemmviz.model.sites import MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE, Trace

# Patterns of accesses that differ by a shift alone: between two accesses of a site, and between the blocks of one access.

LARGEST_KEPT = 1 << 20  # offsets
SWITCHED_OFF = np.iinfo(np.int64).min  # the offset of a thread that takes no part


class LatestPattern:
    """The latest pattern of a site: its offsets and mask, and its cost at each shift within a unit."""

    def __init__(self, offset: Any, mask: Bools | None) -> None:
        self.offset, self.mask = offset, mask
        self.costs: dict[int, CostSums] = {}
        self.apart: tuple[Longs, dict[int, int], int] | None = None  # what is counted of it, once it is known

    def shift(self, offset: Any, mask: Bools | None) -> int | None:
        """Shift of the same threads' offsets relative to these, None if it differs between threads."""
        if mask is not self.mask and (mask is None or self.mask is None or not np.array_equal(mask, self.mask)):
            return None
        if offset is self.offset:
            return 0
        if isinstance(offset, Shifted) and isinstance(self.offset, Shifted) and offset.base is self.offset.base:
            return offset.shift - self.offset.shift
        if np.shape(offset) != np.shape(self.offset):
            return None
        beyond = np.asarray(offset) - np.asarray(self.offset)
        if mask is not None and beyond.size > 1:
            beyond, active = np.broadcast_arrays(beyond, mask)
            if beyond.size > LARGEST_KEPT:
                return None
            beyond = beyond[active]
        if not beyond.size:
            return 0
        first = int(beyond.flat[0])
        return first if beyond.size == 1 or bool((beyond == first).all()) else None


def shifts_along(values: Longs, axis: int, unit: int) -> dict[int, int] | None:
    """Number of slices along an axis with each shift within a unit, if all slices equal the first except for a shift; else
    None.
    """
    first = values.take([0], axis)
    active = first != SWITCHED_OFF
    at = tuple(int(place) for place in np.unravel_index(int(np.argmax(active)), active.shape))
    line = values[tuple(slice(None) if dim == axis else place for dim, place in enumerate(at))] - first[at]
    slices, shifts, is_whole = np.moveaxis(values, axis, 0), line.reshape(-1, *(1,) * (values.ndim - 1)), active.all()
    first, active = np.moveaxis(first, axis, 0), np.moveaxis(active, axis, 0)
    many = max(1, _COMPARED_AT_ONCE // max(1, first.size))
    for start in range(0, len(line), many):
        moved = first + shifts[start : start + many]
        if not np.array_equal(slices[start : start + many], moved if is_whole else np.where(active, moved, SWITCHED_OFF)):
            return None
    distinct, counts = np.unique(line % unit, return_counts=True)
    return dict(zip(distinct.tolist(), counts.tolist(), strict=True))


def summed_shifts(a: dict[int, int], b: dict[int, int], unit: int) -> dict[int, int]:
    """Number of occurrences of each sum of two shifts."""
    total: dict[int, int] = {}
    for x, many in a.items():
        for y, several in b.items():
            total[(x + y) % unit] = total.get((x + y) % unit, 0) + many * several
    return total


_AccessAndPhase = tuple[Site, Operand | None, int]  # no operand of a branch
_Place = tuple[int, int, int]  # number of a site, index of an operand, phase
_in_order = attrgetter(*COST_COLUMNS)
_MOST_PATTERNS = 1 << 14
_NO_UNIT = 1 << 62  # no shift of the ways at a branch leaves them the same
_LARGEST_PATTERN = 1 << 16  # elements
_COMPARED_AT_ONCE = 1 << 17  # elements, which the processor's cache holds
_LARGEST_LINE = 128  # bytes, of all distinct segments and lines


class Counts(Struct, frozen=True):
    """Sums over requests, where a request is the execution by a warp of one access to global or shared memory. Fields in the
    order of COST_COLUMNS.

    Requested bytes count an element once for each lane that requests it, used bytes once for each request. Sectors, lines and
    used bytes apply to global memory, wavefronts to shared memory. Needed sectors hold the used bytes of each request; ideal
    ones would hold its requested bytes, if each lane had its own element. Of a branch, requests are its executions by warps
    and wavefronts the ways that these took: one more than ideal where lanes of a warp parted.
    """

    requests: int = 0
    lanes: int = 0
    bytes_asked: int = 0
    bytes_used: int = 0
    sectors: int = 0
    needed_sectors: int = 0
    ideal_sectors: int = 0
    lines: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*map(add, _in_order(self), _in_order(other)))

    def times(self, factor: int) -> "Counts":
        return Counts(*(count * factor for count in _in_order(self)))

    def bytes_moved(self, rules: MemoryRules) -> int:
        """Bytes that global memory reads or writes: whole sectors."""
        return self.sectors * rules.sector_bytes

    @property
    def lost_sectors(self) -> int:
        """Sectors that are moved but not needed."""
        return self.sectors - self.needed_sectors

    @property
    def excessive_sectors(self) -> int:
        """Sectors beyond the ideal, as Nsight Compute counts them."""
        return self.sectors - self.ideal_sectors

    @property
    def excessive_wavefronts(self) -> int:
        return self.wavefronts - self.ideal_wavefronts


def branch_costs(rows: Rows) -> CostSums:
    """Sums over warps at a branch, in the order of COST_COLUMNS. ``rows`` (warps, lanes): 1 where its condition holds, 0 where
    it doesn't, -1 inactive.
    """
    taken, passed = (rows > 0).any(axis=1), (rows == 0).any(axis=1)
    warps, parted = int((taken | passed).sum()), int((taken & passed).sum())
    sums = {"requests": warps, "lanes": int((rows >= 0).sum()), "wavefronts": warps + parted, "ideal_wavefronts": warps}
    return np.array([sums.get(name, 0) for name in COST_COLUMNS], np.int64)


def count_rows(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules) -> Counts:
    """The cost of one access by the requests in ``rows`` (rows, lanes), elements, -1 inactive."""
    return Counts(*cost_table(rows, operand, array, rules).sum(axis=0).tolist())


class BranchCounts(Struct, frozen=True):
    """Executions of a branch by warps, those of them at which lanes part, and the lanes of all."""

    executions: int = 0
    parted: int = 0
    lanes: int = 0

    def __add__(self, other: "BranchCounts") -> "BranchCounts":
        return BranchCounts(self.executions + other.executions, self.parted + other.parted, self.lanes + other.lanes)


class LaunchCounts(Struct):
    """Costs of a whole launch, per access (a site and one of its operands) and per phase (-1 outside of phases)."""

    rules: MemoryRules
    arrays: tuple[MemoryArray, ...] = ()
    accesses: dict[tuple[Site, Operand], Counts] = field(default_factory=dict)
    phases: dict[int, Counts] = field(default_factory=dict)
    branches: dict[Site, BranchCounts] = field(default_factory=dict)

    def add(self, site: Site, operand: Operand | None, phase: int, counts: Counts) -> None:
        if operand is None:
            here = BranchCounts(counts.requests, counts.excessive_wavefronts, counts.lanes)
            self.branches[site] = self.branches.get(site, BranchCounts()) + here
            return
        self.accesses[site, operand] = self.accesses.get((site, operand), Counts()) + counts
        self.phases[phase] = self.phases.get(phase, Counts()) + counts

    def total(self, space: str | None = None, *accesses: str, atomic: bool | None = None, kind: str = "") -> Counts:
        """Costs of one kind of memory (and some kinds of access); ``atomic``: of atomics alone, or of all others; ``kind``: of
        these sites alone.
        """
        chosen = (
            counts
            for (site, operand), counts in self.accesses.items()
            if space in (None, self.arrays[operand.array].space)
            and (not accesses or operand.access in accesses)
            and atomic in (None, site.is_atomic)
            and kind in ("", site.kind)
        )
        return sum(chosen, Counts())

    def elements(self, space: str, access: str, name: str = "") -> int:
        """Number of elements that lanes request, each as often as it is requested; ``name``: of this array alone."""
        return sum(
            counts.bytes_asked // self.arrays[operand.array].itemsize
            for (_, operand), counts in self.accesses.items()
            if (self.arrays[operand.array].space, operand.access) == (space, access)
            and name in ("", self.arrays[operand.array].name)
        )


class LaunchCounter:
    """A ``LaunchSink`` that counts a launch from its stream of accesses, without storing them."""

    def __init__(self, rules: MemoryRules, passes: Passes = wavefronts) -> None:
        self.rules = rules
        self.passes = passes
        self.arrays: tuple[MemoryArray, ...] = ()
        self._sums: dict[_AccessAndPhase, CostSums] = {}
        self._groups: list[GroupCounter] = []
        self._patterns: dict[tuple[Any, ...], CostSums] = {}

    @property
    def counts(self) -> LaunchCounts:
        """The counts up to now."""
        counts = LaunchCounts(self.rules, self.arrays)
        for (site, operand, phase), sums in self._all().items():
            counts.add(site, operand, phase, Counts(*sums.tolist()))
        return counts

    @property
    def sums(self) -> dict[SumKey, tuple[int, ...]]:
        """The sums up to now, as ``add_sums`` takes them."""
        return {
            (site, 0 if operand is None else site.operands.index(operand), phase): tuple(sums.tolist())
            for (site, operand, phase), sums in self._all().items()
        }

    def _all(self) -> "dict[_AccessAndPhase, CostSums]":
        """The sums of all groups, in the order in which accesses first came."""
        all_sums = dict(self._sums)
        for group in self._groups:
            for (number, place, phase), sums in group.sums.items():
                site = group.sites[number]
                key = site, site.operand(place), phase
                all_sums[key] = all_sums[key] + sums if key in all_sums else sums
        return all_sums

    def sink(self, space: ThreadSpace, arrays: tuple[MemoryArray, ...], phase_loop: int) -> AccessSink:
        self.arrays = arrays
        self._groups.append(GroupCounter(self, space, phase_loop))
        return self._groups[-1]

    def add_sums(self, arrays: tuple[MemoryArray, ...], sums: Mapping[SumKey, tuple[int, ...]]) -> None:
        self.arrays = arrays
        for (site, place, phase), added in sums.items():
            key = site, site.operand(place), phase
            self._sums[key] = self._sums.get(key, 0) + np.array(added, np.int64)

    def unit(self, array: MemoryArray) -> int:
        """Elements by which a pattern may be shifted without changing its cost: those of a line, or of a row of banks."""
        rules = self.rules
        size = max(_LARGEST_LINE, rules.line_bytes) if array.space == "global" else rules.banks * rules.bank_bytes
        return max(1, size // array.itemsize)

    def cost(self, rows: Rows, operand: Operand | None) -> CostSums:
        """Sums over some requests, in the order of COST_COLUMNS. A pattern that was counted before, possibly shifted by whole
        units, is not counted again.
        """
        if operand is None:
            return branch_costs(rows.reshape(-1, self.rules.warp_size))
        array = self.arrays[operand.array]
        if rows.size > _LARGEST_PATTERN:
            return np.asarray(cost_table(rows, operand, array, self.rules, self.passes).sum(axis=0))
        unit = self.unit(array)
        active = rows >= 0
        low = int(rows.min()) if active.all() else int(rows[active].min(initial=0))
        key = operand, rows.shape, np.where(active, rows - low // unit * unit, -1).tobytes()
        cost = self._patterns.get(key)
        if cost is None:
            if len(self._patterns) >= _MOST_PATTERNS:
                self._patterns.clear()
            cost = self._patterns[key] = cost_table(rows, operand, array, self.rules, self.passes).sum(axis=0)
        return cost


class GroupCounter(AccessSink):
    """The sink for one group of blocks. Accesses that don't vary along an axis of the grid are counted once and multiplied; a
    pattern equal to the latest of its site except for a shift is counted once for each shift within a unit; and the sums of a
    repeated part of the run are added again. ``sums`` are by site, operand and phase.
    """

    wants = "sums"

    def __init__(self, counter: LaunchCounter, space: ThreadSpace, phase_loop: int) -> None:
        self.counter = counter
        self.space = space
        self.phase_loop = phase_loop
        self.sites: list[Site] = []
        self._parts: list[dict[_Place, CostSums]] = [{}]
        self._operands: list[tuple[tuple[Operand | None, int], ...]] = []  # of each site, with their units
        self._latest: dict[tuple[int, int], LatestPattern] = {}

    @property
    def sums(self) -> dict[_Place, CostSums]:
        return self._parts[0]

    def site(self, site: Site) -> None:
        self.sites.append(site)
        operands = () if site.is_of_mbarrier else site.operands
        units = (self.counter.unit(self.counter.arrays[operand.array]) for operand in operands)
        if site.kind == "branch":
            self._operands.append(((None, _NO_UNIT),))
        else:
            self._operands.append(tuple(zip(operands, units, strict=True)))

    def begin(self) -> None:
        self._parts.append({})

    def end(self) -> dict[_Place, CostSums]:
        part = self._parts.pop()
        for key, sums in part.items():
            self._add(key, sums)
        return part

    def again(self, part: dict[_Place, CostSums], visits: tuple[int, ...]) -> None:
        for (number, place, phase), sums in part.items():
            self._add((number, place, self._phase(number, visits, phase)), sums)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        if place >= len(self._operands[site]):
            return  # a barrier
        operand, unit = self._operands[site][place]
        latest = self._latest.get((site, place))
        shift = None if latest is None else latest.shift(offset, mask)
        if latest is None or shift is None:
            latest, shift = LatestPattern(offset, mask), 0
            if isinstance(offset, Shifted) or np.size(offset) <= LARGEST_KEPT:
                self._latest[site, place] = latest
        cost = latest.costs.get(shift % unit)
        if cost is None:
            cost = latest.costs[shift % unit] = self._counted(operand, unit, latest, shift)
        self._add((site, place, self._phase(site, visits, -1)), cost)

    def together(self, branch: int, mask: Bools | None, visits: tuple[int, ...]) -> None:
        self.access(branch, 0, 0, mask, visits, 0)

    def _counted(self, operand: Operand | None, unit: int, latest: LatestPattern, moved_by: int) -> CostSums:
        """Sums over all blocks of a pattern that is shifted as a whole."""
        if latest.apart is None:
            latest.apart = self._apart(unit, latest.offset, latest.mask)
        values, shifts, times = latest.apart
        sums = np.zeros(len(COST_COLUMNS), np.int64)
        for shift, count in shifts.items():
            moved = values + (shift + moved_by)
            if latest.mask is not None:
                moved = np.where(values == SWITCHED_OFF, INACTIVE, moved)
            for rows in access_rows(self.space, self.counter.rules, moved):
                checkpoint()
                sums += self.counter.cost(rows, operand) * (count * times)
        return sums

    def _apart(self, unit: int, offset: Any, mask: Bools | None) -> tuple[Longs, dict[int, int], int]:
        """Return the blocks whose offsets differ by more than a shift, the number of blocks with each shift within a unit, and
        how often all of these come.
        """
        space = self.space
        values, shift = (offset.base, offset.shift) if isinstance(offset, Shifted) else (np.asarray(offset), 0)
        blocks, times = len(space.block_shape), space.blocks.count
        if mask is not None:
            values = np.where(mask, values, SWITCHED_OFF)
        values = values.reshape((1,) * (len(space.shape) - values.ndim) + values.shape)
        shifts = {0: 1}
        for axis in range(blocks):
            if values.shape[axis] > 1:
                slices = shifts_along(values, axis, unit)
                if slices is not None:
                    shifts = summed_shifts(shifts, slices, unit)
                    values = values.take([0], axis)
        if shift:
            values = np.where(values == SWITCHED_OFF, SWITCHED_OFF, values + shift)
        return values, shifts, times // (sum(shifts.values()) * int(np.prod(values.shape[:blocks])))

    def _phase(self, site: int, visits: tuple[int, ...], otherwise: int) -> int:
        """Trip of the phase loop in which a site is accessed, if ``visits`` contains it, else ``otherwise``."""
        loops = self.sites[site].loops
        if self.phase_loop not in loops:
            return -1
        depth = loops.index(self.phase_loop)
        return visits[depth] if depth < len(visits) else otherwise

    def _add(self, key: _Place, sums: CostSums) -> None:
        top = self._parts[-1]
        top[key] = top[key] + sums if key in top else sums


def count_steps(trace: Trace, steps: Iterable[int]) -> LaunchCounts:
    """Costs of some steps of a trace, over all traced blocks. Raises Cancelled."""
    counts = LaunchCounts(trace.rules, trace.arrays)
    for step in steps:
        checkpoint()
        site = trace.site_of(step)
        if site.kind == "branch":
            ways = trace.element[trace.row[step]].reshape(-1, trace.launch.threads_per_block)
            counts.add(
                site, None, int(trace.phase[step]), Counts(*branch_costs(warp_rows(ways, trace.rules.warp_size)).tolist())
            )
        for place, operand in enumerate(() if site.is_of_mbarrier else site.operands):
            row = trace.element[trace.row[step] + place].reshape(-1, trace.launch.threads_per_block)
            cost = count_rows(request_rows(row, trace.rules), operand, trace.arrays[operand.array], trace.rules)
            counts.add(site, operand, int(trace.phase[step]), cost)
    return counts


def totals(counts: LaunchCounts) -> dict[str, int]:
    """Sums by kind of access, under the names of the hardware's counters. As there, an asynchronous copy is a global load and
    wavefronts of shared memory, but no store instruction; nor are loads and stores of matrices such instructions.
    """
    loads, stores = counts.total("global", "read"), counts.total("global", "write", atomic=False)
    shared_loads, shared_stores = counts.total("shared", "read"), counts.total("shared", "write", atomic=False)
    shared = shared_loads + shared_stores
    copies = counts.total("shared", "write", kind="copy").requests
    matrices = [counts.total("shared", access, kind="matrix").requests for access in ("read", "write")]
    return {
        "global_load_requests": loads.requests,
        "global_load_sectors": loads.sectors,
        "global_load_sectors_ideal": loads.ideal_sectors,
        "global_load_bytes": loads.bytes_asked,
        "global_store_requests": stores.requests,
        "global_store_sectors": stores.sectors,
        "global_store_sectors_ideal": stores.ideal_sectors,
        "global_store_bytes": stores.bytes_asked,
        "shared_load_instructions": shared_loads.requests - matrices[0],
        "shared_store_instructions": shared_stores.requests - copies - matrices[1],
        "shared_load_bytes": shared_loads.bytes_asked,
        "shared_store_bytes": shared_stores.bytes_asked,
        "shared_wavefronts": shared.wavefronts,
        "shared_wavefronts_ideal": shared.ideal_wavefronts,
        **_branch_counts(counts),
        **_matrix_loads(counts),
        **_atomics(counts),
    }


def _branch_counts(counts: LaunchCounts) -> dict[str, int]:
    """Executions by warps of the branches at which lanes may part, and of these where they do; empty without such branches."""
    total = sum(counts.branches.values(), BranchCounts())
    if not total.executions:
        return {}
    return {"branch_executions": total.executions, "divergent_branches": total.parted}


def _matrix_loads(counts: LaunchCounts) -> dict[str, int]:
    """Instructions that load matrices, which the hardware counts separately; empty for a launch without them. The matrices of
    one instruction have the same operand.
    """
    loads = [
        each.requests // site.rows
        for (site, operand), each in counts.accesses.items()
        if site.kind == "matrix" and operand.access == "read"
    ]
    return {"matrix_load_instructions": sum(loads)} if loads else {}


def _atomics(counts: LaunchCounts) -> dict[str, int]:
    """Sums of atomics, which the hardware counts separately; empty for a launch without atomics."""
    if not any(site.is_atomic for site, _ in counts.accesses):
        return {}
    outer, shared = counts.total("global", atomic=True), counts.total("shared", atomic=True)
    return {
        "global_atomic_requests": outer.requests,
        "global_atomic_sectors": outer.sectors,
        "shared_atomic_instructions": shared.requests,
        "shared_atomic_wavefronts": shared.wavefronts,
    }


def loads_per_element(counts: LaunchCounts) -> dict[str, float]:
    """Average number of loads per element of each array (shared arrays: summed over blocks)."""
    averages: dict[str, float] = {}
    for number, array in enumerate(counts.arrays):
        loads = sum(
            counted.lanes * operand.width
            for (_, operand), counted in counts.accesses.items()
            if operand.array == number and operand.access == "read"
        )
        averages[array.name] = loads / array.size
    return averages


def values_read(counts: LaunchCounts) -> int:
    """Number of values that threads read from shared memory."""
    return sum(
        each.lanes * operand.width
        for (_, operand), each in counts.accesses.items()
        if operand.access == "read" and counts.arrays[operand.array].space == "shared"
    )


def intensity(flops: int, size_bytes: int) -> float:
    """Arithmetic intensity in flop per byte; infinite for 0 bytes."""
    return flops / size_bytes if size_bytes else float("inf")
