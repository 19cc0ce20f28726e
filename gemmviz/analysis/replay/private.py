"""Values over a run: what single threads hold in registers during a multiplication, and the history of one element."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import Terms
from gemmviz.model.arrays import Bools, Longs
from gemmviz.model.messages import checkpoint
from gemmviz.model.trace import Touches, Trace


class ReadFactor(Struct, frozen=True):
    """The factor of A or B that a thread read last: the ``k`` of its product, the ``step`` of the read, and its ``value``, None
    if unknown.
    """

    matrix: str
    k: int
    step: int
    value: float | None


class PrivateValues(Struct, frozen=True):
    """The values of one thread of a block. ``row`` and ``column``: its element of C; ``a`` and ``b``: its latest factors, None
    before the first; ``terms``: products added so far; ``sum``: their sum, None if a value is unknown.
    """

    thread: int
    row: int
    column: int
    a: ReadFactor | None
    b: ReadFactor | None
    terms: int
    sum: float | None


def private_values(moment: Moment, thread: int, step: int) -> PrivateValues | None:
    """The values of a thread of the watched block after a step; None for a thread that stores not exactly one element."""
    terms, array = moment.terms, moment.replay.owners.array
    own = [] if terms is None else np.flatnonzero(terms.threads == thread).tolist()
    if terms is None or array is None or len(own) != 1:
        return None
    row, column = (int(each) for each in array.row_column(terms.elements[own[0]]))
    kind = int(terms.kind[own[0]])
    a, b = (_latest(moment, name, reads[kind], thread, step) for name, reads in (("A", terms.reads_a), ("B", terms.reads_b)))
    done = np.flatnonzero(terms.steps[kind] <= step)
    return PrivateValues(thread, row, column, a, b, len(done), _partial_sum(moment, terms, kind, thread, done))


def _latest(moment: Moment, matrix: str, reads: Longs, thread: int, step: int) -> ReadFactor | None:
    past = np.where(reads <= step, reads, -1)
    k = int(past.argmax())
    return None if past[k] < 0 else ReadFactor(matrix, k, int(past[k]), _value_read_at(moment, int(past[k]), thread))


def _partial_sum(moment: Moment, terms: Terms, kind: int, thread: int, done: Longs) -> float | None:
    """The sum of some products in float32, in the order of the run."""
    total = np.float32(0.0)
    for k in sorted(done.tolist(), key=lambda k: int(terms.steps[kind, k])):
        a, b = (_value_read_at(moment, int(reads[kind, k]), thread) for reads in (terms.reads_a, terms.reads_b))
        if a is None or b is None:
            return None
        total = np.float32(total + np.float32(a) * np.float32(b))
    return float(total)


def _value_read_at(moment: Moment, step: int, thread: int) -> float | None:
    """The value that a thread of the block read at a step that reads a single element; None if it is unknown."""
    value, column = moment.replay.value, moment.scope.of_block.start + thread
    operands = [(place, each) for place, each in enumerate(moment.trace.site_of(step).operands) if each.access == "read"]
    if value is None or len(operands) != 1 or operands[0][1].width != 1:
        return None
    return float(value[int(moment.trace.row[step]) + operands[0][0], column])


# What threads have to do with each other: which of them do any work, and which elements they exchange in global memory.


def threads_at_work(trace: Trace) -> Bools:
    """Return which traced threads take part in any step but branches: bool (threads,). The others returned before."""
    is_branch = np.array([site.kind == "branch" for site in trace.sites], bool)[trace.site]
    rows = np.repeat(~is_branch, np.diff(trace.row))
    element = trace.element if rows.all() else trace.element[rows]
    return np.asarray((element >= 0).any(axis=0)) if len(element) else np.zeros(trace.space.thread_count, bool)


def exchanged_elements(trace: Trace) -> int:
    """Return the number of elements of global memory that one thread writes and another thread reads or writes."""
    numbers = [number for number, array in enumerate(trace.arrays) if array.space == "global"]
    return sum(_exchanged_elements(trace, number) for number in numbers if trace.touches_of(number, "write"))


def _exchanged_elements(trace: Trace, number: int) -> int:
    written = _elements_and_threads(trace, trace.touches_of(number, "write"))
    both = np.unique(np.concatenate([written, _elements_and_threads(trace, trace.touches_of(number, "read"))]), axis=0)
    elements, threads = np.unique(both[:, 0], return_counts=True)
    return int(np.isin(elements[threads > 1], written[:, 0]).sum())


def _elements_and_threads(trace: Trace, touches: tuple[Touches, ...]) -> Longs:
    """Return each element and thread of some accesses once: (n, 2)."""
    found = [np.zeros((0, 2), np.int64)]
    for each in touches:
        for row in each.rows.tolist():
            touched = trace.element[row]
            threads = np.repeat(np.flatnonzero(touched >= 0), each.operand.width)
            found.append(np.stack([trace.spread(each.operand, touched, slice(None)), threads], axis=1))
    return np.unique(np.concatenate(found), axis=0)


# History of one element: the threads that access it, how often, and its value.


class ElementHistory(Struct, frozen=True):
    """Accesses to an element at a step. ``now``: the threads of the trace that access it at the step, ascending. ``loads`` and
    ``stores``: in the whole trace; ``loads_so_far`` up to the step, ``own_so_far`` of these by the chosen threads. ``value``:
    read or written by the latest access up to the step, ``value_step``; None if unknown.
    """

    now: tuple[int, ...]
    loads: int
    loads_so_far: int
    own_so_far: int
    stores: int
    value: float | None = None
    value_step: int | None = None


class _Touch(Struct, frozen=True):
    """A step that accesses the element: the threads, the row of the record, and whether the record contains the element
    itself.
    """

    step: int
    row: int
    loads: bool
    first: bool
    threads: Longs


def element_history(moment: Moment, array: int, element: int) -> ElementHistory:
    """History of an element of a matrix in all traced blocks, or of a shared array in the focus's block. Raises Cancelled."""
    trace, scope, step = moment.trace, moment.scope, moment.step
    is_shared = trace.arrays[array].space == "shared"
    touches = _element_touches(moment, array, element, scope.of_block if is_shared else slice(0, trace.space.thread_count))
    loads = [touch for touch in touches if touch.loads]
    own = scope.in_block if is_shared else scope.threads
    value = _latest_value(moment, array, touches)
    return ElementHistory(
        now=tuple(sorted({thread for touch in touches if touch.step == step for thread in touch.threads.tolist()})),
        loads=sum(len(touch.threads) for touch in loads),
        loads_so_far=sum(len(touch.threads) for touch in loads if touch.step <= step),
        own_so_far=sum(
            int(((touch.threads >= own.start) & (touch.threads < own.stop)).sum()) for touch in loads if touch.step <= step
        ),
        stores=sum(len(touch.threads) for touch in touches if not touch.loads),
        value=value[0] if value else None,
        value_step=value[1] if value else None,
    )


def _element_touches(moment: Moment, array: int, element: int, threads: slice) -> list[_Touch]:
    """All accesses to the element, in the order of the steps."""
    trace, history = moment.trace, []
    for touches in trace.touches_of(array):
        firsts = [element - offset for offset in trace.offsets(touches.operand, threads)]
        for place, row in enumerate(touches.rows.tolist()):
            checkpoint()
            touched = trace.element[row, threads]
            who = np.flatnonzero((touched >= 0) & np.logical_or.reduce([touched == first for first in firsts]))
            if len(who):
                is_first, loads = bool((touched == firsts[0])[who[-1]]), touches.operand.access == "read"
                history.append(_Touch(int(touches.steps[place]), row, loads, is_first, who + threads.start))
    return sorted(history, key=lambda touch: touch.row)


def _latest_value(moment: Moment, array: int, touches: list[_Touch]) -> tuple[float, int] | None:
    """Value and step of the latest access up to the step; for a matrix that is only read, also of a later one. The value of a
    wide access is known only for its first element.
    """
    value = moment.replay.value
    if value is None:
        return None
    before = [touch for touch in touches if touch.step <= moment.step]
    only_read = not moment.trace.touches_of(array, "write")
    chosen = before[-1] if before else touches[0] if touches and only_read else None
    if chosen is None or not chosen.first:
        return None
    return float(value[chosen.row, chosen.threads[-1]]), chosen.step
