"""Shared-memory hazards: two threads of a block touch the same element, at least one writes, and no barrier lies
between.

__syncthreads() orders all threads of a block, __syncwarp() those of a warp, if all threads arrive at it that have not returned.
The search works on a stream of accesses.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.hazards.hazard import Conflicts, Hazard, HazardKey, HazardKind
from gemmviz.analysis.hazards.touched import Touched, UnderWay
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.errors import Cancelled
from gemmviz.model.records import replace
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE, Trace

_Action = Literal["read", "write", "atomic"]


# By action of an access: the earlier actions that conflict with it if nothing orders the two, and the kind of the hazard.
_CONFLICTS: Mapping[_Action, tuple[tuple[_Action, HazardKind], ...]] = {
    "read": (("write", "read after write"), ("atomic", "read after write")),
    "write": (("write", "write after write"), ("read", "write after read"), ("atomic", "write after write")),
    "atomic": (("write", "write after write"), ("read", "write after read")),
}


_MOST_READS = 512  # that are put off: their elements are held
_Read = tuple[int, Site, Operand, npt.NDArray[Any], Any]  # the arguments of an access


class HazardFinder:
    """Finds hazards among steps in program order. ``levels`` records who touched what since the last barrier of any kind and,
    from the first __syncwarp() on, since the last __syncthreads(), because __syncwarp() orders the threads of a warp but not
    the warps. The accesses of an asynchronous step are under way until a wait completes them, whatever barriers lie between.
    Reads of an array are looked at only once something else touches it before the next barrier, which is rare.
    """

    def __init__(self, arrays: tuple[MemoryArray, ...], blocks: int, warp_size: int) -> None:
        self.arrays = arrays
        self.blocks = blocks
        self.warp_size = warp_size
        self.by_pair: dict[HazardKey, Hazard] = {}
        self.conflicts = Conflicts()
        self.site_at: dict[int, tuple[Site, Operand]] = {}
        self.levels: list[dict[tuple[int, _Action], Touched]] = [{}]
        self.flying: dict[tuple[int, _Action], UnderWay] = {}
        self._unread: dict[int, list[_Read]] = {}  # by array: reads since the last barrier, before anything else
        self._changed: set[int] = set()  # arrays that something but reads has touched since the last barrier

    @property
    def hazards(self) -> list[Hazard]:
        """The hazards in the order of their first steps."""
        return sorted(self.by_pair.values(), key=lambda hazard: hazard.step)

    def barrier(self, site: Site, arrived: Bools) -> None:
        """A barrier. ``arrived``: which threads (blocks, threads) reached it; at __syncwarp(), including those that have
        returned.
        """
        if site.kind == "barrier":
            if arrived.any(axis=1).all():
                self._unread.clear()
                self._changed = {array for (array, _), flying in self.flying.items() if (flying.step >= 0).any()}
            self._look_at_reads()
            for touched in self._all_touched(self.levels):
                touched.clear(arrived.any(axis=1))
            return
        self._look_at_reads()
        if len(self.levels) == 1:
            self.levels.append(deepcopy(self.levels[0]))  # until now both would have been the same
        threads = np.arange(arrived.shape[1])
        whole = np.logical_and.reduceat(arrived, threads[:: self.warp_size], axis=1)
        for touched in self._all_touched(self.levels[:1]):
            touched.forget(np.broadcast_to(whole[:, threads // self.warp_size], (self.blocks, len(threads))))

    def complete(self, steps: Iterable[int], visible_to: str) -> None:
        """A wait that completes asynchronous steps: their accesses count as made now by their threads or, if ``visible_to`` the
        block, as made before a barrier.
        """
        self._look_at_reads()
        chosen = np.array(list(steps), np.int64)
        for (array, action), flying in self.flying.items():
            at = np.nonzero(np.isin(flying.step, chosen))
            if visible_to == "thread" and len(at[0]):
                who = flying.who[at]
                for step in np.unique(flying.step[at]).tolist():
                    these = flying.step[at] == step
                    for memories in self.levels:
                        self._touched(memories, array, action).add((at[0][these], at[1][these]), who[these], step)
            flying.step[at] = -1

    def spread(self, blocks: int) -> None:
        """Repeats the state of one block for ``blocks`` blocks."""
        self._look_at_reads()
        self.blocks = blocks
        for touched in self._all_touched(self.levels):
            touched.spread(blocks)
        for flying in self.flying.values():
            flying.spread(blocks)

    @staticmethod
    def _all_touched(levels: list[dict[tuple[int, _Action], Touched]]) -> Iterator[Touched]:
        return (touched for memories in levels for touched in memories.values())

    def access(
        self, step: int, site: Site, operand: Operand, elements: npt.NDArray[Any], block_of: Any, values: Any = None
    ) -> None:
        """One operand of a step. ``elements``: (blocks, threads), -1 inactive. ``block_of`` gives blockIdx for a row;
        ``values`` (blocks, threads): what a store wrote, None if unknown.
        """
        self.site_at[step] = site, operand
        array = operand.array
        if operand.access == "read" and not (site.is_atomic or site.is_async or array in self._changed):
            put_off = self._unread.setdefault(array, [])
            put_off.append((step, site, operand, elements, block_of))
            if len(put_off) >= _MOST_READS:
                self._look_at_reads()
            return
        self._look_at_reads(array)
        self._look_at(step, site, operand, elements, block_of, values)

    def _look_at_reads(self, *arrays: int) -> None:
        """Look at the reads of some arrays, by default all, that were put off, and from now on at each at once."""
        for array in arrays or tuple(self._unread):
            self._changed.add(array)
            for read in self._unread.pop(array, ()):
                self._look_at(*read)

    def _look_at(
        self, step: int, site: Site, operand: Operand, elements: npt.NDArray[Any], block_of: Any, values: Any = None
    ) -> None:
        """Compare one operand of a step with what came before."""
        block, thread = np.nonzero(elements >= 0)
        first = elements[block, thread].astype(np.int64)
        who = thread.astype(np.int32)
        action: _Action = "atomic" if site.is_atomic else operand.access
        for offset in operand.layout.each(who % self.warp_size):
            known = None if values is None or operand.layout.width > 1 else values[block, thread]
            seen = _Seen(step, site, operand, action, (block, first + offset), who, block_of, known)
            self._compare(seen)
            if site.is_async:
                self._fly(seen)
            else:
                for memories in self.levels:
                    self._touched(memories, operand.array, action).add(seen.at, who, step)

    def _fly(self, seen: "_Seen") -> None:
        key = seen.operand.array, seen.action
        if key not in self.flying:
            self.flying[key] = UnderWay(self.blocks, self.arrays[key[0]].size)
        self.flying[key].add(seen.at, seen.who, seen.step)

    def _touched(self, memories: dict[tuple[int, _Action], Touched], array: int, action: _Action) -> Touched:
        """The threads that read the elements of an array, wrote them, or did so atomically."""
        if (array, action) not in memories:
            memories[array, action] = Touched(self.blocks, self.arrays[array].size)
        return memories[array, action]

    def _compare(self, seen: "_Seen") -> None:
        array = seen.operand.array
        for earlier, kind in _CONFLICTS[seen.action]:
            if (array, earlier) in self.levels[0]:
                self._report(kind, seen, [memories[array, earlier] for memories in self.levels])
            if (array, earlier) in self.flying:
                self._report_flying(kind, seen, self.flying[array, earlier])
        if seen.action == "write":
            self._report_same_step(seen)

    def _report(self, kind: HazardKind, seen: "_Seen", levels: list[Touched]) -> None:
        other = levels[0].other(seen.at, seen.who, 1)
        touched = np.zeros(len(seen.who), np.int64)
        if len(levels) > 1:
            across = levels[1].other(seen.at, seen.who, self.warp_size)
            touched = (other < 0).astype(np.int64)
            other = np.where(other < 0, across, other)
        collide = np.flatnonzero(other >= 0)
        if not len(collide):
            return
        cells = seen.at[0][collide], seen.at[1][collide]
        before = np.where(touched[collide] == 0, levels[0].step[cells], levels[-1].step[cells])
        self._add_all(kind, seen, collide, before, other)

    def _report_flying(self, kind: HazardKind, seen: "_Seen", flying: UnderWay) -> None:
        """Reports accesses by any thread to elements of an earlier asynchronous step that no wait has completed."""
        steps = flying.step[seen.at]
        collide = np.flatnonzero((steps >= 0) & (steps != seen.step))
        if len(collide):
            self._add_all(kind, seen, collide, steps[collide], flying.who[seen.at], is_under_way=True)

    def _report_same_step(self, seen: "_Seen") -> None:
        """Reports two threads that write one element in one step, unless they are known to write the same value."""
        at, who = seen.at, seen.who
        key = at[0] * (self.arrays[seen.operand.array].size + 1) + at[1]
        order = np.argsort(key, kind="stable")
        same = (np.diff(key[order]) == 0) & (np.diff(who[order]) != 0)
        if seen.values is not None:
            same &= np.diff(seen.values[order]) != 0
        if same.any():
            collide, first = order[1:][same], order[:-1][same]
            self.conflicts.add(
                seen.step, seen.operand.array, at[0][collide], at[1][collide], who[first], who[collide], np.int64(seen.step)
            )
        for place in np.flatnonzero(same)[:1]:
            a, b = order[place], order[place + 1]
            self._add("write after write", seen.site, seen, b, (int(who[a]), int(who[b])), int(same.sum()))

    def _add_all(
        self, kind: HazardKind, seen: "_Seen", collide: Longs, before: Longs, other: Any, is_under_way: bool = False
    ) -> None:
        """Counts conflicts. ``collide``: which of the accesses conflict; ``before``: the step that each of these conflicts
        with; ``other``: the thread in that step.
        """
        where = seen.at[0][collide], seen.at[1][collide]
        self.conflicts.add(seen.step, seen.operand.array, *where, other[collide], seen.who[collide], before)
        for earlier in np.unique(before).tolist():
            of_it = collide[before == earlier]
            threads = int(other[of_it[0]]), int(seen.who[of_it[0]])
            self._add(kind, self.site_at[earlier][0], seen, of_it[0], threads, len(of_it), is_under_way)

    def _add(
        self, kind: HazardKind, earlier: Site, seen: "_Seen", i: Any, threads: tuple[int, int], count: int,
        is_under_way: bool = False,
    ) -> None:  # fmt: skip
        key, array, element = (kind, earlier, seen.site), self.arrays[seen.operand.array], int(seen.at[1][i])
        example = self.by_pair.get(key) or Hazard(
            kind, earlier, seen.site, array.name, element, array.subscripted(element), seen.block_of(int(seen.at[0][i])),
            threads, seen.step, 0, is_under_way=is_under_way,
        )  # fmt: skip
        self.by_pair[key] = replace(example, count=example.count + count)


class _Seen(Struct, frozen=True):
    """One element of each access: its action, the (block, element) and thread of each, and a function that gives blockIdx for a
    row.
    """

    step: int
    site: Site
    operand: Operand
    action: _Action
    at: tuple[Longs, Longs]
    who: npt.NDArray[np.int32]
    block_of: Any
    values: Any


def examined(trace: Trace, blocks: int | None = None, cancelled: Callable[[], bool] = lambda: False) -> HazardFinder:
    """A finder that has processed the whole trace, or its first ``blocks`` blocks. Raises Cancelled."""
    blocks = trace.blocks.count if blocks is None else blocks
    finder = HazardFinder(trace.arrays, blocks, trace.rules.warp_size)
    elements = trace.element.reshape(len(trace.element), -1, trace.space.threads_per_block)[:, :blocks]
    last = _last_rows(elements) if any(site.is_warp_barrier for site in trace.sites) else None
    for step in range(trace.steps):
        if cancelled():
            raise Cancelled
        site, row = trace.site_of(step), int(trace.row[step])
        if site.is_barrier:
            arrived = elements[row] >= 0
            if last is not None and site.is_warp_barrier:
                arrived |= last < row
            finder.barrier(site, arrived)
        for place, operand in enumerate(site.operands):
            if trace.arrays[operand.array].space == "shared":
                values = _values(trace, row + place, elements.shape[1])
                finder.access(step, site, operand, elements[row + place], lambda block: _block_of(trace.space, block), values)
        if len(trace.completes) and site.kind == "wait":
            finder.complete(trace.completed_at(step).tolist(), site.visible_to)
    return finder


def _values(trace: Trace, row: int, blocks: int) -> npt.NDArray[Any] | None:
    """What a row's store wrote in the first blocks: (blocks, threads). None if it is unknown."""
    values = trace.stored.get(row)
    return None if values is None else values.reshape(-1, trace.space.threads_per_block)[:blocks]


def _block_of(space: ThreadSpace, row: int) -> tuple[int, int, int]:
    return space.indices(row * space.threads_per_block)[0]


def _last_rows(elements: npt.NDArray[Any]) -> Longs:
    """The last row in which each thread (blocks, threads) is active; afterwards it is assumed to have returned."""
    last = np.full(elements.shape[1:], -1, np.int64)
    for row, element in enumerate(elements):
        last[element >= 0] = row
    return last


class HazardSink(AccessSink):
    """Finds the hazards of a group of blocks during the run. As long as all blocks do the same, one represents all."""

    def __init__(self, arrays: tuple[MemoryArray, ...], space: ThreadSpace) -> None:
        self.arrays = arrays
        self.space = space
        self.sites: list[Site] = []
        self.step = -1
        self.finder = HazardFinder(arrays, 1, space.warp_size)
        self.machine: Any = None
        self._begun: list[int] = []  # asynchronous steps
        self._visible_to = "thread"

    def started(self, machine: Any) -> None:
        self.machine = machine

    def ended(self) -> None:
        self.machine = None

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(
        self, site: int, place: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int
    ) -> None:
        where, operand = self.sites[site], self.sites[site].operand(place)
        if place == 0:
            self._new_step(where)
        if not where.is_barrier and (operand is None or self.arrays[operand.array].space != "shared"):
            return
        if where.is_warp_barrier and mask is not None and self.machine.exited is not None:
            mask = mask | self.machine.exited
        values = np.asarray(offset if mask is None else np.where(mask, offset, INACTIVE))
        rows = self.space.per_block(values if values.ndim else values.reshape((1,) * len(self.space.shape)))
        if len(rows) > 1 and self.finder.blocks == 1:
            self._tell_apart()
        if len(rows) != self.finder.blocks:
            rows = np.broadcast_to(values, self.space.shape).reshape(self.finder.blocks, -1)
        if operand is None:
            self.finder.barrier(where, rows >= 0)
        else:
            self.finder.access(self.step, where, operand, rows, lambda block: _block_of(self.space, block))

    def completed(self, steps: Sequence[int]) -> None:
        self.finder.complete([self._begun[number] for number in steps], self._visible_to)

    def _new_step(self, site: Site) -> None:
        self.step += 1
        self._visible_to = site.visible_to
        if site.is_async:
            self._begun.append(self.step)

    def is_shared(self, site: Site) -> bool:
        """Whether a site touches shared memory."""
        return any(self.arrays[operand.array].space == "shared" for operand in site.operands)

    def count_again(self, counts: Mapping[HazardKey, int], steps: int) -> None:
        """Adds the hazards of earlier steps once more."""
        self.step += steps
        for key, count in counts.items():
            self.finder.by_pair[key] = replace(self.finder.by_pair[key], count=self.finder.by_pair[key].count + count)

    def _tell_apart(self) -> None:
        """Gives every block its own state from here on, a copy of the common one."""
        self.finder.by_pair = self.hazards_by_pair()
        self.finder.spread(self.space.blocks.count)

    def hazards_by_pair(self) -> dict[HazardKey, Hazard]:
        """The hazards by kind and sites, counted for all blocks."""
        times = self.space.blocks.count if self.finder.blocks == 1 else 1
        return {key: replace(hazard, count=hazard.count * times) for key, hazard in self.finder.by_pair.items()}
