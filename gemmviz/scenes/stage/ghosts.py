"""Padding: what a tile holds as zero because it lies beyond the edge of its matrix, as hatched cells beyond that edge and in
the tile. Where a cell would lie follows from the neighbours in the tile that are copies.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.model.arrays import Longs
from gemmviz.model.trace import CONSTANT
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Lines, Primitive, Rects
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.layout import Plan, tile_grids

_OUTLINED = 9.0  # units: smallest cell with its own outline
_TINT, _HATCH = 0.34, 0.22  # of the matrix's colour in outlines and hatching
_Where = tuple[Longs, Longs]


def ghost_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the padding of this phase; nothing without any."""
    if plan.lanes is None:
        return []
    contents, grids = moment.tiles if options.arrived else moment.tiles_before, tile_grids(moment, plan)
    primitives: list[Primitive] = []
    for tile in plan.lanes.tiles:
        content = contents.get(tile.number)
        if content is None or not tile.side:
            continue
        cells = np.flatnonzero((content.array == CONSTANT) & (content.phase >= moment.phase))
        if not len(cells):
            continue
        primitives += _hatched(f"padding-{tile.number}", grids[tile.number], np.divmod(cells, tile.columns), tile.side, options)
        matrix, number = plan.matrices[tile.side], moment.trace.number_of(tile.side)
        outside = None if number is None else _outside(moment, number, content, cells, tile.columns)
        if outside is not None:
            primitives += _hatched(f"beyond-{tile.number}", matrix, _near(matrix, plan, tile.side, outside), tile.side, options)
    return primitives


def _outside(moment: Moment, number: int, content: TileContent, cells: Longs, columns: int) -> _Where | None:
    """Return the rows and columns, beyond the matrix, of the elements for which ``cells`` stand; None if they can't be told."""
    array = moment.trace.arrays[number]
    copies = np.flatnonzero((content.array == number) & (content.phase >= moment.phase))
    if not len(copies):
        return None
    rows, across = array.row_column(content.element[copies])
    place = _shift(np.divmod(copies, columns), (rows, across))
    if place is None:
        return None
    r, c = place(np.divmod(cells, columns))
    high, wide = array.extents
    beyond = (r >= high) | (c >= wide)
    return (r[beyond], c[beyond]) if beyond.any() else None


def _shift(at: _Where, elements: _Where) -> Callable[[_Where], _Where] | None:
    """Return what leads from cells of a tile to elements, if they lie in the same or the transposed order."""
    for first, second in ((0, 1), (1, 0)):
        down, across = elements[0] - at[first], elements[1] - at[second]
        if (down == down[0]).all() and (across == across[0]).all():
            by_row, by_column = int(down[0]), int(across[0])
            return lambda cells, a=first, b=second, r=by_row, c=by_column: (cells[a] + r, cells[b] + c)  # type: ignore[misc]
    return None


def _near(table: CellGrid, plan: Plan, side: str, place: _Where) -> _Where:
    """Return those of the places for which there is space beside the matrix."""
    rows, columns = place
    x, y = table.x + (columns + 1 - table.first[1]) * table.cell, table.y + (rows + 1 - table.first[0]) * table.cell
    c = plan.matrices["C"]
    right, low = (
        (c.x - 2, c.y + c.box[3] + plan.beyond[0] * c.cell)
        if side == "A"
        else (c.x + c.box[2] + plan.beyond[1] * c.cell, c.y - 2)
    )
    seen = (x <= right + 0.5) & (y <= low + 0.5)
    return rows[seen], columns[seen]


def _hatched(key: str, table: CellGrid, place: _Where, name: str, options: ViewOptions) -> list[Primitive]:
    """Hatch each cell, and draw its outline if there is space."""
    rows, columns = place
    if not len(rows):
        return []
    side, theme = table.cell, options.theme
    corner = table.middle(rows, columns) - side / 2
    hatch: Primitive = Lines(key, _strokes(corner, side), theme.tint(name, _HATCH + 0.1), max(1.0, 0.05 * side))
    if side < _OUTLINED:
        return [hatch]
    boxes = np.hstack([corner + 1.0, np.full((len(corner), 2), side - 2.0)])
    return [hatch, Rects(f"{key}-outline", boxes, None, theme.tint(name, _TINT), 1.0, min(3.0, 0.1 * side))]


def _strokes(corner: npt.NDArray[np.float64], side: float) -> npt.NDArray[np.float64]:
    """Return two diagonals in each cell, which leave its middle to a number."""
    ends = np.array([[0.1, 0.42, 0.42, 0.1], [0.58, 0.9, 0.9, 0.58]]) * side
    return (np.hstack([corner, corner])[:, None] + ends).reshape(-1, 4)
