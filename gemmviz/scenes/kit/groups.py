"""Threads by colour: by their warp within the block, by their lane within the warp, or by their block."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.frame import Layer
from gemmviz.scenes.kit.theme import WARP_ACCENTS, Theme

GROUPED: tuple[Layer, ...] = ("warp", "lane", "block")
COLOURS = len(WARP_ACCENTS)
_ROW_OF_BLOCKS = 3  # colours from one row of blocks to the next: neighbours differ


def group_accents(layer: Layer, theme: Theme) -> tuple[str, ...]:
    """The colours of the groups of a layer: of lanes from the first to the last, else each as different as can be."""
    return theme.lanes if layer == "lane" else theme.warps


def group_colours(trace: Trace, threads: npt.NDArray[Any], layer: Layer) -> npt.NDArray[np.int64]:
    """For each thread of the trace the entry of ``group_accents`` that it has."""
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
    """Colours, and for each thread of the trace the one that it has: its group's, or ``alone`` where a layer has no groups."""
    if layer not in GROUPED:
        return (alone,), np.zeros(len(threads), np.uint8)
    return group_accents(layer, theme), group_colours(trace, threads, layer).astype(np.uint8)


def group_numbers(trace: Trace, threads: npt.NDArray[Any], layer: Layer) -> npt.NDArray[np.int64]:
    """For each thread of the trace a number that its whole group has, and no other."""
    space, size = trace.space, trace.rules.warp_size
    if layer == "block":
        return np.asarray(threads // space.threads_per_block, np.int64)
    within = threads % space.threads_per_block
    return np.asarray(within % size if layer == "lane" else within // size, np.int64)
