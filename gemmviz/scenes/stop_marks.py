"""Where a run came to its end: the elements that a thread should not have asked for, outside their array or inside it."""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.moment import Moment
from gemmviz.scenes.layout import CellGrid, Cross, matrix_grid, tile_grids
from gemmviz.scenes.primitives import Anchor, Labels, Primitive, Rects, points
from gemmviz.scenes.theme import Theme

Longs = npt.NDArray[np.int64]
_LEAST_SIDE = 10.0
_FARTHEST = 1.6  # cells from the edge: how far out an element beyond its array is drawn


def stop_marks(moment: Moment, cross: Cross, theme: Theme) -> list[Primitive]:
    """Frames around the elements that ended the run, at its last step."""
    stop = moment.trace.stop
    if stop is None or stop.array < 0 or moment.step != moment.replay.steps - 1:
        return []
    array = moment.trace.arrays[stop.array]
    elements = np.array(stop.elements)
    if array.space == "global":
        table = matrix_grid(array, cross)
        rows, columns = array.row_column(elements)
    else:
        table = tile_grids(moment.trace.arrays, cross.corner)[stop.array]
        rows, columns = np.divmod(elements, table.columns)
    boxes = _boxes(table, rows, columns)
    x, y, side, _ = boxes[0]
    inside = 0 <= stop.elements[0] < array.size
    at = points((x + side / 2, y - 8) if inside else (x + side + 8, y + side - 6))
    anchor: Anchor = "middle" if inside else "start"
    written = array.subscripted(stop.elements[0])
    name = Labels("stop-name", at, (written,), 22.0, theme.warning, anchor, "semibold")
    return [Rects("stop", boxes, None, theme.warning, 5.0), name]


def _boxes(table: CellGrid, rows: Longs, columns: Longs) -> npt.NDArray[np.float64]:
    """Cells (x, y, width, height); those beyond the table just outside its edge."""
    side = max(_LEAST_SIDE, table.cell)
    far = _FARTHEST * side / table.cell
    row = np.clip(rows, -far, table.rows - 1 + far)
    column = np.clip(columns, -far, table.columns - 1 + far)
    middle = table.middle(row, column)
    return np.column_stack([middle - side / 2, np.full((len(middle), 2), side)])
