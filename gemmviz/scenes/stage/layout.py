"""The layout of the stage: the cross of the matrices, or the arrays of another problem, as large as possible, and around it
words, tiles, registers, the map of the lens, and source lines.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.flights import THREADS
from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import COLUMN, MARGIN, ViewOptions, band_bottom
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.window import Parts, Window, lens_of, lens_parts, whole_of, whole_parts
from gemmviz.scenes.stage.arrays_layout import arranged_arrays
from gemmviz.scenes.stage.cell_grid import CellGrid

GAP = 46.0  # between the matrices, with the names of A and C
_AXIS = 30.0  # for numbers along a side; _WIDE: beside the rows
_WIDE = 52.0
_LARGEST_CELL = 96.0
_READABLE_CELL = 14.0  # units
_LEAST_SEEN = 150.0  # units: smallest size of the watched area without the lens
_HEADING, _SPACE, _LARGEST_TILE_CELL = 36.0, 36.0, 76.0
_TITLES, _LEGEND, _CAPTIONS = 165.0, 110.0, 195.0  # heights of the column of words above and below its middle
_BAND_TOP, _LEGEND_LINES = 74.0, 56.0
_LEAST_ROOM, _LEAST_TILES, _LEAST_MAP = 130.0, 150.0, 100.0
_WIDEST_COLUMN = 560.0
_Window = TypeVar("_Window", Window, Parts)


@dataclass(frozen=True, slots=True)
class Plan:
    """The layout. ``matrices``: the grid of each matrix by name; ``rooms``: the places of other parts by name; ``column``:
    the width of the words beside the cross, 0 if they stand above and below it.
    """

    window: Window | Parts
    matrices: dict[str, CellGrid] = field(hash=False)
    rooms: dict[str, Box] = field(hash=False)
    column: float = 0.0

    @property
    def has_column(self) -> bool:
        return self.column > 0

    @property
    def cell(self) -> float:
        return next(iter(self.matrices.values())).cell

    @property
    def box(self) -> Box:
        """The box around all matrices."""
        boxes = [grid.box for grid in self.matrices.values()]
        x, y = min(box[0] for box in boxes), min(box[1] for box in boxes)
        return Box(x, y, max(box[0] + box[2] for box in boxes) - x, max(box[1] + box[3] for box in boxes) - y)

    def home(self, moment: Moment) -> CellGrid | None:
        """The grid of the matrix on which threads are drawn, C of a multiplication; None if there is none."""
        return None if moment.home is None else self.matrices[moment.trace.arrays[moment.home].name]


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a layout depends on besides the window: shapes of tiles, and options."""

    tiles: tuple[tuple[int, int], ...]
    width: float
    height: float
    has_code: bool
    has_legend: bool
    strip: float


def plan_of(moment: Moment, options: ViewOptions) -> Plan:
    """Return the layout at a moment. The lens is used on request, or if little would be visible without it."""
    trace = moment.trace
    frame = _Frame(tile_shapes(trace), options.width, options.height, options.code, options.layer != "matrix", options.strip)
    return moment.cached((frame, options.lens), lambda: _plan_of(moment, frame, options))


def _plan_of(moment: Moment, frame: _Frame, options: ViewOptions) -> Plan:
    if moment.trace.is_multiply:
        return _whole_or_lens(moment, options, lambda window: _plan(window, frame), whole_of, lens_of)
    inputs = frozenset(moment.trace.arrays[number].name for number in moment.trace.inputs)
    return _whole_or_lens(moment, options, lambda parts: _plan_of_parts(parts, inputs, frame), whole_parts, lens_parts)


def _whole_or_lens(
    moment: Moment,
    options: ViewOptions,
    plan: Callable[[_Window], Plan],
    all_of: Callable[[Moment], _Window],
    part_of: Callable[[Moment], _Window],
) -> Plan:
    whole = plan(all_of(moment))
    if options.lens == "whole" or (options.lens == "auto" and not needs_lens(moment, whole)):
        return whole
    window = part_of(moment)
    return plan(window) if window.is_lens else whole


def needs_lens(moment: Moment, whole: Plan) -> bool:
    """Whether the watched accesses and single elements would be too small to follow."""
    number = moment.home
    area = None if number is None or moment.focus.everyone else moment.area(number)
    if area is None or whole.cell >= _READABLE_CELL:
        return False
    return max(area[1] - area[0], area[3] - area[2]) * whole.cell < _LEAST_SEEN


@lru_cache(maxsize=64)
def _plan_of_parts(parts: Parts, inputs: frozenset[str], frame: _Frame) -> Plan:
    """Return the layout of the arrays of a problem that is no multiplication."""
    beside = Box(COLUMN + _WIDE, 16.0, frame.width - COLUMN - _WIDE - MARGIN, _bottom(frame) - 16.0)
    top = _band_top(frame)
    between = Box(_WIDE, top, frame.width - 2 * _WIDE, _bottom(frame) - band_bottom(frame.height) - top)
    arranged = {box: arranged_arrays(parts, inputs, box, bool(frame.tiles)) for box in (beside, between)}
    box = beside if frame.has_code or arranged[beside].cell >= arranged[between].cell else between
    tiles = arranged[box].tiles
    rooms = {} if tiles is None else {"tiles": tiles}
    if box is between:
        return Plan(parts, arranged[box].grids, rooms | {"legend": Box(MARGIN, 66, frame.width - 2 * MARGIN, _LEGEND_LINES)})
    titles, column = _TITLES + (_LEGEND if frame.has_legend else 0.0), COLUMN - MARGIN
    code = {"code": Box(MARGIN, titles, column, frame.height - titles - _CAPTIONS)} if frame.has_code else {}
    return Plan(parts, arranged[box].grids, rooms | code | {"legend": Box(MARGIN, _TITLES - 20, column, _LEGEND)}, column)


@lru_cache(maxsize=64)
def _plan(window: Window, frame: _Frame) -> Plan:
    """Return the layout with the words beside the cross or above and below it, whichever leaves more space."""
    beside, between = _cell_beside(window, frame), _cell_between(window, frame)
    return _beside(window, frame, beside) if beside >= between else _between(window, frame, between)


def _bottom(frame: _Frame) -> float:
    return frame.height - frame.strip - _AXIS


def _band_top(frame: _Frame) -> float:
    """Return the height of the words above; a legend adds two lines."""
    return _BAND_TOP + (_LEGEND_LINES if frame.has_legend else 0.0)


def _cell_beside(window: Window, frame: _Frame) -> float:
    m, n, k = window.counts
    high, wide = _bottom(frame) - _AXIS - GAP, frame.width - COLUMN - 2 * _WIDE - GAP
    return min(high / (k + m), wide / (k + n), _LARGEST_CELL)


def _cell_between(window: Window, frame: _Frame) -> float:
    m, n, k = window.counts
    high, wide = _bottom(frame) - band_bottom(frame.height) - _band_top(frame) - _AXIS - GAP, frame.width - 2 * _WIDE - GAP
    return min(high / (k + m), wide / (k + n), _LARGEST_CELL)


def _cross(window: Window, cell: float, x: float, y: float) -> dict[str, CellGrid]:
    """Return the grids of the three matrices, with A's left edge at ``x`` and B's upper edge at ``y``."""
    _, _, k = window.counts
    c_x, c_y = x + k * cell + GAP, y + k * cell + GAP
    places = {"A": (x, c_y), "B": (c_x, y), "C": (c_x, c_y)}
    grids = {}
    for name, (left, top) in places.items():
        rows, columns = window.of(name)
        grids[name] = CellGrid(left, top, cell, rows[1] - rows[0], columns[1] - columns[0], (rows[0], columns[0]))
    return grids


def _beside(window: Window, frame: _Frame, cell: float) -> Plan:
    m, n, k = window.counts
    left, right = COLUMN + _WIDE, frame.width - _WIDE
    spare = right - left - (k + n) * cell - GAP
    high = _bottom(frame) - _AXIS - (k + m) * cell - GAP
    matrices = _cross(window, cell, left + 0.6 * spare, _AXIS + 0.5 * high)
    titles = _TITLES + (_LEGEND if frame.has_legend else 0.0)
    column = min(left + 0.6 * spare - _WIDE - MARGIN, _WIDEST_COLUMN)
    rooms = _rooms(matrices, Box(MARGIN, titles, column, frame.height - titles - _CAPTIONS), window, frame, is_wide=False)
    return Plan(window, matrices, {**rooms, "legend": Box(MARGIN, _TITLES - 20, column, _LEGEND)}, column)


def _between(window: Window, frame: _Frame, cell: float) -> Plan:
    m, n, k = window.counts
    spare = frame.width - 2 * _WIDE - (k + n) * cell - GAP
    top = _band_top(frame) + _AXIS
    high = _bottom(frame) - band_bottom(frame.height) - top - (k + m) * cell - GAP
    is_tall = high > 1.5 * _LEAST_ROOM
    is_tight = bool(frame.tiles) and 0.7 * spare < _LEAST_ROOM + MARGIN <= spare + 1e-6
    x = _WIDE + (0.5 if is_tall else 1.0 if is_tight else 0.7) * spare
    matrices = _cross(window, cell, x, top + (0.0 if is_tall else 0.5 * high))
    end = matrices["C"].y + m * cell + _AXIS + 14
    beside = Box(MARGIN, top, x - _WIDE - MARGIN, _bottom(frame) - band_bottom(frame.height) - top)
    below = Box(MARGIN, end, frame.width - 2 * MARGIN, frame.height - band_bottom(frame.height) - end - 10)
    rooms = _rooms(matrices, below if is_tall else beside, window, frame, is_wide=is_tall)
    return Plan(window, matrices, {**rooms, "legend": Box(MARGIN, 66, frame.width - 2 * MARGIN, _LEGEND_LINES)})


def _rooms(matrices: dict[str, CellGrid], other: Box, window: Window, frame: _Frame, is_wide: bool) -> dict[str, Box]:
    """Place the tiles in the corner of the cross if they fit there, and the other parts in the remaining space."""
    a, b, c = (matrices[name] for name in "ABC")
    corner = Box(a.x, b.y + 34, c.x - GAP - a.x, c.y - GAP - b.y - 34)
    rooms: dict[str, Box] = {}
    others = [
        name for name, is_present in (("registers", True), ("code", frame.has_code), ("map", window.is_lens)) if is_present
    ]
    in_corner = bool(frame.tiles) and (corner.height >= _LEAST_TILES and corner.width >= _LEAST_TILES)
    if in_corner:
        rooms["tiles"] = corner
    elif frame.tiles:
        others.insert(0, "tiles")
    elif _is_room(corner):
        others.remove("registers")
        rooms["registers"] = corner
    if "map" in others and not in_corner and "registers" in others and min(corner.width, corner.height) >= _LEAST_MAP:
        others.remove("map")
        rooms["map"] = corner
    if "registers" in others and not _is_room(other) and corner.height > 2.2 * _LEAST_ROOM:
        others.remove("registers")
        high = 0.58 * corner.height
        rooms["tiles"] = Box(corner.x, corner.y, corner.width, high)
        rooms["registers"] = Box(corner.x, corner.y + high + 10, corner.width, corner.height - high - 10)
    if _is_room(other):
        rooms |= _shared_out(other, others, is_wide)
    return rooms


_SHARES = {"tiles": 1.0, "registers": 1.3, "code": 1.0, "map": 0.6}


def _is_room(box: Box) -> bool:
    """Whether a box is large enough to show anything."""
    return min(box.width, box.height) >= _LEAST_ROOM


def _shared_out(box: Box, names: list[str], is_wide: bool) -> dict[str, Box]:
    """Divide a box among parts, side by side or stacked. Parts that would get too little are left out."""
    rooms: dict[str, Box] = {}
    extent = box.width if is_wide else box.height
    while names and min(_SHARES[name] for name in names) / sum(_SHARES[name] for name in names) * extent < 100:
        names = names[:-1]
    at, whole = 0.0, sum(_SHARES[name] for name in names)
    for name in names:
        part = extent * _SHARES[name] / whole
        rooms[name] = Box(box.x + at, box.y, part - 24, box.height) if is_wide else Box(box.x, box.y + at, box.width, part - 14)
        at += part
    return rooms


def shown_shape(array: MemoryArray) -> tuple[int, int]:
    """Return rows and columns of a shared array: as declared, or 32 elements per row (one pass over the banks) if it is
    flat.
    """
    if len(array.shape) > 1:
        return array.size // array.shape[-1], array.shape[-1]
    columns = min(32, array.size)
    return -(-array.size // columns), columns


def tile_shapes(trace: Trace) -> tuple[tuple[int, int], ...]:
    """Return the shapes of all shared arrays."""
    return tuple(shown_shape(array) for array in trace.arrays if array.space == "shared")


@lru_cache(maxsize=16)
def _tile_grids(arrays: tuple[MemoryArray, ...], room: Box) -> dict[int, CellGrid]:
    """Place the tiles side by side or stacked, whichever makes them larger."""
    shapes = {number: shown_shape(array) for number, array in enumerate(arrays) if array.space == "shared"}
    if not shapes:
        return {}
    names = {number: text_width(arrays[number].name, 24.0, "semibold") for number in shapes}
    arranged = (_row_of_tiles(shapes, names, room), _stack_of_tiles(shapes, room))
    return max(arranged, key=lambda grids: next(iter(grids.values())).cell)


def _row_of_tiles(shapes: dict[int, tuple[int, int]], names: dict[int, float], room: Box) -> dict[int, CellGrid]:
    """Place the tiles side by side. ``names``: the widths of their names, which may be wider than the tiles."""
    columns, rows = sum(shape[1] for shape in shapes.values()), max(shape[0] for shape in shapes.values())
    wide, high = room.width - _SPACE * (len(shapes) - 1), room.height - _HEADING
    cell = min(wide / columns, high / rows, _LARGEST_TILE_CELL)
    x, y = room.x + (wide - columns * cell) / 2, room.y + (high - rows * cell) / 2 + _HEADING
    grids = {}
    for number, shape in shapes.items():
        grids[number] = CellGrid(x, y, cell, *shape)
        x += max(shape[1] * cell, names[number]) + _SPACE
    return grids


def _stack_of_tiles(shapes: dict[int, tuple[int, int]], room: Box) -> dict[int, CellGrid]:
    columns, rows = max(shape[1] for shape in shapes.values()), sum(shape[0] for shape in shapes.values())
    high = room.height - (_HEADING + 14) * len(shapes)
    cell = min(room.width / columns, high / rows, _LARGEST_TILE_CELL)
    y, grids = room.y + (high - rows * cell) / 2, {}
    for number, shape in shapes.items():
        y += _HEADING + 14
        grids[number] = CellGrid(room.x + (room.width - shape[1] * cell) / 2, y, cell, *shape)
        y += shape[0] * cell
    return grids


def tile_grids(trace: Trace, plan: Plan) -> dict[int, CellGrid]:
    """Return the grids of all shared arrays by number, with space for a name above each; none if they don't fit."""
    room = plan.rooms.get("tiles")
    return {} if room is None else _tile_grids(trace.arrays, room)


def places(moment: Moment, plan: Plan, number: int, at: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the centres (n, 2) of elements of an array on the stage; for threads, the place where they compute the result. NaN
    if not visible.
    """
    if number == THREADS:
        home = plan.home(moment)
        return np.full((len(at), 2), np.nan) if home is None else _seen(home, *moment.homes[at].T)
    array = moment.trace.arrays[number]
    if array.space == "global":
        return _seen(plan.matrices[array.name], *array.row_column(at))
    table = tile_grids(moment.trace, plan).get(number)
    return np.full((len(at), 2), np.nan) if table is None else table.middle(*np.divmod(at, table.columns))


def _seen(table: CellGrid, rows: Any, columns: Any) -> npt.NDArray[np.float64]:
    found = table.middle(rows, columns)
    found[~table.holds(rows, columns)] = np.nan
    return found


def cell_of(trace: Trace, plan: Plan, number: int) -> float:
    """Return the side of a cell of an array; for a thread, that of a cell of C."""
    if number == THREADS or trace.arrays[number].space == "global":
        return plan.cell
    grids = tile_grids(trace, plan)
    return grids[number].cell if number in grids else plan.cell
