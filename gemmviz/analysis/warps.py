"""Lanes cut into warps: threads of a block in the order x + y*Dx + z*Dx*Dy, 32 at a time, the last warp padded.

Source: CUDA C++ Programming Guide, SIMT Architecture; confirmed by Nsight Compute's request counts.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.lanes import LaneSpace
from gemmviz.model.trace import INACTIVE

Rows = npt.NDArray[np.int64]


def warp_rows(elements: npt.NDArray[Any], warp_size: int) -> Rows:
    """Elements (blocks, threads), -1 inactive, as one row per warp: int64 (blocks * warps, warp_size)."""
    blocks, threads = elements.shape
    padded = -(-threads // warp_size) * warp_size
    if padded != threads:
        rows = np.full((blocks, padded), INACTIVE, np.int64)
        rows[:, :threads] = elements
    else:
        rows = np.ascontiguousarray(elements, np.int64)
    return rows.reshape(-1, warp_size)


def access_rows(space: LaneSpace, offset: Any, mask: Any) -> tuple[Rows, int]:
    """One row per warp for the blocks that may differ, and how many blocks of the space each of them stands for."""
    values = np.asarray(offset)
    if mask is not None:
        values = np.where(mask, values, INACTIVE)
    if values.ndim == 0:
        values = values.reshape((1,) * len(space.shape))
    elements = space.per_block(values)
    return warp_rows(elements, space.warp_size), space.blocks // len(elements)


def distinct_per_row(keys: Rows, active: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """How many different keys the active lanes of each row hold: int64 (rows,)."""
    if active.all():
        steps = np.diff(keys, axis=1)
        if (steps < 0).any():
            steps = np.diff(np.sort(keys, axis=1), axis=1)
        return np.asarray(1 + np.count_nonzero(steps, axis=1), np.int64)
    ordered = np.sort(np.where(active, keys, np.iinfo(np.int64).max), axis=1)
    changes = np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    return np.asarray(np.where(active.any(axis=1), 1 + changes - ~active.all(axis=1), 0), np.int64)
