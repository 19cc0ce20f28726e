"""Hazards in global memory: unordered accesses of several threads to the same element of a matrix, at least one of them a
write.

Blocks of a grid run in any order, also at the same time (CUDA C++ Programming Guide, Thread Hierarchy): nothing orders them.
Threads of one block are ordered by its barriers, those of a warp by __syncwarp() too; a barrier of the grid orders all. An
asynchronous access may happen at any time until a wait completes it. Threads that write the same value into an element do no
harm, whatever their order, and neither do several atomics.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.hazards.hazard import Hazard, HazardKind
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled
from gemmviz.model.records import replace
from gemmviz.model.trace import Touches, Trace

Values = npt.NDArray[np.float64]
_NOBODY, _ACCESSES_AT_ONCE, _MOST_INSIDE = np.iinfo(np.int64).max, 1 << 20, 1 << 14
_ATOMIC = np.int64(
    0x7FF8_0000_0000_A70C
)  # stands for the value written by any atomic: the bits of a number that no kernel stores


class GlobalHazards(Struct, frozen=True):
    """``hazards``: one for each kind, array and scope (between blocks, or inside one). ``undecided``: number of elements that
    several threads write without order, with values that the trace doesn't contain.
    """

    hazards: tuple[Hazard, ...] = ()
    undecided: int = 0


def global_hazards(
    trace: Trace, values: npt.NDArray[np.float32] | None = None, cancelled: Callable[[], bool] = is_cancelled
) -> GlobalHazards:
    """The hazards of the traced blocks in global memory. ``values`` (rows, threads): values read and written, if they are known
    and not in the trace. Raises Cancelled.
    """
    hazards: list[Hazard] = []
    undecided = 0
    known = trace.value if values is None else values
    for number in sorted({touches.operand.array for touches in trace.touches if _writes_globally(trace, touches)}):
        for span in _between_grid_barriers(trace):
            users = _Users(trace, number, span, known, cancelled)
            hazards += users.hazards()
            undecided += users.undecided
    return GlobalHazards(tuple(sorted(_once(hazards), key=lambda hazard: hazard.step)), undecided)


def _once(hazards: list[Hazard]) -> Iterator[Hazard]:
    """Each kind of hazard in an array once, with its elements between all barriers of the grid."""
    joined: dict[tuple[str, str, bool], Hazard] = {}
    for each in hazards:
        key = each.kind, each.array, each.earlier_block is None
        first = joined.get(key, each)
        joined[key] = first if first is each else replace(first, count=first.count + each.count)
    yield from joined.values()


def _between_grid_barriers(trace: Trace) -> Iterator[tuple[int, int]]:
    """Half-open ranges of steps that no barrier of the whole grid divides."""
    start, blocks = 0, (trace.blocks.count, -1)
    for step in range(trace.steps) if any(site.visible_to == "grid" for site in trace.sites) else ():
        is_whole = (
            trace.site_of(step).visible_to == "grid" and (trace.element[trace.row[step]] >= 0).reshape(blocks).any(axis=1).all()
        )
        if is_whole:
            yield start, step + 1
            start = step + 1
    yield start, trace.steps + 1


def _writes_globally(trace: Trace, touches: Touches) -> bool:
    return touches.operand.access == "write" and trace.arrays[touches.operand.array].space == "global"


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
    """The steps of an operand in a span of time."""
    which, times = np.arange(len(touches.steps)), touches.steps
    if trace.sites[touches.site].is_async and len(trace.completes):
        barriers = np.array([step for step in range(trace.steps) if trace.site_of(step).is_barrier], np.int64)
        spans = [_times_under_way(step, int(trace.completes[step]), barriers) for step in touches.steps.tolist()]
        which = np.repeat(which, [len(each) for each in spans])
        times = np.concatenate([np.empty(0, np.int64), *spans])
    inside = (times >= span[0]) & (times < span[1])
    return _Timed(touches, touches.rows[which[inside]], touches.steps[which[inside]], times[inside])


def _times_under_way(step: int, end: int, barriers: Longs) -> Longs:
    """A time before the first and after each of the barriers between an asynchronous step and its end, and the end."""
    between = barriers[(barriers > step) & (barriers < end)]
    return np.unique([step, *(between + 1), end])


class _Range:
    """The least and the greatest number added for each of some elements."""

    def __init__(self, count: int) -> None:
        self.low, self.high = np.full(count, _NOBODY), np.full(count, -_NOBODY)

    def add(self, at: Longs, numbers: Longs) -> None:
        np.minimum.at(self.low, at, numbers)
        np.maximum.at(self.high, at, numbers)

    @property
    def is_empty(self) -> Bools:
        return np.asarray(self.low > self.high)

    def joined(self, other: "_Range") -> "_Range":
        joined = _Range(0)
        joined.low, joined.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return joined

    def is_split(self, unit: int = 1) -> Bools:
        """Whether the numbers added for an element lie in several units of ``unit`` numbers."""
        return np.asarray(~self.is_empty & (self.low // unit != self.high // unit))


def _is_elsewhere(units: Longs, chosen: Bools) -> Bools:
    """For each access whether one of the chosen ones in front of it is of another unit."""
    low = np.minimum.accumulate(np.where(chosen, units, _NOBODY))
    high = np.maximum.accumulate(np.where(chosen, units, -_NOBODY))
    is_other = (low[:-1] <= high[:-1]) & ((low[:-1] != units[1:]) | (high[:-1] != units[1:]))
    return np.concatenate([np.zeros(1, bool), is_other])


class _Users:
    """Readers and writers of those elements of an array that are written at all."""

    def __init__(
        self,
        trace: Trace,
        number: int,
        span: tuple[int, int],
        values: npt.NDArray[np.float32] | None,
        cancelled: Callable[[], bool],
    ) -> None:
        self.trace, self.number, self.values, self.cancelled = trace, number, values, cancelled
        self.array, self.unit = trace.arrays[number], trace.space.threads_per_block
        self.touches = [_timed(trace, touches, span) for touches in trace.touches_of(number)]
        written = [np.unique(each.element) for timed in self.touches for each in self._accesses(timed, writes_only=True)]
        self.elements = np.unique(np.concatenate([np.empty(0, np.int64), *written]))
        count = len(self.elements)
        self.readers, self.writers, self.bits = _Range(count), _Range(count), _Range(count)
        self.is_unknown = np.zeros(count, bool)
        for timed in self.touches if count else ():
            for some in self._accesses(timed):
                at = np.minimum(np.searchsorted(self.elements, some.element), count - 1)
                is_written = self.elements[at] == some.element
                at, some = at[is_written], some.chosen(is_written)
                (self.writers if timed.touches.operand.access == "write" else self.readers).add(at, some.thread)
                self.bits.add(at[some.known], some.value[some.known])
                self.is_unknown[at[some.writes & ~some.known]] = True
        self.users = self.readers.joined(self.writers)
        self.undecided = 0

    def _has_values(self, touches: Touches) -> bool:
        """Whether the values are known that these stores wrote into the first of their elements."""
        return self.values is not None or all(row in self.trace.stored for row in touches.rows.tolist())

    def _accesses(self, timed: _Timed, writes_only: bool = False) -> Iterator[_Accesses]:
        """All accesses of one operand, some rows of the trace at a time."""
        touches = timed.touches
        writes = touches.operand.access == "write"
        if writes_only and not writes:
            return
        at_once = max(1, _ACCESSES_AT_ONCE // self.trace.space.thread_count)
        for start in range(0, len(timed.rows), at_once):
            if self.cancelled():
                raise Cancelled
            rows, steps, times = (each[start : start + at_once] for each in timed[1:])
            element = self.trace.element[rows]
            row, thread = np.nonzero(element >= 0)
            first, bits = element[row, thread].astype(np.int64), np.zeros(len(row), np.int64)
            is_atomic = self.trace.sites[touches.site].is_atomic
            if is_atomic:
                bits = np.full(len(row), _ATOMIC)
            elif writes and self._has_values(touches):
                bits = self._written(rows)[row, thread].view(np.int64)
            for place, offset in enumerate(self.trace.offsets(touches.operand, thread)):
                known = np.full(len(row), is_atomic or (writes and place == 0 and self._has_values(touches)))
                step, time = steps[row].astype(np.int64), times[row].astype(np.int64)
                yield _Accesses(first + offset, thread, step, time, np.full(len(row), writes), bits, known)

    def _written(self, rows: Longs) -> Values:
        """Values that the stores of some rows wrote: (rows, threads)."""
        if self.values is not None:
            return self.values[rows].astype(np.float64)
        return np.stack([self.trace.stored[row].astype(np.float64) for row in rows.tolist()])

    def hazards(self) -> Iterator[Hazard]:
        """The hazards between blocks, then the hazards inside blocks."""
        split = self.writers.is_split(self.unit)
        read_elsewhere = ~self.readers.is_empty & self.users.is_split(self.unit)
        yield from self._between_blocks(read_elsewhere, reads=True)
        yield from self._between_blocks(self._harmful(split & ~read_elsewhere), reads=False)
        yield from self._inside_blocks(self.users.is_split() & ~self.users.is_split(self.unit))

    def _harmful(self, several: Bools) -> Bools:
        """Which of the elements that several threads write get different known values."""
        differ = several & self.bits.is_split()
        self.undecided += int((several & self.is_unknown & ~differ).sum())
        return differ

    def _between_blocks(self, which: Bools, reads: bool) -> Iterator[Hazard]:
        if which.any():
            chosen = self._detailed(np.flatnonzero(which)[:1])
            yield self._hazard(chosen, int(which.sum()), self.unit, reads)

    def _inside_blocks(self, which: Bools) -> Iterator[Hazard]:
        """Hazards of elements that several threads of one block use, where the accesses may lie between the same two
        barriers.
        """
        places = np.flatnonzero(which)[:_MOST_INSIDE]
        if not len(places):
            return
        some = self._detailed(places)
        group = self._epochs(some)
        order = np.lexsort((some.time, group, some.element))
        some, group = some.chosen(order), group[order]
        is_first = (np.diff(some.element, prepend=-1) != 0) | (np.diff(group, prepend=-1) != 0)
        number, count = np.cumsum(is_first) - 1, int(is_first.sum())
        threads, readers, bits = _Range(count), _Range(count), _Range(count)
        threads.add(number, some.thread)
        readers.add(number[~some.writes], some.thread[~some.writes])
        bits.add(number[some.known], some.value[some.known])
        has_writes, is_unknown = np.zeros(count, bool), np.zeros(count, bool)
        has_writes[number[some.writes]] = True
        is_unknown[number[some.writes & ~some.known]] = True
        several = threads.is_split() & has_writes
        for reads, bad in ((True, several & ~readers.is_empty), (False, several & readers.is_empty)):
            if not reads:
                self.undecided += int((bad & is_unknown & ~bits.is_split()).sum())
                bad &= bits.is_split()
            if bad.any():
                yield self._hazard(some.chosen(number == np.flatnonzero(bad)[0]), int(bad.sum()), 1, reads)

    def _detailed(self, places: Longs) -> _Accesses:
        """All accesses to some of the elements, in the order of the steps."""
        elements = self.elements[places]
        parts = [some.chosen(np.isin(some.element, elements)) for timed in self.touches for some in self._accesses(timed)]
        joined = _Accesses(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return joined.chosen(np.lexsort((joined.thread, joined.writes, joined.time)))

    def _epochs(self, some: _Accesses) -> Longs:
        """Number of barriers that each access's block had passed before it; for an element used by only one warp, with the
        barriers of that warp.
        """
        trace, unit, width = self.trace, self.unit, self.trace.rules.warp_size
        steps: dict[str, list[int]] = {"barrier": [], "warp barrier": []}
        for step in range(trace.steps):
            if trace.site_of(step).kind in steps:
                steps[trace.site_of(step).kind].append(step)
        warp, place = some.thread % unit // width, np.searchsorted(self.elements, some.element)
        warps = _Range(len(self.elements))
        warps.add(place, warp)
        is_alone = ~warps.is_split()[place]
        epochs = np.zeros(len(some.time), np.int64)
        for block in np.unique(some.thread // unit).tolist():
            active = trace.element[:, block * unit : (block + 1) * unit] >= 0
            reached = [step for step in steps["barrier"] if active[trace.row[step]].any()]
            mine = some.thread // unit == block
            epochs[mine] = np.searchsorted(np.array(reached, np.int64), some.time[mine])
            for number in np.unique(warp[mine & is_alone]).tolist() if steps["warp barrier"] else []:
                lanes = active[:, number * width : (number + 1) * width]
                # A thread that is never active again is assumed to have returned.
                last = len(lanes) - 1 - np.argmax(lanes[::-1], axis=0)
                waits = [step for step in steps["warp barrier"] if (lanes[row := int(trace.row[step])] | (last < row)).all()]
                chosen = mine & is_alone & (warp == number)
                epochs[chosen] = np.searchsorted(np.array(sorted(reached + waits), np.int64), some.time[chosen])
        return epochs

    def _hazard(self, some: _Accesses, count: int, unit: int, reads: bool) -> Hazard:
        """The hazard of the first two unordered accesses to one element, in the order of the steps."""
        units, writes = some.thread // unit, some.writes
        before_writes = ~writes if reads else np.ones(len(units), bool)  # what collides with a later write
        collides = np.where(writes, _is_elsewhere(units, before_writes), _is_elsewhere(units, writes))
        later = int(np.flatnonzero(collides)[0])
        earlier = np.flatnonzero((units[:later] != units[later]) & (before_writes if writes[later] else writes)[:later])
        return self._of_pair(some, int(earlier[-1]), later, count, unit > 1)

    def _of_pair(self, some: _Accesses, earlier: int, later: int, count: int, between_blocks: bool) -> Hazard:
        trace, element = self.trace, int(some.element[later])
        kinds: dict[tuple[bool, bool], HazardKind] = {
            (True, True): "write after write", (True, False): "read after write", (False, True): "write after read",
        }  # fmt: skip
        blocks = [trace.space.indices(int(some.thread[place]))[0] for place in (earlier, later)]
        threads = int(some.thread[earlier]) % self.unit, int(some.thread[later]) % self.unit
        return Hazard(
            kinds[bool(some.writes[earlier]), bool(some.writes[later])], trace.site_of(int(some.step[earlier])),
            trace.site_of(int(some.step[later])), self.array.name, element, self.array.subscripted(element), blocks[1],
            threads, int(some.step[later]), count, blocks[0] if between_blocks else None,
            is_under_way=self._is_under_way(int(some.step[earlier]), int(some.time[later])),
        )  # fmt: skip

    def _is_under_way(self, step: int, time: int) -> bool:
        """Whether no wait has completed an asynchronous step by then."""
        return self.trace.site_of(step).is_async and len(self.trace.completes) > 0 and int(self.trace.completes[step]) > time
