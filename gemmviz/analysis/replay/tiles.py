"""Contents of one block's shared arrays at a step, from the origins in the trace; and movements of elements: from a matrix to a
tile, or to the thread that loads them, and from a thread to the element that it stores.
"""

import re
from collections import Counter

import numpy as np
import numpy.typing as npt
from msgspec import Struct, structs

from gemmviz.analysis.costs import request_rows
from gemmviz.analysis.counts import Counts, count_rows
from gemmviz.analysis.replay.focus import Scope
from gemmviz.model.arrays import AnyArray, Ints, Longs, Singles
from gemmviz.model.messages import checkpoint
from gemmviz.model.sites import Access, MemoryArray, Operand, Site
from gemmviz.model.trace import COMPUTED, CONSTANT, Trace

EMPTY = -3
_ROWS_SAVED = 64


class TileContent(Struct, frozen=True):
    """Contents of the cells of one shared array, flat: ``array`` is the number of the matrix (COMPUTED or CONSTANT if it is no
    element, EMPTY if never written), ``element`` the element there, ``phase`` the phase that stored it, ``value`` the stored
    value, NaN if unknown (a constant's is known); ``summands``: of how many elements it is the sum, 1 for an element, -1 if
    unknown.
    """

    array: npt.NDArray[np.int8]
    element: Ints
    phase: Ints
    value: Singles
    summands: Ints

    def copy(self) -> "TileContent":
        own = (self.array, self.element, self.phase, self.value, self.summands)
        return TileContent(*(each.copy() for each in own))  # type: ignore[arg-type]

    @classmethod
    def empty(cls, info: MemoryArray) -> "TileContent":
        nothing, zeros = np.full(info.size, EMPTY, np.int8), np.zeros(info.size, np.int32)
        unknown = np.full(info.size, np.nan, np.float32)
        return cls(nothing, zeros, np.full(info.size, -1, np.int32), unknown, zeros.copy())


class Tiles:
    """A cursor: contents after a step, updated from step to step; what a copy brings is there after its wait. ``threads`` are
    those of the block; ``value`` the values read and written, (rows, threads of the trace), if known.
    """

    def __init__(self, trace: Trace, threads: slice, value: Singles | None = None) -> None:
        self.trace = trace
        self.threads = threads
        self.value = value
        self._order, self._arrives = _arrivals(trace)
        self._saved: dict[int, tuple[int, dict[int, TileContent]]] = {}
        self._at = -1
        self._contents: dict[int, TileContent] = {}

    def after(self, step: int) -> dict[int, TileContent]:
        """Contents by array number; empty if the trace has no origins. Valid until the next call."""
        if not len(self.trace.origin_step):
            return {}
        if self._at > step or not self._contents:
            self._go_back(step)
        first, last = np.searchsorted(self._arrives, [self._at + 1, step + 1])
        for place in range(int(first), int(last)):
            if place % _ROWS_SAVED == 0 and place not in self._saved:
                self._saved[place] = int(self._arrives[place]), {n: each.copy() for n, each in self._contents.items()}
            self._apply(int(self._order[place]))
        self._at = step
        return self._contents

    def _go_back(self, step: int) -> None:
        """Restores the latest saved contents of a moment before ``step``, or the initial ones."""
        before = [place for place, (at, _) in self._saved.items() if at <= step and not self._splits_a_step(place)]
        if before:
            at, contents = self._saved[max(before)]
            self._at, self._contents = at - 1, {n: each.copy() for n, each in contents.items()}
        else:
            shared = ((n, info) for n, info in enumerate(self.trace.arrays) if info.space == "shared")
            self._at, self._contents = -1, {n: TileContent.empty(info) for n, info in shared}

    def _splits_a_step(self, place: int) -> bool:
        """Whether the contents saved before this place include a part of its step already."""
        return place > 0 and bool(self._arrives[place - 1] == self._arrives[place])

    def _apply(self, row: int) -> None:
        trace, step = self.trace, int(self.trace.origin_step[row])
        record, operand, component = stored_at(trace, row)
        cells = trace.element[record, self.threads]
        active = cells >= 0
        content = self._contents[operand.array]
        where = cells[active] + operand.layout.offset(component, trace.lane[self.threads][active])
        array, origin = trace.origin_array[row, self.threads][active], trace.origin[row, self.threads][active]
        summands = np.where(array >= 0, 1, np.where(array == CONSTANT, 0, -1))
        if (array == COMPUTED).any():
            summands = np.where(array == COMPUTED, self._summands(step)[active], summands)
        content.summands[where] = summands
        content.array[where] = array
        content.element[where] = origin
        content.phase[where] = trace.phase[step]
        known = self.value is not None and component == 0
        stored = self.value[record, self.threads][active] if known and self.value is not None else np.float32(np.nan)
        content.value[where] = np.where(array == CONSTANT, origin.view(np.float32), stored)

    def _summands(self, step: int) -> Longs:
        """Return of how many elements the value of each thread is the sum that a statement stores at a step: what it has read
        in this statement, if that is all that it adds; -1 if unknown.
        """
        trace, site = self.trace, self.trace.site_of(step)
        unknown = np.full(self.threads.stop - self.threads.start, -1, np.int64)
        count, reads = _added_elements(trace, site), list[tuple[int, Operand]]()
        while step > 0 and len(reads) < count and trace.site_of(step - 1).statement == site.statement:
            step -= 1
            reads += [(int(trace.row[step]) + n, each) for n, each in enumerate(trace.site_of(step).operands)]
        if not count or len(reads) != count or any(each.access != "read" or each.width > 1 for _, each in reads):
            return unknown
        total = np.zeros(len(unknown), np.int64)
        for row, operand in reads:
            cells, held = trace.element[row, self.threads], self._contents.get(operand.array)
            own = np.where(cells < 0, -1, 1 if held is None else held.summands[np.maximum(cells, 0)])
            total = np.where((total < 0) | (own < 0), -1, total + own)
        return total


_SUBSCRIPT = re.compile(r"\[[^][]*\]")
_SUM = re.compile(r"\w+ *(\+?)= *(\w+(?: *\+ *\w+)*) *;?")


def _added_elements(trace: Trace, site: Site) -> int:
    """Return how many elements of arrays a statement adds, 0 if it does anything else: "s[x] += s[x + 1]" adds two."""
    place = site.statement
    if place is None or place.line != place.end_line:
        return 0
    line = trace.setup.kernel.text.split("\n")[place.line - 1][place.column - 1 : place.end_column - 1]
    found = _SUM.fullmatch(_SUBSCRIPT.sub("", line).strip())
    return 0 if found is None else len(found[2].split("+")) + bool(found[1])


def _arrivals(trace: Trace) -> tuple[Longs, Longs]:
    """The stores into shared memory in the order in which their values are there, by their rows among the origins, and the step
    of each: that of the wait for a copy.
    """
    arrives = trace.completes[trace.origin_step] if len(trace.completes) else trace.origin_step
    order = np.argsort(arrives, kind="stable")
    return order, arrives[order].astype(np.int64)


def stored_at(trace: Trace, at: int) -> tuple[int, Operand, int]:
    """Where the value of the origin at index ``at`` is stored into shared memory: the row of the record, the operand, and which
    of its elements.
    """
    step = int(trace.origin_step[at])
    stores = [
        (place, operand)
        for place, operand in enumerate(trace.site_of(step).operands)
        if operand.access == "write" and trace.arrays[operand.array].space == "shared"
    ]
    matrix, component = divmod(at - int(np.searchsorted(trace.origin_step, step)), stores[0][1].width)
    place, operand = stores[matrix]
    return int(trace.row[step]) + place, operand, component


# What one block moves of one array, counted from the trace of a run.

ROWS_AT_ONCE = 256
_LARGEST_COUNTED = 1 << 22  # elements of an array whose accesses are counted one by one


class BlockTraffic(Struct, frozen=True):
    """Accesses of some threads to one array. ``elements``: requested ones, each as often as it is requested; ``distinct``: of
    these without repeats; ``times``: how often each of these is requested if that is the same for all, else None; ``cost``:
    what the requests cost; ``tiles``: elements that each phase copies into shared memory, in the order of the phases.
    """

    elements: int
    distinct: int
    times: int | None
    cost: Counts
    tiles: tuple[int, ...] = ()


def block_traffic(trace: Trace, array: int, access: Access, threads: slice) -> BlockTraffic:
    """Count the accesses of whole blocks: ``threads`` are all of theirs. Raises Cancelled."""
    size = trace.arrays[array].size
    seen: AnyArray = np.zeros(size, np.int64 if size <= _LARGEST_COUNTED else np.bool_)
    elements, cost = 0, Counts()
    for touches in trace.touches_of(array, access):
        for start in range(0, len(touches.rows), ROWS_AT_ONCE):
            checkpoint()
            rows = trace.element[touches.rows[start : start + ROWS_AT_ONCE], threads]
            touched = trace.spread(touches.operand, rows, threads)
            elements += len(touched)
            if seen.dtype == np.bool_:
                seen[touched] = True
            else:
                seen += np.bincount(touched, minlength=size)
            lanes = request_rows(rows.reshape(-1, trace.launch.threads_per_block), trace.rules)
            cost += count_rows(lanes, touches.operand, trace.arrays[array], trace.rules)
    often = seen[seen > 0]
    same = len(often) > 0 and seen.dtype != np.bool_ and bool((often == often[0]).all())
    tiles = _copied_by_phase(trace, array, threads) if access == "read" else ()
    return BlockTraffic(elements, len(often), int(often[0]) if same else None, cost, tiles)


def whole_traffic(trace: Trace, array: int, access: Access) -> BlockTraffic:
    """Count the accesses of all traced blocks."""
    return block_traffic(trace, array, access, slice(0, trace.space.thread_count))


def copied_from(trace: Trace, shared: int, threads: slice) -> tuple[int, ...]:
    """The arrays whose elements threads store into a shared array, the most frequent first."""
    stores = np.isin(
        trace.origin_step, np.concatenate([t.steps for t in trace.touches_of(shared, "write")] or [np.zeros(0, np.int64)])
    )
    sources = trace.origin_array[stores][:, threads]
    count = Counter(sources[sources >= 0].tolist())
    return tuple(number for number, _ in count.most_common())


def _copied_by_phase(trace: Trace, array: int, threads: slice) -> tuple[int, ...]:
    """Elements of an array that are copied into shared memory, by phase."""
    if not len(trace.origin_step):
        return ()
    copied = np.count_nonzero(trace.origin_array[:, threads] == array, axis=1)
    by_phase: Counter[int] = Counter()
    for phase, count in zip(trace.phase[trace.origin_step].tolist(), copied.tolist(), strict=True):
        by_phase[phase] += count
    return tuple(count for _, count in sorted(by_phase.items()) if count)


# Movements of elements at a step: from a matrix to a tile, or to the thread that loads them, and from a thread to the element
# that it stores.

THREADS = -1
_ROWS_AHEAD = 64


class Flights(Struct, frozen=True):
    """Movements, one entry each. ``source`` and ``target`` are array numbers, or THREADS; ``start`` and ``end`` the elements
    there, or the thread's number in the block; ``thread`` the thread that moves it. ``way`` is the part of the path that the
    step covers. ``issued``: the step at which they set out if that is another one, else -1; ``stays``: whether they are still
    under way after this step.
    """

    source: int
    target: int
    start: Longs
    end: Longs
    thread: Longs
    way: tuple[float, float] = (0.0, 1.0)
    issued: int = -1
    stays: bool = False

    def __len__(self) -> int:
        return len(self.start)


def flights(trace: Trace, step: int, scope: Scope) -> list[Flights]:
    """Elements that the chosen threads of the block move at ``step``; empty for a site without operands."""
    site, moves = trace.site_of(step), []
    for place, operand in enumerate(site.operands):
        space = trace.arrays[operand.array].space
        threads, elements = _accessed(trace, trace.element[int(trace.row[step]) + place, scope.in_block], operand, scope)
        threads += scope.first_thread
        if operand.access == "write" and space == "shared":
            moves += _into_tile(trace, step, operand, threads, elements, scope)
        elif operand.access == "write":
            moves.append(Flights(THREADS, operand.array, threads, elements, threads))
        elif operand.access == "read" and space == "shared":
            moves.append(Flights(operand.array, THREADS, elements, threads, threads))
        elif operand.access == "read" and site.kind != "copy":
            moves += _from_matrix(trace, step, operand, threads, elements, scope)
    return moves + _under_way(trace, step, scope)


def _under_way(trace: Trace, step: int, scope: Scope) -> list[Flights]:
    """The copies that set out before a step and are still under way, or arrive in it."""
    moves: list[Flights] = []
    for issued in np.flatnonzero(trace.completes[:step] >= step).tolist():
        arrives = int(trace.completes[issued]) == step
        for place, operand in enumerate(trace.site_of(issued).operands):
            if operand.access == "write" and trace.arrays[operand.array].space == "shared":
                rows = trace.element[int(trace.row[issued]) + place, scope.in_block]
                threads, elements = _accessed(trace, rows, operand, scope)
                copied = _into_tile(trace, issued, operand, threads + scope.first_thread, elements, scope)
                way = (0.5, 1.0) if arrives else (0.5, 0.5)
                moves += [structs.replace(each, way=way, issued=issued, stays=not arrives) for each in copied]
    return moves


def _accessed(trace: Trace, touched: Ints, operand: Operand, scope: Scope) -> tuple[Longs, Longs]:
    """The active threads, counted from 0, and the elements that they touch, with the elements of a wide access one after the
    other.
    """
    active = np.flatnonzero(touched >= 0)
    elements = operand.layout.spread(touched[active], trace.lane[scope.in_block][active]).T.ravel()
    return np.tile(active, operand.width), elements


def _into_tile(trace: Trace, step: int, operand: Operand, threads: Longs, cells: Longs, scope: Scope) -> list[Flights]:
    """Movements into a tile: copies of matrix elements start at the matrix, computed values at their thread."""
    first = int(np.searchsorted(trace.origin_step, step))
    if first == len(trace.origin_step) or trace.origin_step[first] != step:
        return [Flights(THREADS, operand.array, threads, cells, threads)]
    columns = threads + scope.of_block.start
    row = first + np.repeat(np.arange(operand.width), len(threads) // operand.width)
    matrix, element = trace.origin_array[row, columns], trace.origin[row, columns].astype(np.int64)
    stays = len(trace.completes) > 0 and int(trace.completes[step]) > step
    way = (0.0, 0.5) if stays else (0.0, 1.0) if trace.site_of(step).kind == "copy" else (0.5, 1.0)
    moves = []
    for number in np.unique(matrix).tolist():
        these = matrix == number
        if number >= 0:
            moves.append(Flights(number, operand.array, element[these], cells[these], threads[these], way, stays=stays))
        else:
            moves.append(Flights(THREADS, operand.array, threads[these], cells[these], threads[these]))
    return moves


def _from_matrix(trace: Trace, step: int, operand: Operand, threads: Longs, elements: Longs, scope: Scope) -> list[Flights]:
    """Movements from a matrix: elements that are stored into a tile next cover half of the path to it; others go to their
    thread.
    """
    columns = threads + scope.of_block.start
    tile, cell = np.full(len(threads), THREADS), np.zeros(len(threads), np.int64)
    first = int(np.searchsorted(trace.origin_step, step + 1))
    for row in range(first, min(first + _ROWS_AHEAD, len(trace.origin_step))):
        record, stored, component = stored_at(trace, row)
        offset = np.broadcast_to(stored.layout.offset(component, trace.lane[columns]), columns.shape)
        same = (trace.origin_array[row, columns] == operand.array) & (trace.origin[row, columns] == elements)
        same &= (trace.element[record, columns] >= 0) & (tile == THREADS)
        tile[same], cell[same] = stored.array, trace.element[record, columns][same] + offset[same]
        if (tile != THREADS).all():
            break
    moves = []
    for number in np.unique(tile).tolist():
        these = tile == number
        ends, way = (threads, (0.0, 1.0)) if number == THREADS else (cell, (0.0, 0.5))
        moves.append(Flights(operand.array, number, elements[these], ends[these], threads[these], way))
    return moves
