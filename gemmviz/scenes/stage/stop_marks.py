"""Marks where a run ended early: the elements of the invalid access, inside or outside their array."""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Longs
from gemmviz.scenes.kit.primitives import Anchor, Labels, Primitive, Rects, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.layout import Plan, tile_grids

_LEAST_SIDE, _NAME = 10.0, 22.0
_OUTSIDE, _AIR = 26.0, 4.0  # largest size of an element outside its array, and its distance from the edge


def stop_marks(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw frames around the elements that ended the run, at its last step."""
    stop = moment.trace.stop
    if stop is None or stop.array < 0 or moment.step != moment.replay.steps - 1:
        return []
    array = moment.trace.arrays[stop.array]
    elements = np.array(stop.elements)
    if array.space == "global":
        table = plan.matrices[array.name]
        rows, columns = array.row_column(elements)
    elif stop.array in tile_grids(moment, plan):
        table = tile_grids(moment, plan)[stop.array]
        rows, columns = np.divmod(elements, table.columns)
    else:
        return []
    boxes = _boxes(table, rows, columns)
    x, y, side, _ = boxes[0]
    inside = 0 <= stop.elements[0] < array.size
    over = (table.y if array.space == "shared" else y) - 8  # above a tile: below it are the numbers of A
    is_tile = array.space == "shared"
    written = array.subscripted(stop.elements[0])
    end = float((boxes[:, 0] + boxes[:, 2]).max()) + 8
    has_room = (
        is_tile or end + text_width(written, _NAME, "semibold") < table.x + table.box[2]
    )  # beyond a matrix are the numbers of rows
    beside = end if has_room else float(boxes[:, 0].min()) - 8, y + side - 6
    at = points((table.x if is_tile else x + side / 2, over) if inside else beside)
    anchor: Anchor = "middle" if inside and not is_tile else "start" if has_room else "end"
    name = Labels("stop-name", at, (written,), _NAME, theme.warning, anchor, "semibold")
    return [Rects("stop", boxes, None, theme.warning, 5.0), name]


def _boxes(table: CellGrid, rows: Longs, columns: Longs) -> npt.NDArray[np.float64]:
    """Return the cells (x, y, width, height); those outside the table just beyond its edge."""
    x, y, width, height = table.box
    side = np.full(len(rows), max(_LEAST_SIDE, table.cell))
    side[~table.holds(rows, columns)] = min(max(_LEAST_SIDE, table.cell), _OUTSIDE)
    far = side / 2 + _AIR
    middle = table.middle(rows, columns)
    middle = np.clip(middle, np.stack([x - far, y - far], axis=1), np.stack([x + width + far, y + height + far], axis=1))
    return np.column_stack([middle - side[:, None] / 2, side, side])
