"""Hazards in global memory: unordered accesses of several threads to the same element of a matrix, at least one of them a
write.

Blocks of a grid run in any order, also at the same time (CUDA C++ Programming Guide, Thread Hierarchy): nothing orders them.
Threads of one block are ordered by its barriers, those of a warp by __syncwarp() too; a barrier of the grid orders all. An
asynchronous access may happen at any time until a wait completes it. Threads that write the same value into an element do no
harm, whatever their order, and neither do several atomics.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from gemmviz.analysis.hazard import KINDS, NOBODY, Extremes, Hazard, arrivals, ordered, used_by_several
from gemmviz.model.arrays import Bools, Floats, Longs, Singles
from gemmviz.model.messages import checkpoint
from gemmviz.model.trace import Touches, Trace

_ACCESSES_AT_ONCE, _MOST_INSIDE = 1 << 20, 1 << 14
_ATOMIC = np.int64(
    0x7FF8_0000_0000_A70C
)  # stands for the value written by any atomic: the bits of a number that no kernel stores


class GlobalHazards(Struct, frozen=True):
    """``hazards``: one for each kind, array and scope (between blocks, or inside one). ``undecided``: number of elements that
    several threads write without order, with values that the trace doesn't contain.
    """

    hazards: tuple[Hazard, ...] = ()
    undecided: int = 0


def global_hazards(trace: Trace, values: Singles | None = None) -> GlobalHazards:
    """The hazards of the traced blocks in global memory. ``values`` (rows, threads): values read and written, if they are known
    and not in the trace. Raises Cancelled.
    """
    found: dict[tuple[str, str, bool], Hazard] = {}  # each kind in an array once, with its elements between all grid barriers
    undecided = 0
    written = {
        touches.operand.array for touches in trace.touches
        if touches.operand.access == "write" and trace.arrays[touches.operand.array].space == "global"
    }  # fmt: skip
    for number in sorted(written):
        for span in _between_grid_barriers(trace):
            matrix = _Matrix(trace, number, span, trace.value if values is None else values)
            for each in matrix.hazards():
                key = each.kind, each.array, each.earlier_block is None
                found[key] = structs.replace(found[key], count=found[key].count + each.count) if key in found else each
            undecided += matrix.undecided
    return GlobalHazards(tuple(sorted(found.values(), key=lambda hazard: hazard.step)), undecided)


def _between_grid_barriers(trace: Trace) -> Iterator[tuple[int, int]]:
    """Half-open ranges of steps that no barrier of the whole grid divides."""
    start = 0
    for step, site, arrived in arrivals(trace, slice(None)) if any(site.visible_to == "grid" for site in trace.sites) else ():
        if site.visible_to == "grid" and arrived.any(axis=1).all():
            yield start, step + 1
            start = step + 1
    yield start, trace.steps + 1


class _Accesses(NamedTuple):
    """Accesses as columns. ``time``: the step at which it happens, later than its own ``step`` only if it is asynchronous;
    ``value``: the bits of the written value, 0 for a read or if not ``known``.
    """

    element: Longs
    thread: Longs
    step: Longs
    time: Longs
    writes: Bools
    value: Longs
    known: Bools

    def chosen(self, which: npt.NDArray[np.generic]) -> "_Accesses":
        return _Accesses(*(column[which] for column in self))


class _Timed(NamedTuple):
    """The steps of one operand, with the time of each: an asynchronous one stands here several times."""

    touches: Touches
    rows: Longs
    steps: Longs
    times: Longs


def _timed(trace: Trace, touches: Touches, span: tuple[int, int]) -> _Timed:
    """The steps of an operand in a span of time. An asynchronous one happens before the first and after each of the barriers
    between its step and its end, and at its end.
    """
    which, times = np.arange(len(touches.steps)), touches.steps
    if trace.sites[touches.site].is_async and len(trace.completes):
        after = np.array([step + 1 for step, _, _ in arrivals(trace, slice(0))], np.int64)
        ends = trace.completes[touches.steps].tolist()
        spans = [
            np.unique([step, *after[(after > step + 1) & (after <= end)], end])
            for step, end in zip(touches.steps.tolist(), ends, strict=True)
        ]
        which = np.repeat(which, [len(each) for each in spans])
        times = np.concatenate([np.empty(0, np.int64), *spans])
    inside = (times >= span[0]) & (times < span[1])
    return _Timed(touches, touches.rows[which[inside]], touches.steps[which[inside]], times[inside])


class _Users:
    """The threads that read and that write some cells, numbered from 0, and the bits of the written values."""

    def __init__(self, cells: int) -> None:
        self.readers, self.writers, self.all, self.values = (Extremes(cells) for _ in range(4))
        self.is_unknown = np.zeros(cells, bool)

    def add(self, at: Longs, some: _Accesses) -> None:
        self.readers.add(at[~some.writes], some.thread[~some.writes])
        self.writers.add(at[some.writes], some.thread[some.writes])
        self.all.add(at, some.thread)
        self.values.add(at[some.known], some.value[some.known])
        self.is_unknown[at[some.writes & ~some.known]] = True


class _Matrix:
    """The elements of a matrix that several threads use in a span of time, one of them to write, and their users."""

    def __init__(
        self,
        trace: Trace,
        number: int,
        span: tuple[int, int],
        values: Singles | None,
    ) -> None:
        self.trace, self.values = trace, values
        self.array, self.unit, self.undecided = trace.arrays[number], trace.space.threads_per_block, 0
        writes = [_timed(trace, touches, span) for touches in trace.touches_of(number, "write")]
        reads = [_timed(trace, touches, span) for touches in trace.touches_of(number, "read")]
        self.touches = writes + reads
        self.elements = np.zeros(0, np.int64)
        if reads or not all(trace.sites[timed.touches.site].is_atomic for timed in writes):
            self.elements = np.flatnonzero(used_by_several(self.array.size, self._cells(writes), self._cells(reads)))
        self.users = _Users(len(self.elements))
        for timed in self.touches if len(self.elements) else ():
            for some in self._accesses(timed):
                at = np.minimum(np.searchsorted(self.elements, some.element), len(self.elements) - 1)
                inside = self.elements[at] == some.element
                self.users.add(at[inside], some.chosen(inside))

    def _cells(self, chosen: list[_Timed]) -> Iterator[tuple[Longs, Longs]]:
        return ((some.element, some.thread) for timed in chosen for some in self._accesses(timed))

    def _accesses(self, timed: _Timed) -> Iterator[_Accesses]:
        """All accesses of one operand, some rows of the trace at a time."""
        trace, touches = self.trace, timed.touches
        writes, is_atomic = touches.operand.access == "write", trace.sites[touches.site].is_atomic
        # The values that these stores wrote into the first of their elements.
        has_values = writes and (self.values is not None or all(row in trace.stored for row in touches.rows.tolist()))
        at_once = max(1, _ACCESSES_AT_ONCE // trace.space.thread_count)
        for start in range(0, len(timed.rows), at_once):
            checkpoint()
            rows, steps, times = (each[start : start + at_once] for each in timed[1:])
            element = trace.element[rows]
            row, thread = np.nonzero(element >= 0)
            first, bits = element[row, thread].astype(np.int64), np.zeros(len(row), np.int64)
            if is_atomic:
                bits = np.full(len(row), _ATOMIC)
            elif has_values:
                bits = self._written(rows)[row, thread].view(np.int64)
            for place, offset in enumerate(trace.offsets(touches.operand, thread)):
                known = np.full(len(row), is_atomic or (has_values and place == 0))
                step, time = steps[row].astype(np.int64), times[row].astype(np.int64)
                yield _Accesses(first + offset, thread, step, time, np.full(len(row), writes), bits, known)

    def _written(self, rows: Longs) -> Floats:
        """Values that the stores of some rows wrote: (rows, threads)."""
        if self.values is not None:
            return self.values[rows].astype(np.float64)
        return np.stack([self.trace.stored[row].astype(np.float64) for row in rows.tolist()])

    def hazards(self) -> Iterator[Hazard]:
        """The hazards between blocks, then the hazards inside blocks."""
        users = self.users.all
        is_read = ~self.users.readers.is_empty & users.is_split(self.unit)
        is_stored = self._harmful(self.users, self.users.writers.is_split(self.unit) & ~is_read)
        for reads, bad in ((True, is_read), (False, is_stored)):
            if bad.any():
                yield self._hazard(self._detailed(np.flatnonzero(bad)[:1]), int(bad.sum()), self.unit, reads)
        inside = np.flatnonzero(users.is_split() & ~users.is_split(self.unit))[:_MOST_INSIDE]
        if len(inside):
            yield from self._inside_blocks(self._detailed(inside))

    def _harmful(self, users: _Users, several: Bools) -> Bools:
        """Which of the cells that several threads write get different known values."""
        differ = several & users.values.is_split()
        self.undecided += int((several & users.is_unknown & ~differ).sum())
        return differ

    def _inside_blocks(self, some: _Accesses) -> Iterator[Hazard]:
        """Hazards among accesses of several threads of one block, which may lie between the same two barriers."""
        epochs = self._epochs(some)
        order = np.lexsort((epochs, some.element))
        some, epochs = some.chosen(order), epochs[order]
        number = np.cumsum((np.diff(some.element, prepend=-1) != 0) | (np.diff(epochs, prepend=-1) != 0)) - 1
        users = _Users(int(number[-1]) + 1)
        users.add(number, some)
        several = users.all.is_split() & ~users.writers.is_empty
        is_read = several & ~users.readers.is_empty
        for reads, bad in ((True, is_read), (False, self._harmful(users, several & ~is_read))):
            if bad.any():
                yield self._hazard(some.chosen(number == np.argmax(bad)), int(bad.sum()), 1, reads)

    def _detailed(self, places: Longs) -> _Accesses:
        """All accesses to some of the elements, in the order of the steps."""
        elements = self.elements[places]
        parts = [some.chosen(np.isin(some.element, elements)) for timed in self.touches for some in self._accesses(timed)]
        joined = _Accesses(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return joined.chosen(np.lexsort((joined.thread, joined.writes, joined.time)))

    def _epochs(self, some: _Accesses) -> Longs:
        """Number of barriers that the block of each access, in the order of their times, had passed before it; for an element
        used by only one warp, with the barriers of that warp.
        """
        width, place = self.trace.rules.warp_size, np.searchsorted(self.elements, some.element)
        block, thread = np.divmod(some.thread, self.unit)
        warps, warp = Extremes(len(self.elements)), thread // width
        warps.add(place, warp)
        blocks, block = np.unique(block, return_inverse=True)
        passed = np.zeros((2, len(blocks), -(-self.unit // width)), np.int64)  # of the block, of the block or the warp
        epochs, start = np.zeros((2, len(block)), np.int64), 0
        for step, site, arrived in arrivals(self.trace, blocks):
            stop = int(np.searchsorted(some.time, step, side="right"))
            epochs[:, start:stop] = passed[:, block[start:stop], warp[start:stop]]
            passed[1 if site.is_warp_barrier else 0 :] += ordered(site, arrived, width)[:, ::width]
            start = stop
        epochs[:, start:] = passed[:, block[start:], warp[start:]]
        return np.asarray(np.where(warps.is_split()[place], epochs[0], epochs[1]))

    def _hazard(self, some: _Accesses, count: int, unit: int, reads: bool) -> Hazard:
        """The hazard of the first two unordered accesses to one element, in the order of the steps."""
        units, writes = some.thread // unit, some.writes
        before_writes = ~writes if reads else np.ones(len(units), bool)  # what collides with a later write
        collides = np.where(writes, _is_elsewhere(units, before_writes), _is_elsewhere(units, writes))
        later = int(np.argmax(collides))
        is_earlier = (units[:later] != units[later]) & (before_writes if writes[later] else writes)[:later]
        return self._of_pair(some, int(np.flatnonzero(is_earlier)[-1]), later, count, unit > 1)

    def _of_pair(self, some: _Accesses, earlier: int, later: int, count: int, between_blocks: bool) -> Hazard:
        trace, element = self.trace, int(some.element[later])
        blocks = [trace.space.indices(int(some.thread[place]))[0] for place in (earlier, later)]
        threads = int(some.thread[earlier]) % self.unit, int(some.thread[later]) % self.unit
        before, step = int(some.step[earlier]), int(some.step[later])
        return Hazard(
            KINDS[bool(some.writes[earlier]), bool(some.writes[later])], trace.site_of(before), trace.site_of(step),
            self.array.name, element, self.array.subscripted(element), blocks[1], threads, step, count,
            blocks[0] if between_blocks else None,
            is_under_way=len(trace.completes) > 0 and int(trace.completes[before]) > int(some.time[later]),
        )  # fmt: skip


def _is_elsewhere(units: Longs, chosen: Bools) -> Bools:
    """For each access whether one of the chosen ones in front of it is of another unit."""
    low = np.minimum.accumulate(np.where(chosen, units, NOBODY))
    high = np.maximum.accumulate(np.where(chosen, units, -1))
    return np.concatenate([[False], (low[:-1] < units[1:]) | (high[:-1] > units[1:])])
