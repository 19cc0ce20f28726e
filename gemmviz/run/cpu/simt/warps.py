"""Values of threads by warps and lanes, and back."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.layouts import LANES
from gemmviz.model.threads import ThreadSpace


def outer_of(space: ThreadSpace, *values: Any) -> tuple[int, ...]:
    """The block axes of all values together."""
    blocks = len(space.block_shape)
    shapes = [np.shape(each)[:blocks] for each in values if each is not None and np.ndim(each)]
    return np.broadcast_shapes((1,) * blocks, *shapes)


def over_warps(value: Any, outer: tuple[int, ...], space: ThreadSpace) -> npt.NDArray[Any]:
    """A value as (blocks, warps, lanes), zero in lanes that don't exist."""
    rows = np.broadcast_to(np.asarray(value), outer + space.thread_shape).reshape(-1, space.threads_per_block)
    missing = -space.threads_per_block % LANES
    if missing:
        rows = np.pad(rows, ((0, 0), (0, missing)))
    return np.asarray(rows.reshape(len(rows), -1, LANES))


def over_threads(found: npt.NDArray[Any], outer: tuple[int, ...], space: ThreadSpace) -> npt.NDArray[Any]:
    """Values (blocks, warps, lanes) over the axes of the threads."""
    rows = found.reshape(len(found), -1)[:, : space.threads_per_block]
    return np.asarray(rows.reshape(outer + space.thread_shape))
