"""What single threads hold in registers during a multiplication: the factors that they read last, and their sum so far."""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.terms import Terms
from gemmviz.model.arrays import Longs
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


def threads_at_work(trace: Trace) -> npt.NDArray[np.bool_]:
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
