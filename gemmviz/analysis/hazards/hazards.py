"""Shared-memory hazards: two threads of a block touch the same element, at least one writes, and no barrier lies between.

__syncthreads() orders all threads of a block, __syncwarp() those of a warp, where all of them arrive at it that have not
returned. Works on accesses as they stream by.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.errors import Cancelled, KernelFault
from gemmviz.model.sinks import AccessSink
from gemmviz.model.sites import MemoryArray, Operand, Site
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE, Trace

HazardKind = Literal["write after read", "read after write", "write after write"]
HazardKey = tuple[HazardKind, Site, Site]  # earlier and later
_MOST_CONFLICTS = 1 << 18
_NOBODY = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Hazard:
    """All conflicts of one kind between two sites; element (and how the source would write it), block and threads (numbers
    within the block) of the first. ``earlier_block``: of a conflict between two blocks the one that came first, and ``block``
    the other.
    """

    kind: HazardKind
    earlier: Site
    later: Site
    array: str
    element: int
    where: str
    block: tuple[int, int, int]
    threads: tuple[int, int]
    step: int
    count: int
    earlier_block: tuple[int, int, int] | None = None

    def fault(self, file: str) -> KernelFault:
        """The hazard as an error at the later of the two accesses."""
        remedy = "is a __syncthreads() missing?"
        if self.earlier_block is not None:
            remedy = "no barrier orders blocks: let one block do it all, or a second launch"
        error = KernelFault(f"{self.kind}: {self}", self.later.place, remedy=remedy)
        error.in_file(file)
        return error

    def __str__(self) -> str:
        verbs = {"write": "writes", "read": "reads"}
        later, earlier = self.kind.split(" after ")
        before, after = (f"thread {thread}" for thread in self.threads)
        order = "no barrier between"
        if self.earlier_block is not None:
            before, after = f"block {self.earlier_block}", f"block {self.block}"
            order = "nothing orders the two blocks"
        return (
            f"{self.where}: {after} {verbs[later]} it (line {self.later.place.line}) after {before} {verbs[earlier]} it "
            f"(line {self.earlier.place.line}), {order}; {self.count} such {self._counted}"
        )

    @property
    def _counted(self) -> str:
        return "conflicts" if self.earlier_block is None else "elements"


class Conflicts:
    """The cells in which threads collided: by step and array, the block's number in its window and the element."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], list[tuple[Any, Any]]] = {}
        self._kept = 0

    def add(self, step: int, array: int, blocks: Any, elements: Any) -> None:
        if self._kept < _MOST_CONFLICTS:
            self._found.setdefault((step, array), []).append((blocks, elements))
            self._kept += len(elements)

    def cells(self, step: int, array: int, block: int) -> Longs:
        """The elements of a block's array that collide at a step, ascending."""
        found = [elements[blocks == block] for blocks, elements in self._found.get((step, array), [])]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    @property
    def steps(self) -> list[int]:
        """The steps at which any collide, ascending."""
        return sorted({step for step, _ in self._found})


class _Touched:
    """Lowest and highest thread that touched each element since the last barrier, and the step of the latest touch."""

    def __init__(self, blocks: int, size: int) -> None:
        self.low = np.full((blocks, size), _NOBODY, np.int32)
        self.high = np.full((blocks, size), -1, np.int32)
        self.step = np.full((blocks, size), -1, np.int64)

    def other(self, at: Any, who: npt.NDArray[np.int32], unit: int) -> npt.NDArray[np.int32]:
        """For each access a thread of another unit (a thread, or a warp of ``unit`` threads) that touched the same element,
        or -1. The lowest and the highest suffice: units are runs of threads.
        """
        low, high, own = self.low[at], self.high[at], who // unit
        others = np.where((high >= 0) & (high // unit != own), high, -1)
        return np.where((low != _NOBODY) & (low // unit != own), low, others)

    def add(self, at: Any, who: npt.NDArray[np.int32], step: int) -> None:
        np.minimum.at(self.low, at, who)
        np.maximum.at(self.high, at, who)
        self.step[at] = step

    def spread(self, blocks: int) -> None:
        """What held for one block holds for all of them."""
        self.low = np.repeat(self.low, blocks, axis=0)
        self.high = np.repeat(self.high, blocks, axis=0)
        self.step = np.repeat(self.step, blocks, axis=0)

    def forget(self, which: Bools) -> None:
        """As if some threads (blocks, threads) had touched nothing. What threads between the lowest and the highest did is
        forgotten too where both of these are.
        """
        block = np.arange(len(self.low))[:, None]
        no_low = which[block, np.minimum(self.low, which.shape[1] - 1)] & (self.low != _NOBODY)
        no_high = which[block, self.high] & (self.high >= 0)
        low, high = self.low, self.high
        self.low = np.where(no_low, np.where(no_high, _NOBODY, high), low).astype(np.int32)
        self.high = np.where(no_high, np.where(no_low, -1, low), high).astype(np.int32)

    def clear(self, blocks: Any) -> None:
        self.low[blocks], self.high[blocks], self.step[blocks] = _NOBODY, -1, -1


class HazardFinder:
    """Takes steps in program order. ``levels`` holds who touched what since the last barrier of any kind and, from the first
    __syncwarp() on, since the last __syncthreads(): __syncwarp() orders the threads of a warp, not the warps.
    """

    def __init__(self, arrays: tuple[MemoryArray, ...], blocks: int, warp_size: int) -> None:
        self.arrays = arrays
        self.blocks = blocks
        self.warp_size = warp_size
        self.found: dict[HazardKey, Hazard] = {}
        self.conflicts = Conflicts()
        self.site_at: dict[int, tuple[Site, Operand]] = {}
        self.levels: list[dict[int, tuple[_Touched, _Touched]]] = [{}]

    @property
    def hazards(self) -> list[Hazard]:
        """What was found, in the order of the first steps."""
        return sorted(self.found.values(), key=lambda hazard: hazard.step)

    def barrier(self, site: Site, arrived: Bools) -> None:
        """``arrived``: which threads (blocks, threads) reached the barrier; at __syncwarp(), those that have returned too."""
        if site.kind == "barrier":
            for touched in self._all_touched(self.levels):
                touched.clear(arrived.any(axis=1))
            return
        if len(self.levels) == 1:
            self.levels.append(deepcopy(self.levels[0]))  # until now both would have been the same
        threads = np.arange(arrived.shape[1])
        whole = np.logical_and.reduceat(arrived, threads[:: self.warp_size], axis=1)
        for touched in self._all_touched(self.levels[:1]):
            touched.forget(np.broadcast_to(whole[:, threads // self.warp_size], (self.blocks, len(threads))))

    @staticmethod
    def _all_touched(levels: list[dict[int, tuple[_Touched, _Touched]]]) -> Iterator[_Touched]:
        return (each for memories in levels for touched in memories.values() for each in touched)

    def access(self, step: int, site: Site, operand: Operand, elements: npt.NDArray[Any], block_of: Any) -> None:
        """``elements``: (blocks, threads), -1 inactive. ``block_of`` gives blockIdx for a row."""
        self.site_at[step] = site, operand
        block, thread = np.nonzero(elements >= 0)
        first = elements[block, thread].astype(np.int64)
        who = thread.astype(np.int32)
        for offset in operand.offsets:
            at = (block, first + offset)
            levels = [self._touched(memories, operand.array) for memories in self.levels]
            self._compare(step, site, operand, at, who, levels, block_of)
            for writes, reads in levels:
                (writes if operand.access == "write" else reads).add(at, who, step)

    def _touched(self, memories: dict[int, tuple[_Touched, _Touched]], array: int) -> tuple[_Touched, _Touched]:
        """Who wrote and who read the elements of an array."""
        if array not in memories:
            size = self.arrays[array].size
            memories[array] = _Touched(self.blocks, size), _Touched(self.blocks, size)
        return memories[array]

    def _compare(
        self, step: int, site: Site, operand: Operand, at: Any, who: Any, levels: list[tuple[_Touched, _Touched]], block_of: Any
    ) -> None:
        stores = operand.access == "write"
        after_write: HazardKind = "write after write" if stores else "read after write"
        self._report(after_write, step, site, operand, at, who, [w for w, _ in levels], block_of)
        if stores:
            self._report("write after read", step, site, operand, at, who, [r for _, r in levels], block_of)
            self._report_same_step(step, site, operand, at, who, block_of)

    def _report(
        self,
        kind: HazardKind,
        step: int,
        site: Site,
        operand: Operand,
        at: Any,
        who: Any,
        levels: list[_Touched],
        block_of: Any,
    ) -> None:
        other = levels[0].other(at, who, 1)
        touched = np.zeros(len(who), np.int64)
        if len(levels) > 1:
            across = levels[1].other(at, who, self.warp_size)
            touched = (other < 0).astype(np.int64)
            other = np.where(other < 0, across, other)
        collide = np.flatnonzero(other >= 0)
        if not len(collide):
            return
        cells = at[0][collide], at[1][collide]
        self.conflicts.add(step, operand.array, *cells)
        before = np.where(touched[collide] == 0, levels[0].step[cells], levels[-1].step[cells])
        for earlier in np.unique(before).tolist():
            of_it = collide[before == earlier]
            i = of_it[0]
            threads = int(other[i]), int(who[i])
            self._add(kind, self.site_at[earlier][0], site, operand, at, i, threads, step, len(of_it), block_of)

    def _report_same_step(self, step: int, site: Site, operand: Operand, at: Any, who: Any, block_of: Any) -> None:
        """Two threads that write one element in one step."""
        key = at[0] * (self.arrays[operand.array].size + 1) + at[1]
        order = np.argsort(key, kind="stable")
        same = (np.diff(key[order]) == 0) & (np.diff(who[order]) != 0)
        if same.any():
            collide = order[1:][same]
            self.conflicts.add(step, operand.array, at[0][collide], at[1][collide])
        for place in np.flatnonzero(same)[:1]:
            a, b = order[place], order[place + 1]
            threads, count = (int(who[a]), int(who[b])), int(same.sum())
            self._add("write after write", site, site, operand, at, b, threads, step, count, block_of)

    def _add(
        self, kind: HazardKind, earlier: Site, later: Site, operand: Operand, at: Any, i: Any, threads: tuple[int, int],
        step: int, count: int, block_of: Any,
    ) -> None:  # fmt: skip
        key, array, element = (kind, earlier, later), self.arrays[operand.array], int(at[1][i])
        example = self.found.get(key) or Hazard(
            kind, earlier, later, array.name, element, array.subscripted(element), block_of(int(at[0][i])), threads, step, 0
        )
        self.found[key] = replace(example, count=example.count + count)


def examined(trace: Trace, blocks: int | None = None, cancelled: Callable[[], bool] = lambda: False) -> HazardFinder:
    """A finder that has seen the whole trace, or the first ``blocks`` of it. Raises Cancelled."""
    blocks = trace.blocks.count if blocks is None else blocks
    finder = HazardFinder(trace.arrays, blocks, trace.rules.warp_size)
    elements = trace.element.reshape(len(trace.element), -1, trace.space.threads_per_block)[:, :blocks]
    last = _last_rows(elements) if any(site.kind == "warp barrier" for site in trace.sites) else None
    for step in range(trace.steps):
        if cancelled():
            raise Cancelled
        site, row = trace.site_of(step), int(trace.row[step])
        if site.is_barrier:
            arrived = elements[row] >= 0
            if last is not None and site.kind == "warp barrier":
                arrived |= last < row
            finder.barrier(site, arrived)
        for place, operand in enumerate(site.operands):
            if trace.arrays[operand.array].space == "shared":
                finder.access(step, site, operand, elements[row + place], lambda block: _block_of(trace.space, block))
    return finder


def _block_of(space: ThreadSpace, row: int) -> tuple[int, int, int]:
    return space.indices(row * space.threads_per_block)[0]


def _last_rows(elements: npt.NDArray[Any]) -> Longs:
    """The last row in which each thread (blocks, threads) is active: who never is again may be taken to have returned."""
    last = np.full(elements.shape[1:], -1, np.int64)
    for row, element in enumerate(elements):
        last[element >= 0] = row
    return last


class HazardSink(AccessSink):
    """Finds the hazards of a group of blocks while it runs. As long as all blocks do the same, one stands for all."""

    def __init__(self, arrays: tuple[MemoryArray, ...], space: ThreadSpace) -> None:
        self.arrays = arrays
        self.space = space
        self.sites: list[Site] = []
        self.step = -1
        self.finder = HazardFinder(arrays, 1, space.warp_size)
        self.machine: Any = None

    def started(self, machine: Any) -> None:
        self.machine = machine

    def ended(self) -> None:
        self.machine = None

    def site(self, site: Site) -> None:
        self.sites.append(site)

    def access(self, site: int, offset: Longs | int, mask: Bools | None, visits: tuple[int, ...], epoch: int) -> None:
        self.step += 1
        where = self.sites[site]
        if not self.is_shared(where) and not where.is_barrier:
            return
        if where.kind == "warp barrier" and mask is not None and self.machine.exited is not None:
            mask = mask | self.machine.exited
        values = np.asarray(offset if mask is None else np.where(mask, offset, INACTIVE))
        rows = self.space.per_block(values if values.ndim else values.reshape((1,) * len(self.space.shape)))
        if len(rows) > 1 and self.finder.blocks == 1:
            self._tell_apart()
        if len(rows) != self.finder.blocks:
            rows = np.broadcast_to(values, self.space.shape).reshape(self.finder.blocks, -1)
        if where.is_barrier:
            self.finder.barrier(where, rows >= 0)
        else:
            self.finder.access(self.step, where, where.operands[0], rows, lambda block: _block_of(self.space, block))

    def is_shared(self, site: Site) -> bool:
        """Whether a site touches shared memory."""
        return any(self.arrays[operand.array].space == "shared" for operand in site.operands)

    def count_again(self, counts: Mapping[HazardKey, int], steps: int) -> None:
        """The hazards of so many steps that came before, once more."""
        self.step += steps
        for key, count in counts.items():
            self.finder.found[key] = replace(self.finder.found[key], count=self.finder.found[key].count + count)

    def _tell_apart(self) -> None:
        """From here on every block has a state of its own, a copy of the one that stood for all."""
        self.finder.found = self.hazards_by_pair()
        blocks, self.finder.blocks = self.space.blocks.count, self.space.blocks.count
        for memories in self.finder.levels:
            for touched in memories.values():
                for each in touched:
                    each.spread(blocks)

    def hazards_by_pair(self) -> dict[HazardKey, Hazard]:
        """What was found; while one block stands for all, counted for all of them."""
        times = self.space.blocks.count if self.finder.blocks == 1 else 1
        return {key: replace(hazard, count=hazard.count * times) for key, hazard in self.finder.found.items()}
