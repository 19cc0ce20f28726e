"""The places of the shared arrays: copies of A in a lane above A, copies of B in a lane on the left of B, so that every copy
moves straight into its lane; arrays with other contents in what is left of the corner between the lanes.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.memory.costs import MovedSectors, moved_sectors
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import Range
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Primitive, Rects
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.stage.matrix import CellGrid
from gemmviz.scenes.stage.strips import boxes_of_runs, runs

LaneSide = Literal["A", "B", ""]
_LOOKED_AT = 8  # stores of each site whose origins are looked at
_MOST_BEYOND = 4  # rows or columns of padding beyond a matrix
_APART = 16.0  # between arrays that share a lane
_TITLE, _AIR = 40.0, 12.0  # height of the title of the corner, and distance from its edges


class LaneTile(Struct, frozen=True):
    """One shared array: its number, its rows and columns as drawn, and the matrix in whose lane it stands, "" for none."""

    number: int
    rows: int
    columns: int
    side: LaneSide


class Lanes(Struct, frozen=True):
    """The corner between A and B. ``corner``: its box; ``high``: the height of the lane above A, from the lower edge of the
    corner up; ``wide``: the width of the lane on the left of B; ``cells``: the side of a cell in each lane and elsewhere.
    """

    tiles: tuple[LaneTile, ...]
    corner: Box
    high: float
    wide: float
    cells: tuple[float, float, float]


def lane_tiles(replay: Replay) -> tuple[LaneTile, ...]:
    """Return all shared arrays of a run with their sides."""
    trace = replay.trace
    shared = [number for number, array in enumerate(trace.arrays) if array.space == "shared"]
    if not shared:
        return ()
    return replay.cached(
        "lane tiles", lambda: tuple(LaneTile(each, *shown_shape(trace.arrays[each]), _side(trace, each)) for each in shared)
    )


def lane_extents(tiles: Sequence[LaneTile]) -> tuple[int, int]:
    """Return the rows of all arrays in the lane above A, and the columns of all in the lane beside B."""
    return sum(each.rows for each in tiles if each.side == "A"), sum(each.columns for each in tiles if each.side == "B")


def corner_extents(tiles: Sequence[LaneTile], k: Range, whole: int) -> tuple[int, int]:
    """Return the rows and columns of cells that the corner needs besides its lanes: those of the visible ``k`` of ``whole``,
    and more for padding beyond them and for arrays that are longer, so that no two cover each other.
    """
    _, columns = lane_extents(tiles)
    seen, high = k[1] - k[0], max((each.rows for each in tiles if each.side == "B"), default=0)
    padding = -whole % high if high and k[1] == whole else 0
    return max(seen + padding, high), max([seen, *(each.columns - columns for each in tiles if each.side == "A")])


def padding_beyond(moment: Moment, tiles: Sequence[LaneTile]) -> tuple[int, int]:
    """Return the rows below A and the columns on the right of B for which the watched block has threads but no elements."""
    if not tiles:
        return 0, 0
    warps = moment.scope.of_warps
    return moment.replay.cached(("padding", warps.start, warps.stop), lambda: _padding_beyond(moment, tiles))


def _padding_beyond(moment: Moment, tiles: Sequence[LaneTile]) -> tuple[int, int]:
    beyond = []
    for name, side in (("A", 0), ("B", 1)):
        number, areas = moment.trace.number_of(name), moment.areas(name)
        longest = max((max(each.rows, each.columns) for each in tiles if each.side == name), default=0)
        extent = 0 if number is None else moment.trace.arrays[number].extents[side]
        reaches = any(area[2 * side + 1] == extent for area in areas.values())
        beyond.append(min(-extent % longest, _MOST_BEYOND) if longest and reaches else 0)
    return beyond[0], beyond[1]


def _side(trace: Trace, number: int) -> LaneSide:
    """Return the matrix whose elements are stored into a shared array; "" for several, and for none."""
    found: set[int] = set()
    for at, site in enumerate(trace.sites):
        if any(operand.array == number for operand in site.accesses("write")):
            steps = np.flatnonzero(trace.site == at)
            for step in (*steps[:_LOOKED_AT].tolist(), *steps[-1:].tolist()):
                rows = slice(*np.searchsorted(trace.origin_step, [step, step + 1]).tolist())
                found |= set(np.unique(trace.origin_array[rows]).tolist())
    names = {trace.arrays[each].name for each in found if each >= 0}
    return "A" if names == {"A"} else "B" if names == {"B"} else ""


def shown_shape(array: MemoryArray) -> tuple[int, int]:
    """Return rows and columns of a shared array: as declared, or 32 elements per row (one pass over the banks) if it is
    flat.
    """
    if len(array.shape) > 1:
        return array.size // array.shape[-1], array.shape[-1]
    columns = min(32, array.size)
    return -(-array.size // columns), columns


def lane_grids(moment: Moment, lanes: Lanes, a: CellGrid, b: CellGrid) -> dict[int, CellGrid]:
    """Return the grids of all shared arrays by number: over the columns of A, or level with the rows of B, that the watched
    block reads in this phase. ``a``, ``b``: the grids of the matrices.
    """
    corner, (cell_a, cell_b, _) = lanes.corner, lanes.cells
    above = [each for each in lanes.tiles if each.side == "A"]
    beside = [each for each in lanes.tiles if each.side == "B"]
    grids = _others(lanes, [each for each in lanes.tiles if not each.side])
    y = corner.bottom - lanes.high
    for each in above:
        x = _over(_framed(moment, "A", 2, a.first[1]), a.x, a.cell, each.columns * cell_a)
        grids[each.number] = CellGrid(
            _within(x, corner.x, corner.width, each.columns * cell_a), y, cell_a, each.rows, each.columns
        )
        y += each.rows * cell_a + _APART
    x = corner.right - lanes.wide
    for each in beside:
        y = _over(_framed(moment, "B", 0, b.first[0]), b.y, b.cell, each.rows * cell_b)
        high = corner.height - (lanes.high if each.rows * cell_b <= corner.height - lanes.high else 0.0)
        grids[each.number] = CellGrid(x, _within(y, corner.y, high, each.rows * cell_b), cell_b, each.rows, each.columns)
        x += each.columns * cell_b + _APART
    return grids


def _framed(moment: Moment, name: str, side: int, first: int) -> tuple[int, int, bool]:
    """Return the columns (``side`` 2) or rows (0) of a matrix that are read in this phase, or in the nearest one that reads
    any, counted from ``first``; and whether they end at the matrix's edge.
    """
    number = moment.trace.number_of(name)
    area = None if number is None else moment.area(number)
    if number is None or area is None:
        areas = moment.areas(name)
        if number is None or not areas:
            return 0, 1, True
        area = areas[min(areas, key=lambda phase: abs(phase - moment.phase))]
    return area[side] - first, area[side + 1] - first, area[side + 1] == moment.trace.arrays[number].extents[side // 2]


def _over(framed: tuple[int, int, bool], start: float, cell: float, length: float) -> float:
    """Return where a tile begins that stands over some rows or columns: at their beginning if it is as long, or longer because
    it holds padding, else in their middle.
    """
    low, high = start + framed[0] * cell, start + framed[1] * cell
    is_level = abs(high - low - length) < 0.5 * cell or (framed[2] and high - low < length)
    return low if is_level else (low + high - length) / 2


def _within(at: float, start: float, extent: float, length: float) -> float:
    return max(start, min(at, start + extent - length))


def _others(lanes: Lanes, tiles: list[LaneTile]) -> dict[int, CellGrid]:
    """Stack the arrays that belong to no lane in the upper left part of the corner."""
    corner, cell = lanes.corner, lanes.cells[2]
    y, grids = corner.y + _TITLE, {}
    for each in tiles:
        grids[each.number] = CellGrid(corner.x + _AIR, y, cell, each.rows, each.columns)
        y += each.rows * cell + _TITLE
    return grids


def free_cell(tiles: Sequence[LaneTile], width: float, height: float, cell: float) -> float:
    """Return the largest side of a cell, at most ``cell``, with which the arrays of no lane fit what is left of the corner."""
    others = [each for each in tiles if not each.side]
    if not others:
        return cell
    rows, columns = sum(each.rows for each in others), max(each.columns for each in others)
    return max(1.0, min(cell, (width - 2 * _AIR) / columns, (height - _TITLE * len(others) - _AIR) / rows))


@lru_cache(maxsize=32)
def tiles_in(tiles: tuple[LaneTile, ...], room: Box, most: float) -> dict[int, CellGrid]:
    """Return the grids of shared arrays in a room of their own, side by side or stacked, whichever makes them larger; a cell
    is at most ``most`` wide.
    """
    return max((_in_row(tiles, room, most), _in_stack(tiles, room, most)), key=lambda grids: next(iter(grids.values())).cell)


def tiles_extent(tiles: tuple[LaneTile, ...], cell: float, side_by_side: bool) -> tuple[float, float]:
    """Return the width and the height of shared arrays with cells of this size, side by side or stacked, with their titles."""
    rows, columns = [each.rows for each in tiles], [each.columns for each in tiles]
    if side_by_side:
        return sum(columns) * cell + _TITLE * (len(tiles) - 1), max(rows) * cell + _TITLE
    return max(columns) * cell, sum(rows) * cell + _TITLE * len(tiles)


def _in_row(tiles: tuple[LaneTile, ...], room: Box, most: float) -> dict[int, CellGrid]:
    columns, rows = sum(each.columns for each in tiles), max(each.rows for each in tiles)
    wide, high = room.width - _TITLE * (len(tiles) - 1), room.height - _TITLE
    cell = max(1.0, min(wide / columns, high / rows, most))
    x, y, grids = room.x + (wide - columns * cell) / 2, room.y + (high - rows * cell) / 2 + _TITLE, {}
    for each in tiles:
        grids[each.number] = CellGrid(x, y, cell, each.rows, each.columns)
        x += each.columns * cell + _TITLE
    return grids


def _in_stack(tiles: tuple[LaneTile, ...], room: Box, most: float) -> dict[int, CellGrid]:
    columns, rows = max(each.columns for each in tiles), sum(each.rows for each in tiles)
    high = room.height - _TITLE * len(tiles)
    cell = max(1.0, min(room.width / columns, high / rows, most))
    y, grids = room.y + (high - rows * cell) / 2, {}
    for each in tiles:
        y += _TITLE
        grids[each.number] = CellGrid(room.x + (room.width - each.columns * cell) / 2, y, cell, each.rows, each.columns)
        y += each.rows * cell
    return grids


# The sectors that the requests of a step move, outlined over the cells of the matrices.

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
            primitives.append(Rects(key, outlines[chosen], None, colour, width, meaning="count"))
    return primitives


def wasted_cells(key: str, boxes: Floats, theme: Theme, is_hatched: bool = True, apart: float = 0.0) -> list[Primitive]:
    """Draw cells (n, 4) whose bytes are moved without being requested; small ones side by side, ``apart``, as one box."""
    if not len(boxes):
        return []
    if boxes[0, 2] < _LEAST_SINGLE:
        boxes = boxes_of_runs(boxes, runs(((boxes[:, :2], float(boxes[0, 2] + apart)),), np.zeros(len(boxes), np.int64)))
    inset = np.minimum(1.0, 0.04 * boxes[:, 2:].min(axis=1, keepdims=True))
    inner = np.hstack([boxes[:, :2] + inset, boxes[:, 2:] - 2 * inset])
    filled = Rects(key, inner, mixed(theme.background, theme.warning, _WASTED), meaning="count")
    return [filled, hatching(f"{key}-hatching", inner, theme.warning, "count")] if is_hatched else [filled]


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
