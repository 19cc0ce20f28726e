"""Hazards in shared memory: two threads of a block touch the same element, at least one writes, and no barrier lies between.

__syncthreads() orders all threads of a block, __syncwarp() those of a warp, if all threads arrive at it that have not returned.
Other barriers order the warps that arrive before those that wait. The search works on a stream of accesses.
"""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Literal, NamedTuple

import numpy as np
from msgspec import structs

from gemmviz.analysis.hazard import (
    KINDS,
    NOBODY,
    Conflicts,
    Extremes,
    Hazard,
    HazardKey,
    HazardKind,
    arrivals,
    ordered,
    used_by_several,
)
from gemmviz.model.arrays import AnyArray, Bools, Longs
from gemmviz.model.messages import checkpoint
from gemmviz.model.sites import MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import Trace

# What each warp of a block knows of the others' accesses, where barriers order some threads but not all: vector clocks.

_ArrayAccess = tuple[int, str]  # an array, and how it is accessed


class Clocks:
    """``known`` (blocks, warps, warps): the latest time of each warp, last axis, that each warp knows to be over."""

    def __init__(self, blocks: int, threads: int, warp_size: int) -> None:
        self.warp_size, self._warp = warp_size, np.arange(threads) // warp_size
        self._starts = np.arange(0, threads, warp_size)
        self.known = np.full((blocks, len(self._starts), len(self._starts)), -1)
        self._left: dict[int, Longs] = {}  # at each barrier: (blocks, warps)
        self._waiting: dict[int, Bools] = {}  # who goes on when it opens: (blocks, warps)
        self._came: dict[int, Bools] = {}  # the threads that have arrived since it opened: (blocks, threads)
        self._latest: dict[_ArrayAccess, Longs] = {}  # accesses of each warp to each cell, by time and lane

    def spread(self, blocks: int) -> None:
        """Repeats the state of one block for ``blocks`` blocks."""
        self.known = np.tile(self.known, (blocks, 1, 1))
        for table in (self._left, self._waiting, self._came, self._latest):
            for key, of_block in table.items():
                table[key] = np.tile(of_block, (blocks, 1))  # type: ignore[index,assignment]

    def forget(self) -> None:
        """Forgets all accesses: a barrier has ordered all threads."""
        self._latest = {}
        self._waiting = {}

    def all_lanes(self, threads: Bools) -> Bools:
        """All threads of the warps of which any is chosen, (blocks, threads)."""
        return self._warps(threads)[:, self._warp]

    def _warps(self, threads: Bools) -> Bools:
        """The warps of which any thread is chosen: (blocks, warps) from (blocks, threads)."""
        return np.asarray(np.logical_or.reduceat(threads, self._starts, axis=1))

    def arrive(self, numbers: Longs, time: int, waits: bool) -> None:
        """Threads arrive at barriers. ``numbers`` (blocks, threads): of the barrier, -1 for none. ``waits``: their warps know
        what all others left there as soon as they go on.
        """
        for number in np.unique(numbers[numbers >= 0]).tolist():
            arrived = self._warps(numbers == number)
            self._go_on(arrived)
            self._reopen(number, numbers == number)
            left = self._at(number)
            np.maximum(left, np.where(arrived[:, :, None], self.known, -1).max(axis=1), out=left)
            left[arrived] = time
            if waits:
                self._waiting[number] = self._waiting.get(number, np.zeros_like(arrived)) | arrived

    def _reopen(self, number: int, threads: Bools) -> None:
        """Threads that arrive at a barrier again show that it has opened: those that waited go on with what was left so far."""
        came = self._came.get(number, np.zeros_like(threads))
        is_again = (came & threads).any(axis=1, keepdims=True)
        self._came[number] = (came & ~is_again) | threads
        if number in self._waiting:
            self._learn(self._waiting[number] & is_again, self._at(number))
            self._waiting[number] = self._waiting[number] & ~is_again

    def wait(self, numbers: Longs) -> None:
        """Threads pass an mbarrier, as in ``arrive``."""
        for number in np.unique(numbers[numbers >= 0]).tolist():
            self._learn(self._warps(numbers == number), self._at(number))

    def come(self, numbers: Longs, blocks: Longs, who: Longs, time: int) -> None:
        """Copies of some threads have come to the mbarriers that others wait at."""
        for number in np.unique(numbers[numbers >= 0]).tolist():
            self._at(number)[blocks, self._warp[who]] = time

    def touch(self, key: _ArrayAccess, cells: int, cell: Longs, who: Longs, time: int) -> None:
        """Threads access cells, of which the array has as many. Of a warp's lanes in a cell the lowest counts."""
        if key not in self._latest:
            self._latest[key] = np.full((cells, len(self._starts)), -1)
        stamp = (time + 1) * self.warp_size - 1 - who % self.warp_size
        np.maximum.at(self._latest[key], (cell, self._warp[who]), stamp)

    def others(self, key: _ArrayAccess, cells_per_block: int, cell: Longs, who: Longs) -> tuple[Longs, Longs]:
        """For each of the threads' accesses, a thread of another warp whose earlier access isn't known to be over, or -1, and
        its time.
        """
        latest = self._latest.get(key)
        if latest is None:
            return np.full(len(cell), -1), np.full(len(cell), -1)
        block, mine = cell // cells_per_block, self._warp[who]
        self._go_on_of(block, mine)
        time, lane = np.divmod(latest[cell], self.warp_size)
        open_ = (latest[cell] >= 0) & (time > self.known[block, mine]) & (np.arange(len(self._starts)) != mine[:, None])
        first = np.argmax(open_, axis=1)
        rows = np.arange(len(cell))
        thread = first * self.warp_size + self.warp_size - 1 - lane[rows, first]
        return np.where(open_.any(axis=1), thread, -1), time[rows, first]

    def _at(self, number: int) -> Longs:
        blocks, warps, _ = self.known.shape
        return self._left.setdefault(number, np.full((blocks, warps), -1))

    def _go_on_of(self, block: Longs, warp: Longs) -> None:
        if self._waiting:
            active = np.zeros(self.known.shape[:2], bool)
            active[block, warp] = True
            self._go_on(active)

    def _go_on(self, active: Bools) -> None:
        """Warps that act again have passed the barriers at which they waited."""
        for number, waiting in self._waiting.items():
            passing = waiting & active
            if passing.any():
                self._learn(passing, self._at(number))
                waiting &= ~passing

    def _learn(self, warps: Bools, left: Longs) -> None:
        self.known = np.where(warps[:, :, None], np.maximum(self.known, left[:, None, :]), self.known)


_Action = Literal["read", "write", "atomic"]
_ACTIONS: tuple[_Action, ...] = ("write", "read", "atomic")
_MOST_HELD = 512


class _Access(NamedTuple):
    """One operand of a step. ``elements`` (blocks, threads): -1 inactive; ``values`` (blocks, threads): what a store wrote,
    None if unknown.
    """

    step: int
    site: Site
    operand: Operand
    elements: AnyArray
    values: AnyArray | None
    time: int = 0

    @property
    def action(self) -> _Action:
        return "atomic" if self.site.is_atomic else self.operand.access


class _Seen(NamedTuple):
    """One element of each thread's access: cells, which are elements numbered block by block, threads, and values."""

    access: _Access
    cell: Longs
    who: Longs
    values: AnyArray | None


class _Touched(Extremes):
    """The threads that touched each cell since the last barrier, and the step of the latest access."""

    def __init__(self, cells: int) -> None:
        super().__init__(cells)
        self.step = np.full(cells, -1)

    def touch(self, cell: Longs, who: Longs, step: int | Longs) -> None:
        self.add(cell, who)
        self.step[cell] = step

    def spread(self, blocks: int) -> None:
        """Repeats the state of one block for ``blocks`` blocks."""
        self.low, self.high, self.step = (np.tile(each, blocks) for each in (self.low, self.high, self.step))

    def forget(self, which: Bools) -> None:
        """Removes the accesses of some threads (blocks, threads). Accesses of threads between the lowest and the highest are
        also lost if both of these are removed.
        """
        blocks, threads = which.shape
        block = np.repeat(np.arange(blocks), len(self.low) // blocks)
        no_low = which[block, np.minimum(self.low, threads - 1)] & (self.low != NOBODY)
        no_high = which[block, np.maximum(self.high, 0)] & (self.high >= 0)
        low, high = self.low, self.high
        self.low = np.where(no_low, np.where(no_high, NOBODY, high), low)
        self.high = np.where(no_high, np.where(no_low, -NOBODY, low), high)


_Tables = dict[tuple[int, _Action], _Touched]  # by array


class HazardFinder:
    """Finds hazards among steps in program order. ``_levels`` records who touched what since the last barrier of any kind and,
    from the first __syncwarp() on, since the last __syncthreads(), because __syncwarp() orders the threads of a warp but not
    the warps. The accesses of an asynchronous step are under way until a wait completes them, whatever barriers lie between.
    Accesses are held until a barrier that all blocks reach, and looked at one by one only if they can conflict, which is rare.
    From the first barrier on that orders some threads alone, ``_clocks`` orders the warps, and ``_levels`` the threads of each.
    """

    def __init__(self, arrays: tuple[MemoryArray, ...], space: ThreadSpace, blocks: int) -> None:
        self.arrays, self.space, self.blocks = arrays, space, blocks
        self.by_pair: dict[HazardKey, Hazard] = {}
        self.conflicts = Conflicts()
        self._site_at: dict[int, Site] = {}
        self._levels: list[_Tables] = [{}]
        self._under_way: _Tables = {}  # of each cell the latest step, -1 if it is complete, and its thread, as the lowest
        self._held: list[_Access] = []
        self._changed: set[int] = set()  # arrays of which accesses since the last barrier are in the tables
        self._clocks: Clocks | None = None
        self._steps: list[int] = []  # of each time

    @property
    def hazards(self) -> list[Hazard]:
        """The hazards in the order of their first steps."""
        return sorted(self.by_pair.values(), key=lambda hazard: hazard.step)

    def barrier(self, site: Site, arrived: Bools, numbers: Longs) -> None:
        """A barrier, and which threads (blocks, threads) reached it, including those that have returned; ``numbers``: of the
        barrier that each reached.
        """
        if not site.is_warp_barrier and not _is_for_all(arrived, numbers):
            self.arrive(-1, np.where(arrived, numbers, -1), True)
            return
        which = ordered(site, arrived, self.space.warp_size)
        if not site.is_warp_barrier and which.all():
            self.look(is_last=self._clocks is None)
            self._levels = [{} for _ in self._levels]
            if self._clocks is not None:
                self._clocks.forget()
            self._changed = {array for (array, _), each in self._under_way.items() if (each.step >= 0).any()}
            return
        self.look()
        if site.is_warp_barrier and len(self._levels) == 1:
            self._levels.append(deepcopy(self._levels[0]))  # until now both would have been the same
        self._forget(which, self._levels[: 1 if site.is_warp_barrier else None])

    def _forget(self, which: Bools, levels: list[_Tables]) -> None:
        for tables in levels:
            for touched in tables.values():
                touched.forget(which)

    def arrive(self, array: int, numbers: Longs, waits: bool) -> None:
        """Threads arrive at barriers that don't order all threads of the block. ``numbers`` (blocks, threads): the element of
        the mbarrier in an array, or in array -1 the barrier's number; -1 for threads that don't arrive.
        """
        clocks = self._started_clocks()
        clocks.arrive(_barrier_numbers(array, numbers), self._time(-1), waits)
        if waits:
            self._forget(clocks.all_lanes(numbers >= 0), self._levels[:1])

    def wait(self, array: int, numbers: Longs) -> None:
        """Threads pass mbarriers at which others have arrived. ``numbers``: as for ``arrive``."""
        clocks = self._started_clocks()
        clocks.wait(_barrier_numbers(array, numbers))
        self._forget(clocks.all_lanes(numbers >= 0), self._levels[:1])

    def _started_clocks(self) -> Clocks:
        """The clocks, to which all accesses up to now are known."""
        self.look()
        if self._clocks is None:
            self._clocks = Clocks(self.blocks, self.space.threads_per_block, self.space.warp_size)
            for key, touched in self._levels[-1].items():
                for extreme in (touched.low, touched.high):
                    cells = np.flatnonzero((touched.low <= touched.high) & (touched.step >= 0))
                    for step in np.unique(touched.step[cells]).tolist():
                        these = cells[touched.step[cells] == step]
                        self._clocks.touch(key, len(touched.low), these, extreme[these], self._time(step))
        return self._clocks

    def _time(self, step: int) -> int:
        self._steps.append(step)
        return len(self._steps) - 1

    def complete(self, steps: Iterable[int], visible_to: str, array: int = -1, numbers: Longs | None = None) -> None:
        """A wait that completes asynchronous steps: their accesses count as made now by their threads or, if ``visible_to`` the
        block, as made before a barrier. ``array`` and ``numbers``: the mbarriers that threads wait at, as for ``arrive``.
        """
        self.look()
        chosen = np.array(list(steps), np.int64)
        for key, flying in self._under_way.items():
            cells = np.flatnonzero(np.isin(flying.step, chosen))
            for tables in self._levels if visible_to == "thread" else ():
                self._table(tables, key).touch(cells, flying.low[cells], flying.step[cells])
            if self._clocks is not None:
                self._come(self._clocks, key, flying, cells, array, numbers)
            flying.step[cells] = -1
        if numbers is not None:
            self.wait(array, numbers)

    def _come(
        self, clocks: Clocks, key: tuple[int, _Action], flying: _Touched, cells: Longs, array: int, numbers: Longs | None
    ) -> None:
        """Tells the clocks of the copies that have come into cells, as in ``complete``."""
        for step in np.unique(flying.step[cells]).tolist():
            these, time = cells[flying.step[cells] == step], self._time(step)
            clocks.touch(key, len(flying.step), these, flying.low[these], time)
            if numbers is not None:
                blocks = these // self.arrays[key[0]].size
                clocks.come(_barrier_numbers(array, numbers), blocks, flying.low[these], time)

    def spread(self, blocks: int) -> None:
        """Repeats the state of one block for ``blocks`` blocks."""
        self.look()
        self.blocks = blocks
        for tables in (*self._levels, self._under_way):
            for touched in tables.values():
                touched.spread(blocks)
        if self._clocks is not None:
            self._clocks.spread(blocks)

    def access(self, step: int, site: Site, operand: Operand, elements: AnyArray, values: AnyArray | None = None) -> None:
        """One operand of a step, as in ``_Access``."""
        self._site_at[step] = site
        self._held.append(_Access(step, site, operand, elements, values, self._time(step)))
        if site.is_async or operand.array in self._changed:
            self.look(operand.array)
        elif len(self._held) >= _MOST_HELD:
            self.look()

    def look(self, *arrays: int, is_last: bool = False) -> None:
        """Looks at the accesses to some arrays, by default all, that are held. ``is_last``: none follows before a barrier."""
        chosen = set(arrays or (each.operand.array for each in self._held))
        held = [each for each in self._held if each.operand.array in chosen]
        self._held = [each for each in self._held if each.operand.array not in chosen]
        if is_last:
            chosen = {array for array in chosen if self._is_doubtful([each for each in held if each.operand.array == array])}
        for access in held:
            if access.operand.array in chosen:
                self._look_at(access)
        self._changed |= chosen

    def _is_doubtful(self, accesses: list[_Access]) -> bool:
        """Whether several threads touch an element of an array that is written, unless all do so atomically."""
        reads = [access for access in accesses if access.action == "read"]
        writes = [access for access in accesses if access.action != "read"]
        if not writes or (not reads and all(access.site.is_atomic for access in writes)):
            return False
        cells = self.blocks * self.arrays[accesses[0].operand.array].size
        return bool(used_by_several(cells, self._users(writes), self._users(reads)).any())

    def _users(self, accesses: list[_Access]) -> Iterator[tuple[Longs, Longs]]:
        return ((seen.cell, seen.who) for access in accesses for seen in self._elements(access))

    def _elements(self, access: _Access) -> Iterator[_Seen]:
        operand, active = access.operand, access.elements >= 0
        cells = access.elements + np.arange(self.blocks)[:, None] * self.arrays[operand.array].size
        first, who = cells[active], np.broadcast_to(np.arange(active.shape[1]), active.shape)[active]
        values = None if access.values is None or operand.width > 1 else access.values[active]
        for offset in operand.layout.each(who % self.space.warp_size):
            yield _Seen(access, first + offset, who, values)

    def _look_at(self, access: _Access) -> None:
        """Compares one operand of a step with what came before."""
        key = access.operand.array, access.action
        for seen in self._elements(access):
            self._compare(seen)
            if access.site.is_async:
                flying = self._table(self._under_way, key)
                flying.low[seen.cell], flying.step[seen.cell] = seen.who, access.step
            else:
                for tables in self._levels:
                    self._table(tables, key).touch(seen.cell, seen.who, access.step)
                if self._clocks is not None:
                    cells = self.blocks * self.arrays[access.operand.array].size
                    self._clocks.touch(key, cells, seen.cell, seen.who, access.time)

    def _table(self, tables: _Tables, key: tuple[int, _Action]) -> _Touched:
        """The threads that read the elements of an array, wrote them, or did so atomically."""
        if key not in tables:
            tables[key] = _Touched(self.blocks * self.arrays[key[0]].size)
        return tables[key]

    def _compare(self, seen: _Seen) -> None:
        array, action = seen.access.operand.array, seen.access.action
        for earlier in _ACTIONS:
            if action == earlier != "write":
                continue
            kind = KINDS[earlier != "read", action != "read"]
            if (array, earlier) in self._levels[0]:
                near, far = (tables[array, earlier] for tables in (self._levels[0], self._levels[-1]))
                warp_size, before = self.space.warp_size, far.step[seen.cell]
                other = near.other(seen.cell, seen.who)
                if self._clocks is not None:
                    other = np.where(other // warp_size == seen.who // warp_size, other, -1)
                    size = self.arrays[array].size
                    further, times = self._clocks.others((array, earlier), size, seen.cell, seen.who)
                    before = np.where(other >= 0, before, np.array(self._steps)[times])
                    other = np.where(other >= 0, other, further)
                elif near is not far:
                    other = np.where(other >= 0, other, far.other(seen.cell, seen.who, warp_size))
                self._report(kind, seen, np.flatnonzero(other >= 0), other, before)
            if (array, earlier) in self._under_way:
                flying = self._under_way[array, earlier]
                step = flying.step[seen.cell]
                collide = np.flatnonzero((step >= 0) & (step != seen.access.step))
                self._report(kind, seen, collide, flying.low[seen.cell], step, is_under_way=True)
        if action == "write":
            self._compare_with_itself(seen)

    def _compare_with_itself(self, seen: _Seen) -> None:
        """Reports two threads that write one element in one step, unless they are known to write the same value."""
        order = np.argsort(seen.cell, kind="stable")
        same = (np.diff(seen.cell[order]) == 0) & (np.diff(seen.who[order]) != 0)
        if seen.values is not None:
            same &= np.diff(seen.values[order]) != 0
        other = np.empty_like(seen.who)
        other[order[1:]] = seen.who[order[:-1]]
        self._report("write after write", seen, order[1:][same], other, np.full(len(other), seen.access.step))

    def _report(
        self, kind: HazardKind, seen: _Seen, collide: Longs, other: Longs, before: Longs, is_under_way: bool = False
    ) -> None:
        """Counts conflicts. ``collide``: which of the accesses conflict, each with thread ``other`` in the step ``before``."""
        if not len(collide):
            return
        access, array = seen.access, self.arrays[seen.access.operand.array]
        other, who, before = other[collide], seen.who[collide], before[collide]
        block, element = np.divmod(seen.cell[collide], array.size)
        self.conflicts.add(access.step, access.operand.array, block, element, other, who, before)
        for step in np.unique(before).tolist():
            of_it = np.flatnonzero(before == step)
            first, key = of_it[0], (kind, self._site_at[step], access.site)
            example = self.by_pair.get(key) or Hazard(
                *key, array.name, int(element[first]), array.subscripted(int(element[first])),
                self.space.indices(int(block[first]) * self.space.threads_per_block)[0],
                (int(other[first]), int(who[first])), access.step, 0, is_under_way=is_under_way,
            )  # fmt: skip
            self.by_pair[key] = structs.replace(example, count=example.count + len(of_it))


def _is_for_all(arrived: Bools, numbers: Longs) -> bool:
    """Whether in each block all threads reach the same barrier, or none does."""
    same = np.where(arrived, numbers, numbers.max(axis=1, keepdims=True)) == numbers.max(axis=1, keepdims=True)
    return bool((arrived.all(axis=1) | ~arrived.any(axis=1)).all() and same.all())


def _barrier_numbers(array: int, elements: Longs) -> Longs:
    """A number for each barrier of all arrays."""
    return np.where(elements >= 0, (array + 1) * (1 << 32) + elements.astype(np.int64), -1)


def examined(trace: Trace, blocks: int | None = None) -> HazardFinder:
    """A finder that has processed the whole trace, or its first ``blocks`` blocks. Raises Cancelled."""
    unit, blocks = trace.space.threads_per_block, trace.blocks.count if blocks is None else blocks
    finder = HazardFinder(trace.arrays, trace.space, blocks)
    elements = trace.element.reshape(len(trace.element), -1, unit)[:, :blocks]
    barriers = arrivals(trace, slice(blocks))
    for step in range(trace.steps if blocks else 0):
        checkpoint()
        site = trace.site_of(step)
        numbers = elements[int(trace.row[step])]
        if site.is_barrier:
            finder.barrier(*next(barriers)[1:], numbers)
        for row, operand in enumerate(site.operands, int(trace.row[step])):
            if trace.arrays[operand.array].space == "shared":
                values = trace.stored[row].reshape(-1, unit)[:blocks] if row in trace.stored else None
                finder.access(step, site, operand, elements[row], values)
        if site.kind == "arrive":
            finder.arrive(_array_of(site), numbers, False)
        elif site.kind == "wait":
            at = () if site.operand(0) is None else (_array_of(site), numbers)
            finder.complete(trace.completed_at(step).tolist() if len(trace.completes) else (), site.visible_to, *at)
    finder.look(is_last=True)
    return finder


def _array_of(site: Site) -> int:
    """The array of a site's first operand, -1 for none."""
    operand = site.operand(0)
    return -1 if operand is None else operand.array
