"""The sectors that the requests of a step move, outlined over the cells of the matrices.

Elements that lanes request are filled by the matrix itself. Elements that are moved without being requested are hatched red if
their request could do with fewer sectors.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.moved_sectors import MovedSectors, moved_sectors
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.hatching import hatching
from gemmviz.scenes.kit.primitives import Primitive, Rects
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.strips import boxes_of_runs, runs

_LEAST_OUTLINED, _LEAST_HATCHED = 3.0, 6.0  # pixels of a cell
_LEAST_SINGLE = 26.0  # units: width of a cell that is drawn by itself
_MOST_SECTORS = 4096
_WASTED = 0.3  # share of red in the cells that come along


def sector_primitives(moment: Moment, matrices: Mapping[str, CellGrid], options: ViewOptions) -> list[Primitive]:
    """Outline the sectors that the watched warps' requests move at this step; of one thread, those of its warp."""
    primitives: list[Primitive] = []
    for touched in moment.touched:
        table = matrices.get(touched.array.name)
        if touched.array.space == "global" and table is not None and table.cell * options.pixels >= _LEAST_OUTLINED:
            moved = step_sectors(moment, touched)
            if 0 < len(moved.numbers) <= _MOST_SECTORS:
                primitives += outlined(touched.array, moved, table, options)
    return primitives


def step_sectors(moment: Moment, touched: TouchedOperand) -> MovedSectors:
    """Return the sectors that all requests of the watched warps move for an operand in global memory."""

    def make() -> MovedSectors:
        rows = moment.replay.rows_of_warps(moment.trace.element[touched.row : touched.row + 1], moment.scope)
        return moved_sectors(rows, touched.operand, touched.array, moment.trace.rules)

    return moment.cached(("sectors", touched.row), make)


def outlined(array: MemoryArray, moved: MovedSectors, table: CellGrid, options: ViewOptions) -> list[Primitive]:
    """Outline sectors over the cells of a matrix, and hatch the elements that come along without need."""
    theme, name = options.theme, array.name
    outlines, wasteful = sector_boxes(array, moved, table)
    along = moved.elements[~moved.is_asked & moved.is_wasteful[:, None]]
    cells = element_boxes(array, along, table)
    primitives = wasted_cells(f"{name}-sectors-wasted", cells, theme, is_hatched=table.cell * options.pixels >= _LEAST_HATCHED)
    width = max(1.5, min(3.0, 0.08 * table.cell))
    for key, chosen, colour in (
        (f"{name}-sectors", ~wasteful, theme.accent(name)), (f"{name}-wasteful-sectors", wasteful, theme.warning),
    ):  # fmt: skip
        if chosen.any():
            primitives.append(Rects(key, outlines[chosen], None, colour, width))
    return primitives


def wasted_cells(key: str, boxes: Floats, theme: Theme, is_hatched: bool = True, apart: float = 0.0) -> list[Primitive]:
    """Draw cells (n, 4) whose bytes are moved without being requested; small ones side by side, ``apart``, as one box."""
    if not len(boxes):
        return []
    if boxes[0, 2] < _LEAST_SINGLE:
        boxes = boxes_of_runs(boxes, runs(((boxes[:, :2], float(boxes[0, 2] + apart)),), np.zeros(len(boxes), np.int64)))
    inset = np.minimum(1.0, 0.04 * boxes[:, 2:].min(axis=1, keepdims=True))
    inner = np.hstack([boxes[:, :2] + inset, boxes[:, 2:] - 2 * inset])
    filled = Rects(key, inner, mixed(theme.background, theme.warning, _WASTED))
    return [filled, hatching(f"{key}-hatching", inner, theme.warning)] if is_hatched else [filled]


def element_boxes(array: MemoryArray, elements: Longs, table: CellGrid) -> Floats:
    """Return the boxes (n, 4) of the visible ones of some elements; those behind the end of the array are left out."""
    row, column = array.row_column(elements[elements < array.size])
    seen = table.holds(row, column)
    corners = table.middle(row[seen], column[seen]) - table.cell / 2
    return np.hstack([corners, np.full((len(corners), 2), table.cell)])


def sector_boxes(array: MemoryArray, moved: MovedSectors, table: CellGrid) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the boxes (n, 4) of the visible parts of sectors, and which of them belong to wasteful ones.

    A sector lies along a row, of a column-major matrix along a column; it has two boxes if it continues in the next one.
    """
    elements = moved.elements
    sector = np.repeat(np.arange(len(elements)), elements.shape[1])
    inside = elements.ravel() < array.size
    row, column = array.row_column(elements.ravel()[inside])
    seen = table.holds(row, column)
    row, column, sector = row[seen], column[seen], sector[inside][seen]
    if not len(row):
        return np.zeros((0, 4)), np.zeros(0, bool)
    line = column if array.column_major else row
    is_first = np.ones(len(line), bool)
    is_first[1:] = (np.diff(line) != 0) | (np.diff(sector) != 0)
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(line)) - 1
    start, end = table.middle(row[first], column[first]), table.middle(row[last], column[last])
    corners = start - table.cell / 2
    return np.hstack([corners, end + table.cell / 2 - corners]), moved.is_wasteful[sector[first]]
