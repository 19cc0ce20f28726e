"""How often each element of a matrix is read or written: the reuse map."""

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import SiteKind, Trace


def accesses_per_element(trace: Trace, array: int, kind: SiteKind = "load", stop: int | None = None) -> npt.NDArray[np.int64]:
    """Accesses of every element of one array by the traced lanes in the steps before ``stop``: (rows, columns), int64.

    Shared arrays are summed over blocks.
    """
    info = trace.arrays[array]
    counts = np.zeros(info.size, np.int64)
    wanted = [number for number, site in enumerate(trace.sites) if site.array == array and site.kind == kind]
    for number in wanted:
        steps = np.flatnonzero(trace.site[:stop] == number)
        for step in steps:
            touched = trace.element[step]
            touched = touched[touched >= 0]
            for component in range(trace.sites[number].width):
                counts += np.bincount(touched + component, minlength=info.size)
    if info.column_major:
        return counts.reshape(info.shape[::-1]).T
    return counts.reshape(-1, info.shape[-1])
