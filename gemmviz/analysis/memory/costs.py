"""Costs of requests: sectors and wavefronts, from the elements that the lanes touch."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.banks import lane_words, wavefronts
from gemmviz.analysis.memory.coalescing import requests
from gemmviz.analysis.memory.warps import Rows, moved_by_lane
from gemmviz.model.device import MemoryRules
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.sites import MemoryArray, Operand

CostSums = npt.NDArray[np.int64]  # sums in the order of COST_COLUMNS
Passes = Callable[[Rows, int, bool, MemoryRules], tuple[CostSums, CostSums]]  # as ``wavefronts``
_NARROW, _ELEMENTS_AT_ONCE = 16, 1 << 22  # elements


def cost_table(
    rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules, passes: Passes = wavefronts
) -> npt.NDArray[np.int64]:
    """Costs of each request: int64 (rows, columns), columns named by COST_COLUMNS. ``passes`` computes wavefronts."""
    layout, most = operand.layout, _most_rows(rows, operand.width, rules)
    if len(rows) > most:
        parts = range(0, len(rows), most)
        return np.concatenate([cost_table(rows[at : at + most], operand, array, rules, passes) for at in parts])
    lanes = np.count_nonzero(rows >= 0, axis=1)
    requested = lanes * (array.itemsize * layout.width)
    columns: dict[str, npt.NDArray[np.int64]] = {
        "requests": (lanes > 0).astype(np.int64),
        "lanes": lanes,
        "bytes_asked": requested,
    }
    if array.space == "global":
        moved = requests(rows, array.itemsize, rules, layout)
        columns |= {name: getattr(moved, name) for name in ("bytes_used", "sectors", "ideal_sectors", "lines")}
    else:
        columns["wavefronts"], columns["ideal_wavefronts"] = _banks(rows, operand, array, rules, passes)
    nothing = np.zeros(len(rows), np.int64)
    return np.stack([columns.get(name, nothing) for name in COST_COLUMNS], axis=1)


def _most_rows(rows: Rows, width: int, rules: MemoryRules) -> int:
    """Number of rows that are processed together: whole warps, and fewer for a wide access."""
    per_warp = rules.warp_size // rules.request_lanes
    return len(rows) if width <= _NARROW else max(1, _ELEMENTS_AT_ONCE // (width * rows.shape[1] * per_warp)) * per_warp


def _banks(rows: Rows, operand: Operand, array: MemoryArray, rules: MemoryRules, passes: Passes) -> tuple[CostSums, CostSums]:
    """Wavefronts of each request, and the fewest possible, summed over the runs of neighbours of its layout."""
    actual, ideal = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for run in operand.layout.runs:
        words, per_lane = lane_words(moved_by_lane(rows, run.first, rules), array.itemsize, rules, run.width)
        took, needed = passes(words, per_lane, operand.access == "read", rules)
        actual, ideal = actual + took, ideal + needed
    return actual, ideal
