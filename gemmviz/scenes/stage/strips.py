"""Runs of cells as boxes: what the lanes of a warp move side by side is one strip instead of many chips."""

from math import ceil

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.model.arrays import Bools, Floats, Longs

_NEAR = 0.02  # of a cell: how far a neighbour may be from its place
_AFAR, _SAME, _ACROSS, _DOWN = range(4)


def boxes_around(middle: Floats, side: float) -> Floats:
    """Return a square box (n, 4) around each centre."""
    return np.hstack([middle - side / 2, np.full((len(middle), 2), side)])


def runs(places: tuple[tuple[Floats, float], ...], group: Longs) -> Longs:
    """Return for each of the things in order the number of its run, from 0.

    A run stays within a group and goes in one direction in each of ``places`` (centres (n, 2), side of a cell): neighbours lie
    at the same place, or one cell to the right or below.
    """
    if not len(group):
        return np.zeros(0, np.int64)
    steps = [_steps(middle, cell) for middle, cell in places]
    joined = np.asarray(np.diff(group) == 0)
    for each in steps:
        joined &= each != _AFAR
    starts = ~joined
    starts[1:] |= joined[:-1] & _turns(steps)
    return np.concatenate([[0], np.cumsum(starts)])


def _steps(middle: Floats, cell: float) -> Longs:
    """Return how each thing lies beside the one before: (n - 1,)."""
    (x, y), near = np.diff(middle, axis=0).T / cell, _NEAR
    level, upright = np.abs(y) < near, np.abs(x) < near
    kinds = np.where(level & upright, _SAME, _AFAR)
    kinds[level & (np.abs(x - 1) < near)] = _ACROSS
    kinds[upright & (np.abs(y - 1) < near)] = _DOWN
    return kinds


def _turns(steps: list[Longs]) -> Bools:
    turned = np.zeros(max(0, len(steps[0]) - 1), bool)
    for each in steps:
        turned |= each[1:] != each[:-1]
    return turned


def boxes_of_runs(boxes: Floats, run: Longs) -> Floats:
    """Return the box (runs, 4) around the boxes of each run."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(run)) + 1])
    low = np.minimum.reduceat(boxes[:, :2], first)
    high = np.maximum.reduceat(boxes[:, :2] + boxes[:, 2:], first)
    return np.hstack([low, high - low])


# Elements on their way between memories, as small squares in the colour of their matrix.

WIDE, HIGH = 150.0, 44.0  # the most that the elements of one access take
_CHIP = 20.0


def chips(count: int, x: float, y: float, wide: float = WIDE, high: float = HIGH) -> npt.NDArray[np.float64]:
    """Return ``count`` squares as rows around a point: x, y, width, height."""
    columns = min(count, max(1, ceil((count * wide / high) ** 0.5)))
    rows = -(-count // columns)
    side = min(_CHIP, wide / columns, high / rows)
    number = np.arange(count)
    left, top = x - columns * side / 2, y - rows * side / 2
    inner = np.full(count, 0.86 * side)
    return np.column_stack([left + number % columns * side, top + number // columns * side, inner, inner])


def stored_matrix(moment: Moment, touched: TouchedOperand) -> str:
    """Return the matrix that the touched elements are of; for shared memory, that of what is stored there, "" if unknown."""
    content = moment.tiles.get(touched.operand.array)
    if content is None:
        return touched.array.name
    numbers = {number for number in content.array[touched.cells].tolist() if number >= 0}
    return moment.trace.arrays[numbers.pop()].name if len(numbers) == 1 else ""
