"""Reads from global memory of single threads, ordered by the k of their product; and the copies and products of a phase."""

from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct

from gemmviz.analysis.costs import MovedSectors, moved_sectors, warp_rows
from gemmviz.analysis.counts import Counts, count_rows
from gemmviz.analysis.replay.focus import Scope
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.analysis.replay.tiles import stored_at
from gemmviz.model.arrays import Ints, Longs
from gemmviz.model.messages import UsageError, tr
from gemmviz.model.records import fields
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Trace


class Reads(Struct, frozen=True, dict=True):
    """All reads of inputs from global memory by the threads of one block, in the order of the run: int64 (n,) each. ``k`` is
    the index of the inner dimension of a multiplication, 0 for other problems, ``number`` the array.
    """

    step: Longs
    thread: Longs
    number: Longs
    element: Longs
    k: Longs

    @cached_property
    def _ordered(self) -> tuple[Longs, Longs]:
        """Indices of the reads sorted by thread, then k, then step; and a key of thread and k for each, ascending."""
        order = np.lexsort((self.step, self.k, self.thread))
        return order, self._key(self.thread[order], self.k[order])

    @cached_property
    def _end(self) -> int:
        """One more than the largest k."""
        return int(self.k.max(initial=0)) + 1

    def _key(self, thread: Any, k: Any) -> Any:
        return thread * (self._end + 1) + k

    def _between(self, thread: int, first: int, last: int) -> Longs:
        """The reads of a thread for k from ``first`` to ``last`` - 1, by k and step."""
        order, keys = self._ordered
        low, high = np.searchsorted(keys, [self._key(thread, min(each, self._end)) for each in (first, last)])
        return order[low:high]

    def of(self, thread: int, k: int, until: int) -> list[tuple[int, int]]:
        """Array and element of each read of a thread for one k up to and including a step."""
        if thread not in self._by_k:
            self._by_k[thread] = self._all_of(thread)
        return [(number, element) for step, number, element in self._by_k[thread].get(k, ()) if step <= until]

    @cached_property
    def _by_k(self) -> dict[int, dict[int, list[tuple[int, int, int]]]]:
        """Step, number and element of the reads of the threads that were asked for, by thread and k."""
        return {}

    def _all_of(self, thread: int) -> dict[int, list[tuple[int, int, int]]]:
        found: dict[int, list[tuple[int, int, int]]] = {}
        reads = self._between(thread, 0, self._end)
        for k, *read in zip(*(each[reads].tolist() for each in (self.k, self.step, self.number, self.element)), strict=True):
            found.setdefault(k, []).append(tuple(read))
        return found

    def latest(self, thread: int, until: int) -> int:
        """The k of the latest read of a thread up to and including a step; 0 before its first read."""
        own = self._between(thread, 0, self._end)
        own = own[self.step[own] <= until]
        return int(self.k[own[np.argmax(self.step[own])]]) if len(own) else 0

    def count(self, thread: int, ks: int, until: int) -> int:
        """Number of a thread's reads up to a step for products with k < ``ks``."""
        return int(np.count_nonzero(self.step[self._between(thread, 0, ks)] <= until))

    @cached_property
    def _first_steps(self) -> Longs:
        """The step at which each element is read for the first time, ascending."""
        far = int(self.element.max(initial=0)) + 1
        _, first = np.unique(self.number * far + self.element, return_index=True)
        return np.sort(self.step[first])

    def different(self, until: int) -> int:
        """Number of distinct elements read up to and including a step."""
        return int(np.searchsorted(self._first_steps, until, side="right"))


def reads_of(trace: Trace, scope: Scope) -> Reads:
    """The reads of the block of a scope."""
    parts: list[list[Ints]] = [[] for _ in fields(Reads)]
    for number in trace.inputs:
        for touches in trace.touches_of(number, "read"):
            for step, row in zip(touches.steps.tolist(), touches.rows.tolist(), strict=True):
                touched = trace.element[row, scope.of_block]
                thread = np.flatnonzero(touched >= 0)
                for offset in trace.offsets(touches.operand, thread + scope.of_block.start):
                    element = touched[thread].astype(np.int64) + offset
                    r, c = trace.arrays[number].row_column(element)
                    k = np.asarray(c if number == trace.inputs[0] else r) if trace.is_multiply else np.zeros_like(element)
                    entries = np.full(len(thread), step), thread, np.full(len(thread), number), element, k
                    for column, part in zip(parts, entries, strict=True):
                        column.append(part.astype(np.int32))
    columns = [np.concatenate(parts.pop(0) or [np.zeros(0, np.int32)]) for _ in fields(Reads)]
    order = np.argsort(columns[0], kind="stable")
    return Reads(*(columns.pop(0)[order].astype(np.int64) for _ in fields(Reads)))


def reads_at(moment: Moment) -> Reads:
    """The reads of the focus's block, cached with the trace."""
    return moment.replay.cached(("reads", moment.scope.of_block.start), lambda: reads_of(moment.trace, moment.scope))


def walk_of(moment: Moment, name: str) -> tuple[Longs, Longs, Longs] | None:
    """Steps, elements and byte addresses of a matrix that the first chosen thread reads from global memory; None if it reads
    none.
    """
    reads, number = reads_at(moment), moment.trace.number_of(name)
    own = (reads.thread == moment.scope.first_thread) & (reads.number == number)
    if number is None or not own.any():
        return None
    return reads.step[own], reads.element[own], reads.element[own] * moment.trace.arrays[number].itemsize


def stride_of(addresses: Longs) -> int | None:
    """Bytes between consecutive addresses if the distance is constant, else None."""
    steps = np.unique(np.diff(addresses))
    return int(steps[0]) if len(steps) == 1 else None


class CopiedElement(Struct, frozen=True):
    """An element of a matrix that a thread copies into shared memory at a step: the indices of its source, and its
    destination.
    """

    step: int
    matrix: str
    source: tuple[int, ...]
    array: str
    target: tuple[int, int]


class Product(Struct, frozen=True):
    """Two cells of shared memory whose values a thread multiplies, with the step at which the second one is read."""

    step: int
    left: tuple[str, int, int]
    right: tuple[str, int, int]


def copies_of(trace: Trace, scope: Scope, thread: int, phase: int) -> list[CopiedElement]:
    """Copies of a thread of the block into shared memory in a phase, in the order of the run."""
    column, copies = _trace_column(trace, scope, thread), []
    for at, step in enumerate(trace.origin_step.tolist()):
        if step >= trace.steps:
            break  # the run ended before this store
        number = int(trace.origin_array[at, column])
        if int(trace.phase[step]) != phase or number < 0:
            continue
        record, operand, component = stored_at(trace, at)
        cell = int(trace.element[record, column])
        if cell < 0:
            continue
        offset = operand.layout.offset(component, trace.lane[column])
        matrix, tile = trace.arrays[number], trace.arrays[operand.array]
        source = matrix.indices(int(trace.origin[at, column]))
        copies.append(CopiedElement(step, matrix.name, source, tile.name, tile.place(cell + int(offset))))
    return copies


def products_of(replay: Replay, scope: Scope, thread: int, phase: int) -> list[Product]:
    """Products of a thread of the block in a phase: pairs of consecutive reads of shared memory from different arrays. Raises
    UsageError if these are not its products: for a thread with several elements of C, which keeps values in registers, and for
    reads of several elements at once.
    """
    trace, column = replay.trace, _trace_column(replay.trace, scope, thread)
    if not has_plain_products(replay, scope):
        raise UsageError(tr("its threads use each value that they read in several products"))
    steps = np.flatnonzero(trace.phase == phase)
    waiting: tuple[str, int, int] | None = None
    products = []
    for step in steps.tolist():
        for place, operand in enumerate(trace.site_of(step).operands):
            array = trace.arrays[operand.array]
            element = int(trace.element[int(trace.row[step]) + place, column])
            if operand.access != "read" or array.space != "shared" or element < 0:
                continue
            cell = (array.name, *array.place(element))
            if waiting is not None and waiting[0] != array.name:
                products.append(Product(step, waiting, cell))
                waiting = None
            else:
                waiting = cell
    return products


def has_plain_products(replay: Replay, scope: Scope) -> bool:
    """Whether each thread of the block has at most one element of C and reads one element of a tile at a time."""
    trace = replay.trace
    shared = [number for number, array in enumerate(trace.arrays) if array.space == "shared"]
    is_wide = any(op.access == "read" and op.array in shared and op.width > 1 for site in trace.sites for op in site.operands)
    return not is_wide and bool((np.bincount(replay.owners.of(scope.of_block)[1], minlength=1) <= 1).all())


def _trace_column(trace: Trace, scope: Scope, thread: int) -> int:
    """Column of a thread of the block in the tables of the trace. Raises UsageError if the block has no such thread."""
    count = trace.space.threads_per_block
    if not 0 <= thread < count:
        raise UsageError(tr("a block has no thread {thread}", thread=thread), remedy=tr("choose 0 to {count}", count=count - 1))
    return int(scope.of_block.start) + thread


# What a warp reads of the matrices at one moment: the elements of its lanes, and what the request moves.


class WarpRead(Struct, frozen=True):
    """A warp's request for a matrix: its elements and their lanes, one entry for each element of each lane, with its sectors
    and counts. ``ks``: the range of k that it covers.
    """

    array: MemoryArray
    elements: Longs
    lanes: Longs
    moved: MovedSectors
    cost: Counts
    ks: tuple[int, int]


def warp_reads(moment: Moment, warp: int) -> list[WarpRead]:
    """Return what a warp reads of A and of B; nothing of other problems."""
    return [read for name in "AB" if (read := _request_of_warp(moment, warp, name))] if moment.trace.is_multiply else []


def _request_of_warp(moment: Moment, warp: int, name: str) -> WarpRead | None:
    """Return a warp's latest request for A or B in global memory, its first one before that; None if it makes none."""
    trace, reads = moment.trace, reads_at(moment)
    number, size = trace.number_of(name), trace.rules.warp_size
    own = np.flatnonzero((reads.number == number) & (reads.thread // size == warp))
    if number is None or not len(own):
        return None
    past = own[reads.step[own] <= moment.step]
    step = int(reads.step[past[-1] if len(past) else own[0]])
    place, operand = next(
        (place, each)
        for place, each in enumerate(trace.site_of(step).operands)
        if (each.array, each.access) == (number, "read")
    )
    rows = warp_rows(trace.element[int(trace.row[step]) + place][None, moment.scope.of_block], size)[warp]
    lanes = np.flatnonzero(rows >= 0)
    requests, array = rows.reshape(-1, trace.rules.request_lanes), trace.arrays[number]
    elements = operand.layout.spread(rows[lanes], lanes).ravel()
    row, column = array.row_column(elements)
    k = column if name == "A" else row
    return WarpRead(
        array, elements, np.repeat(lanes, operand.width), moved_sectors(requests, operand, array, trace.rules),
        count_rows(requests, operand, array, trace.rules), (int(k.min()), int(k.max()) + 1),
    )  # fmt: skip


# What the first blocks of a launch need: the different elements of each matrix that they read together.


def read_by_first(trace: Trace, number: int, threads: slice) -> Longs:
    """The different elements of an array that some threads read, ascending."""
    parts = [
        trace.spread(touches.operand, trace.element[touches.rows, threads], threads)
        for touches in trace.touches_of(number, "read")
    ]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def first_threads(moment: Moment) -> slice:
    """The threads of the traced blocks up to the one in focus."""
    return slice(0, moment.scope.of_block.stop)


def matrices_read(trace: Trace) -> dict[str, tuple[int, MemoryArray]]:
    """The matrices in global memory that threads read, with their numbers, by name."""
    return {
        array.name: (number, array)
        for number, array in enumerate(trace.arrays)
        if array.space == "global" and trace.touches_of(number, "read")
    }
