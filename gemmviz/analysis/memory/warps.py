"""Threads split into warps, and warps into the lanes that one request serves.

Threads of a block in the order x + y*Dx + z*Dx*Dy, 32 at a time, the last warp padded. Source: CUDA C++ Programming Guide, SIMT
Architecture; confirmed by Nsight Compute's request counts.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.device import MemoryRules
from gemmviz.model.threads import ThreadSpace
from gemmviz.model.trace import INACTIVE

Rows = npt.NDArray[np.int64]
PerRow = npt.NDArray[np.int64]
_THREADS_AT_ONCE = 1 << 19


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


def request_rows(elements: npt.NDArray[Any], rules: MemoryRules) -> Rows:
    """Elements (blocks, threads), -1 inactive, as one row per request: int64 (requests, request_lanes)."""
    return warp_rows(elements, rules.warp_size).reshape(-1, rules.request_lanes)


def access_rows(space: ThreadSpace, rules: MemoryRules, elements: npt.NDArray[Any]) -> Iterator[Rows]:
    """Elements over a thread space's axes, -1 inactive, as rows of requests, some blocks at a time. Blocks along which the
    array doesn't vary are represented by one.
    """
    outer = elements.shape[: len(space.block_shape)]
    varied = int(np.prod(outer, dtype=np.int64))
    most = max(1, _THREADS_AT_ONCE * outer[0] // (varied * space.threads_per_block)) if outer else 1
    for start in range(0, outer[0] if outer else 1, most):
        part = elements[start : start + most] if outer else elements
        yield request_rows(space.per_block(part), rules)


def lanes_of(rows: Rows, rules: MemoryRules) -> npt.NDArray[np.int64]:
    """The lane in its warp of each entry of some requests (rows, lanes), which begin with the first of a warp."""
    return np.arange(rows.size).reshape(rows.shape) % rules.warp_size


def moved_by_lane(rows: Rows, offsets: Rows, rules: MemoryRules) -> Rows:
    """Elements (rows, lanes), -1 inactive, plus the offsets of their lanes. ``offsets`` (n,) repeat every n lanes."""
    if not offsets.any():
        return rows
    return np.where(rows >= 0, rows + offsets[lanes_of(rows, rules) % len(offsets)], INACTIVE)


def distinct_per_row(keys: Rows, active: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Number of distinct keys of the active lanes of each row: int64 (rows,)."""
    if active.all():
        steps = np.diff(keys, axis=1)
        if (steps < 0).any():
            steps = np.diff(np.sort(keys, axis=1), axis=1)
        return np.asarray(1 + np.count_nonzero(steps, axis=1), np.int64)
    ordered = np.sort(np.where(active, keys, np.iinfo(np.int64).max), axis=1)
    changes = np.count_nonzero(np.diff(ordered, axis=1), axis=1)
    return np.asarray(np.where(active.any(axis=1), 1 + changes - ~active.all(axis=1), 0), np.int64)
