"""Elements on their way between memories, as small squares in the colour of their matrix."""

from math import ceil

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment, TouchedOperand

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
