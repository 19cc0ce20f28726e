"""The sums of C, term by term: the steps at which the factors of each product are read.

C[i, j] is the sum of A[i, k] * B[k, j] over k. A product can be computed once the thread that stores C[i, j] has read both of
its factors into registers: from the matrix itself or, if a kernel copies the matrix into shared memory, from the copies. A load
whose value is only stored into a tile doesn't count as a factor. Where matrix instructions multiply, what any lane of the
thread's warp has read counts, as each lane uses factors that others hold.
"""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.replay.focus import Scope
from gemmviz.analysis.replay.grid import Owners
from gemmviz.analysis.replay.tiles import EMPTY, stored_at
from gemmviz.model.arrays import Bools, Ints, Longs
from gemmviz.model.messages import checkpoint
from gemmviz.model.trace import Trace

_MOST_CELLS = 48_000_000  # of a table of reads
_TERMS_AT_ONCE = 1 << 18
_PER_STORE = 1000  # entries of the record that take as long
_LATE = np.iinfo(np.int32).max


class Terms(Struct, frozen=True, dict=True):
    """The elements of C that one block stores. ``elements`` (n,) ascending and ``threads`` (n,), the thread of the block that
    stores each; ``kind`` (n,) is the row of ``steps`` int32 (kinds, K), the steps at which both factors of each term are read,
    or the int32 of NEVER. ``reads_a`` and ``reads_b``: the same for each factor alone.
    """

    elements: Longs
    threads: Longs
    kind: Longs
    steps: Ints
    reads_a: Ints
    reads_b: Ints

    def done(self, step: int) -> Longs:
        """Number of terms of each element whose factors are read up to ``step``: (n,)."""
        return np.count_nonzero(self.steps <= step, axis=1).astype(np.int64)[self.kind] if len(self.elements) else self.elements

    @cached_property
    def length(self) -> int:
        """Number of terms of each sum: K."""
        return int(self.steps.shape[1])


class ThreadTerms(Struct, frozen=True):
    """The sums of one thread after a step. ``elements`` (n,): its elements of C; ``rows`` and ``columns``: their rows and
    columns of C, ascending; ``k``: of the latest factors read, -1 before any; ``has_a`` (rows,) and ``has_b`` (columns,): which
    factors with this k are read, ``steps_a`` and ``steps_b``: at which steps; ``owned`` (rows, columns): which elements of that
    part of C are its own; ``done`` (n,): number of terms of each element whose factors are read; ``length``: K.
    """

    elements: Longs
    rows: Longs
    columns: Longs
    k: int
    has_a: Bools
    has_b: Bools
    steps_a: Longs
    steps_b: Longs
    owned: Bools
    done: Longs
    length: int


def size_of(trace: Trace, scope: Scope) -> int:
    """Estimated work of ``terms_of``: entries of the record that it processes, with a surcharge for stores, which it processes
    one by one.
    """
    reads = sum(len(touches.rows) for touches in trace.touches if touches.operand.access == "read")
    return reads * int(scope.of_block.stop - scope.of_block.start) + len(trace.origin_step) * _PER_STORE


def terms_of(trace: Trace, owners: Owners, scope: Scope) -> Terms | None:
    """The sums of the block of a scope; None if they take too much memory, or if the trace is not of a multiplication.

    Raises Cancelled.
    """
    names = {array.name: number for number, array in enumerate(trace.arrays) if array.space == "global"}
    elements, threads = owners.of(scope.of_block)
    if not trace.is_multiply or owners.array is None or not len(elements):
        return None
    depth = trace.setup.problem.K
    rows, columns = (np.asarray(each, np.int64) for each in owners.array.row_column(elements))
    tables = []
    for name, own in (("A", rows), ("B", columns)):
        pairs, which = _distinct_pairs(np.asarray(threads, np.int64) // _holder_size(trace), own)
        if len(pairs) * depth > _MOST_CELLS:
            return None
        steps = _first_reads(trace, scope, names[name], pairs, depth, name == "A")
        tables.append(_distinct_rows(steps, which))
    (reads_a, kind_a), (reads_b, kind_b) = tables
    pairs, kind = _distinct_pairs(kind_a, kind_b)
    a, b = reads_a[pairs[:, 0]], reads_b[pairs[:, 1]]
    return Terms(elements, threads, kind, np.maximum(a, b), a, b)


class OwnTerms(Struct, frozen=True):
    """The sums of one thread over all steps. ``row_of`` and ``column_of`` (n,): the places of its elements' rows and columns
    among ``rows`` and ``columns``; ``reads`` (2, n, K): the steps at which the factors of A and B are read; ``steps`` (n, K):
    at which both are.
    """

    elements: Longs
    rows: Longs
    columns: Longs
    row_of: Longs
    column_of: Longs
    reads: Ints
    steps: Ints
    owned: Bools

    def after(self, step: int) -> ThreadTerms:
        """The sums after a step, -1 for before the first."""
        past = np.where(self.reads <= step, self.reads, -1)
        latest = past.max(axis=(0, 1))
        k = int(latest.argmax()) if latest.max(initial=-1) >= 0 else -1
        steps_a, steps_b = np.full(len(self.rows), -1, np.int64), np.full(len(self.columns), -1, np.int64)
        if k >= 0:
            steps_a[self.row_of], steps_b[self.column_of] = past[0, :, k], past[1, :, k]
        done = np.count_nonzero(self.steps <= step, axis=1).astype(np.int64)
        return ThreadTerms(
            self.elements, self.rows, self.columns, k, steps_a >= 0, steps_b >= 0, steps_a, steps_b, self.owned, done,
            self.steps.shape[1],
        )  # fmt: skip


def of_thread(terms: Terms, owners: Owners, thread: int) -> OwnTerms | None:
    """The sums of one thread, by its number in the block; None if it stores nothing of C."""
    own = np.flatnonzero(terms.threads == thread)
    if not len(own) or owners.array is None:
        return None
    elements, kinds = terms.elements[own], terms.kind[own]
    row, column = (np.asarray(each, np.int64) for each in owners.array.row_column(elements))
    rows, row_of = np.unique(row, return_inverse=True)
    columns, column_of = np.unique(column, return_inverse=True)
    owned = np.zeros((len(rows), len(columns)), bool)
    owned[row_of, column_of] = True
    reads = np.stack([terms.reads_a[kinds], terms.reads_b[kinds]])
    return OwnTerms(elements, rows, columns, row_of, column_of, reads, terms.steps[kinds], owned)


def _distinct_pairs(first: Longs, second: Longs) -> tuple[Longs, Longs]:
    """The distinct pairs of two columns, ascending (pairs, 2), and the index of each row's pair."""
    extent = int(second.max()) + 1
    distinct, which = np.unique(first * extent + second, return_inverse=True)
    return np.stack(np.divmod(distinct, extent), axis=1), which.ravel().astype(np.int64)


def _distinct_rows(table: Ints, which: Longs) -> tuple[Ints, Longs]:
    """The distinct rows of a table, and for each of ``which`` the index of its row among them."""
    known: dict[bytes, int] = {}
    number = np.array([known.setdefault(row.tobytes(), len(known)) for row in table], np.int64)
    _, first = np.unique(number, return_index=True)
    return table[first], number[which]


def _first_reads(trace: Trace, scope: Scope, matrix: int, pairs: Longs, depth: int, is_row: bool) -> Ints:
    """The first step that reads the factor, for each (thread, row of A) or (thread, column of B) and each k: (pairs, K)."""
    table = np.full((len(pairs), depth), _LATE, np.int32)
    extent = int(pairs[:, 1].max()) + 1
    keys = pairs[:, 0] * extent + pairs[:, 1]
    array, holder = trace.arrays[matrix], _holder_size(trace)

    def note(step: Longs, thread: Longs, element: Longs) -> None:
        """Adds reads, earliest first."""
        row, column = (np.asarray(each, np.int64) for each in array.row_column(element))
        own, k = (row, column) if is_row else (column, row)
        key = thread // holder * extent + own
        at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        known = (keys[at] == key) & (own < extent) & (k < depth)
        flat = (at * depth + k)[known][::-1]
        earlier = table.reshape(-1)[flat]
        table.reshape(-1)[flat] = np.minimum(earlier, step[known][::-1])

    if (trace.origin_array[:, scope.of_block] == matrix).any():
        _through_tiles(trace, scope, matrix, note)
    else:
        for touches in trace.touches_of(matrix, "read"):
            for step, thread, touched in _active_accesses(trace, scope, touches.steps, touches.rows):
                for offset in trace.offsets(touches.operand, thread + scope.of_block.start):
                    note(step, thread, touched + offset)
    return table


def _holder_size(trace: Trace) -> int:
    """The number of threads whose reads count for each other: those of a warp if warps multiply matrices, else 1."""
    return trace.rules.warp_size if any(site.kind == "product" for site in trace.sites) else 1


def _active_accesses(trace: Trace, scope: Scope, steps: Longs, rows: Longs) -> Iterator[tuple[Longs, Longs, Longs]]:
    """Steps, threads of the block and elements of all active threads in some steps, earliest first."""
    at_once = max(1, _TERMS_AT_ONCE // (scope.of_block.stop - scope.of_block.start))
    for start in range(0, len(steps), at_once):
        checkpoint()
        touched = trace.element[rows[start : start + at_once], scope.of_block]
        at, thread = np.nonzero(touched >= 0)
        yield steps[start + at], thread, touched[at, thread].astype(np.int64)


def _through_tiles(trace: Trace, scope: Scope, matrix: int, note) -> None:  # type: ignore[no-untyped-def]
    """Adds reads of copies of a matrix, between stores into the shared arrays."""
    for number, array in enumerate(trace.arrays):
        if array.space != "shared":
            continue
        written = [number in (operand.array for operand in site.accesses("write")) for site in trace.sites]
        stores = np.flatnonzero(np.array(written)[trace.site[trace.origin_step]]).tolist()
        if not stores:
            continue
        held_array, held = np.full(array.size, EMPTY, np.int8), np.zeros(array.size, np.int64)
        reads = trace.touches_of(number, "read")
        ends = [*(int(trace.origin_step[at]) for at in stores[1:]), trace.steps]
        for at, (begin, end) in zip(stores, pairwise([int(trace.origin_step[stores[0]]), *ends]), strict=True):
            checkpoint()
            _apply_store(trace, scope, at, held_array, held)
            for touches in reads:
                some = slice(*np.searchsorted(touches.steps, [begin, end]))
                for step, thread, touched in _active_accesses(trace, scope, touches.steps[some], touches.rows[some]):
                    for offset in trace.offsets(touches.operand, thread + scope.of_block.start):
                        cell = touched + offset
                        is_copy = held_array[cell] == matrix
                        note(step[is_copy], thread[is_copy], held[cell[is_copy]])


def _apply_store(trace: Trace, scope: Scope, at: int, held_array: npt.NDArray[np.int8], held: Longs) -> None:
    """Updates the contents of a shared array after a store into it."""
    record, operand, component = stored_at(trace, at)
    cells = trace.element[record, scope.of_block]
    active = cells >= 0
    lanes = trace.lane[scope.of_block][active]
    where = cells[active] + operand.layout.offset(component, lanes)
    held_array[where] = trace.origin_array[at, scope.of_block][active]
    held[where] = trace.origin[at, scope.of_block][active]
