"""What the first blocks of a launch need: the different elements of each matrix that they read together."""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Trace


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
