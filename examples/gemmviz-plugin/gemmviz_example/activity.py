"""The number of active lanes in each warp at a step of a trace."""

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import Trace


def active_lanes(trace: Trace, step: int, threads: slice) -> npt.NDArray[np.int64]:
    """Active lanes of each warp: int64 (warps,). ``threads``: the columns of a block in the trace."""
    active = trace.element[trace.row[step], threads] >= 0
    missing = -len(active) % trace.rules.warp_size  # lanes that the last warp doesn't have
    warps = np.append(active, np.zeros(missing, bool)).reshape(-1, trace.rules.warp_size)
    return warps.sum(axis=1, dtype=np.int64)
