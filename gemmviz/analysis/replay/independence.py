"""What threads have to do with each other: which of them do any work, and which elements they exchange in global memory."""

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Longs
from gemmviz.model.trace import Touches, Trace


def threads_at_work(trace: Trace) -> npt.NDArray[np.bool_]:
    """Return which traced threads take part in any step: bool (threads,). The others returned before their first access."""
    return np.asarray((trace.element >= 0).any(axis=0)) if len(trace.element) else np.zeros(trace.space.thread_count, bool)


def exchanged_elements(trace: Trace) -> int:
    """Return the number of elements of global memory that one thread writes and another thread reads or writes."""
    numbers = [number for number, array in enumerate(trace.arrays) if array.space == "global"]
    return sum(_exchanged(trace, number) for number in numbers if trace.touches_of(number, "write"))


def _exchanged(trace: Trace, number: int) -> int:
    written = _pairs(trace, trace.touches_of(number, "write"))
    both = np.unique(np.concatenate([written, _pairs(trace, trace.touches_of(number, "read"))]), axis=0)
    elements, threads = np.unique(both[:, 0], return_counts=True)
    return int(np.isin(elements[threads > 1], written[:, 0]).sum())


def _pairs(trace: Trace, touches: tuple[Touches, ...]) -> Longs:
    """Return each element and thread of some accesses once: (n, 2)."""
    found = [np.zeros((0, 2), np.int64)]
    for each in touches:
        for row in each.rows.tolist():
            touched = trace.element[row]
            threads = np.repeat(np.flatnonzero(touched >= 0), each.operand.width)
            found.append(np.stack([trace.spread(each.operand, touched, slice(None)), threads], axis=1))
    return np.unique(np.concatenate(found), axis=0)
