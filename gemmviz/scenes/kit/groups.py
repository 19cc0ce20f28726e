"""Colours of threads: by warp within the block, by lane within the warp, or by block."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.frame import Layer
from gemmviz.scenes.kit.theme import WARP_ACCENTS, Theme

GROUPED: tuple[Layer, ...] = ("warp", "lane", "block")
COLOURS = len(WARP_ACCENTS)
_ROW_OF_BLOCKS = 3  # offset of the colours between rows of blocks, so that neighbours differ


def group_accents(layer: Layer, theme: Theme) -> tuple[str, ...]:
    """Return the colours of the groups of a layer: in order for lanes, as different as possible for other layers."""
    return theme.lanes if layer == "lane" else theme.warps


def group_colours(trace: Trace, threads: npt.NDArray[Any], layer: Layer) -> npt.NDArray[np.int64]:
    """Return the index into ``group_accents`` of each thread of the trace."""
    space, size = trace.space, trace.rules.warp_size
    within = threads % space.threads_per_block
    if layer == "lane":
        return np.asarray(within % size * COLOURS // size, np.int64)
    if layer == "block":
        block = threads // space.threads_per_block
        across = trace.blocks.extents[0]
        return np.asarray((block % across + block // across * _ROW_OF_BLOCKS) % COLOURS, np.int64)
    return np.asarray(within // size % COLOURS, np.int64)


def thread_colours(
    trace: Trace, threads: npt.NDArray[Any], layer: Layer, theme: Theme, alone: str
) -> tuple[tuple[str, ...], npt.NDArray[np.uint8]]:
    """Return colours, and the index of the colour of each thread of the trace; ``alone`` if a layer has no groups."""
    if layer not in GROUPED:
        return (alone,), np.zeros(len(threads), np.uint8)
    return group_accents(layer, theme), group_colours(trace, threads, layer).astype(np.uint8)


def group_numbers(trace: Trace, threads: npt.NDArray[Any], layer: Layer) -> npt.NDArray[np.int64]:
    """Return a number for each thread of the trace that is equal within a group and different between groups."""
    space, size = trace.space, trace.rules.warp_size
    if layer == "block":
        return np.asarray(threads // space.threads_per_block, np.int64)
    within = threads % space.threads_per_block
    return np.asarray(within % size if layer == "lane" else within // size, np.int64)
