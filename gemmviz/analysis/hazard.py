"""A hazard as a value, and the elements at which threads conflict."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Bools, Ints, Longs
from gemmviz.model.messages import KernelFault, marked, tr
from gemmviz.model.sites import Site
from gemmviz.model.trace import Trace

HazardKind = Literal["write after read", "read after write", "write after write"]
HazardKey = tuple[HazardKind, Site, Site]  # earlier and later
# By whether the earlier and whether the later access writes.
KINDS: Mapping[tuple[bool, bool], HazardKind] = {
    (True, True): "write after write", (True, False): "read after write", (False, True): "write after read",
}  # fmt: skip
_MOST_CONFLICTS = 1 << 18


class Hazard(Struct, frozen=True):
    """All conflicts of one kind between two sites, with the element (also as written in the source), block and threads (numbers
    within the block) of the first. ``earlier_block``: for a conflict between two blocks, the one that comes first; ``block`` is
    the other. ``is_under_way``: the earlier access is asynchronous and no wait has completed it.
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
    is_under_way: bool = False

    def fault(self, file: str) -> KernelFault:
        """The hazard as an error at the later of the two accesses."""
        remedy = tr("is a __syncthreads() missing?")
        if self.earlier_block is not None:
            remedy = tr("no barrier orders blocks: do this work in one block, or in a second launch")
        if self.is_under_way:
            remedy = tr("wait for the copy first")
        kind = {
            "write after read": marked("write after read"), "read after write": marked("read after write"),
            "write after write": marked("write after write"),
        }[self.kind]  # fmt: skip
        error = KernelFault(
            tr("{kind}: {conflict}", kind=tr(kind), conflict=self), self.later.place, remedy=remedy, id="hazard"
        )
        error.in_file(file)
        return error

    def __str__(self) -> str:
        return tr("{words}; {count} such {counted}", words=self.words, count=self.count, counted=self._counted)

    @property
    def words(self) -> str:
        """What two threads do to one element, in which lines, without the number of such accesses."""
        verbs = {"write": marked("writes"), "read": marked("reads")}
        later, earlier = self.kind.split(" after ")
        before, after = (tr("thread {thread}", thread=thread) for thread in self.threads)
        order = tr("no barrier between")
        if self.earlier_block is not None:
            before, after = tr("block {earlier_block}", earlier_block=self.earlier_block), tr("block {block}", block=self.block)
            order = tr("nothing orders the two blocks")
        if self.is_under_way:
            order = tr("no wait between: it may still be under way")
        return tr(
            "{where}: {later} {verb} it (line {line}) after {earlier} {earlier_verb} it (line {earlier_line}), {order}",
            where=self.where, later=after, verb=tr(verbs[later]), line=self.later.place.line, earlier=before,
            earlier_verb=tr(verbs[earlier]), earlier_line=self.earlier.place.line, order=order,
        )  # fmt: skip

    @property
    def _counted(self) -> str:
        return tr("conflicts") if self.earlier_block is None else tr("elements")


class Collisions(Struct, frozen=True):
    """Accesses of a block that collide with earlier ones at one step, one entry each: the element, the threads of the earlier
    and of the later access, by their numbers in the block, and the step of the earlier one.
    """

    elements: Longs
    earlier: Longs
    later: Longs
    before: Longs

    def __len__(self) -> int:
        return len(self.elements)


class Conflicts:
    """Accesses in which threads conflict: by step and array, the block's number in its window and the ``Collisions``."""

    def __init__(self) -> None:
        self._accesses: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
        self._size = 0

    def add(self, step: int, array: int, blocks: Any, *columns: Any) -> None:
        """Adds accesses. ``columns``: those of Collisions."""
        if self._size < _MOST_CONFLICTS:
            self._accesses.setdefault((step, array), []).append((blocks, *columns))
            self._size += len(blocks)

    def at(self, step: int, array: int, block: int) -> Collisions:
        """The accesses to a block's array that conflict at a step."""
        parts = self._accesses.get((step, array), [])
        inside = [[np.broadcast_to(each, blocks.shape)[blocks == block] for each in columns] for blocks, *columns in parts]
        nothing = [[np.zeros(0, np.int64)] * 4]
        return Collisions(*(np.concatenate(column).astype(np.int64) for column in zip(*(inside or nothing), strict=True)))

    def cells(self, step: int, array: int, block: int) -> Longs:
        """The elements of a block's array that conflict at a step, ascending."""
        return np.unique(self.at(step, array, block).elements)

    def count(self, step: int) -> int:
        """Number of accesses of all blocks that conflict up to and including a step."""
        return sum(len(part[0]) for (at, _), parts in self._accesses.items() if at <= step for part in parts)

    @property
    def steps(self) -> list[int]:
        """The steps at which any conflict, ascending."""
        return sorted({step for step, _ in self._accesses})


# The threads that use the elements of an array, and the barriers that order them.

NOBODY = np.iinfo(np.int64).max


def used_by_several(cells: int, writes: Iterable[tuple[Longs, Longs]], reads: Iterable[tuple[Longs, Longs]]) -> Bools:
    """Which cells of an array several threads use, at least one of them to write. ``writes`` and ``reads`` are cells and the
    threads that use them.
    """
    writer, found = np.zeros(cells, np.int32), np.zeros(cells, bool)  # 1 + the number of a thread that writes the cell, or 0
    for cell, thread in writes:
        number, before = thread + 1, writer[cell]
        writer[cell] = number
        found[cell[((before != 0) & (before != number)) | (writer[cell] != number)]] = True
    for cell, thread in reads:
        before = writer[cell]
        found[cell[(before != 0) & (before != thread + 1)]] = True
    return found


class Extremes:
    """The least and the greatest of the numbers added for each of some cells. They tell whether the numbers lie in several
    units, which are runs of ``unit`` numbers, such as the threads of a warp or of a block.
    """

    def __init__(self, cells: int) -> None:
        self.low, self.high = np.full(cells, NOBODY), np.full(cells, -NOBODY)

    def add(self, at: Longs, numbers: Longs) -> None:
        np.minimum.at(self.low, at, numbers)
        np.maximum.at(self.high, at, numbers)

    @property
    def is_empty(self) -> Bools:
        return np.asarray(self.low > self.high)

    def is_split(self, unit: int = 1) -> Bools:
        """Whether the numbers of a cell lie in several units."""
        return np.asarray(self.low // unit < self.high // unit)

    def other(self, at: Longs, own: Longs, unit: int = 1) -> Longs:
        """For each of the cells ``at`` a number in another unit than ``own``, -1 if there is none."""
        low, high, own = self.low[at], self.high[at], own // unit
        others = np.where((high >= 0) & (high // unit != own), high, -1)
        return np.where((low != NOBODY) & (low // unit != own), low, others)


def arrivals(trace: Trace, blocks: slice | Longs) -> Iterator[tuple[int, Site, Bools]]:
    """The barriers of a trace: the step, the site, and which threads of some blocks (blocks, threads) arrive; at one that some
    threads don't reach, also those that have returned.
    """
    elements = trace.element.reshape(len(trace.element), -1, trace.space.threads_per_block)
    returned: Longs | None = None
    for step in np.flatnonzero(np.array([site.is_barrier for site in trace.sites], bool)[trace.site]).tolist():
        site, row = trace.site_of(step), int(trace.row[step])
        arrived = elements[row, blocks] >= 0
        if site.is_warp_barrier or not arrived.all():
            returned = _last_rows(elements, blocks) if returned is None else returned
            arrived |= returned < row
        yield step, site, arrived


def _last_rows(elements: Ints, blocks: slice | Longs) -> Longs:
    """The last row in which each thread of some blocks is active, -1 for none: it is assumed to have returned afterwards."""
    found = np.full(elements[0, blocks].shape, -1, np.int64)
    for row in range(len(elements) - 1, -1, -1):
        found[(found < 0) & (elements[row, blocks] >= 0)] = row
        if (found >= 0).all():
            break
    return found


def ordered(site: Site, arrived: Bools, warp_size: int) -> Bools:
    """Which threads (blocks, threads) a barrier orders, those of a block or those of a warp among themselves: a warp whose
    threads have all ``arrived``, a block of which any has.
    """
    if not site.is_warp_barrier:
        return np.broadcast_to(arrived.any(axis=1, keepdims=True), arrived.shape)
    threads = np.arange(arrived.shape[1])
    whole: Bools = np.logical_and.reduceat(arrived, threads[::warp_size], axis=1)
    return whole[:, threads // warp_size]
