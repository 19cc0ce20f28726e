"""The layout of the stage: the cross of the matrices, or the arrays of another problem, as large as possible, and around it
words, tiles, what the step is about, and source lines.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from typing import Any, Literal, TypeVar

import numpy as np
from msgspec import Struct, field

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.tiles import THREADS
from gemmviz.model.arrays import Floats, Longs
from gemmviz.scenes.kit.layout import Box, Point
from gemmviz.scenes.kit.primitives import text_width
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.kit.window import ArrayPart, Parts, Window, lens_of, lens_parts, whole_of, whole_parts
from gemmviz.scenes.stage.cells import CellGrid
from gemmviz.scenes.stage.cross import (
    LaneLayout,
    LaneTile,
    StageFrame,
    Title,
    cross_alone,
    cross_in,
    lane_grids,
    lane_tiles,
    padding_beyond,
    tiles_extent,
    tiles_in,
    title_text,
    words_above,
    words_beside,
)

# The arrangement of any number of arrays: inputs on the left or above, outputs on the right or below, the tiles of shared
# memory between them, all with cells of one size, as large as possible.

_LEAST_CELL, _LARGEST_CELL = 1e-3, 64.0
_HEAD, _FOOT = 44.0, 30.0  # above an array for its name, below for the numbers of its columns
_RIGHT_OF_ARRAY = 24.0  # space to the right of an array
_MOST_OF_TILES = 0.45  # share of the room that the tiles take at most
_AROUND_TILES = 40.0  # between the tiles and the arrays
_STEPS, _LARGER = 40, 1.0 + 1e-6  # of the search for the largest cell; what counts as larger
Direction = Literal["row", "column"]
LaneTiles = tuple[LaneTile, ...]


class ArrangedArrays(Struct, frozen=True):
    """The grid of each array by name, and the room of the tiles; None without tiles."""

    grids: dict[str, CellGrid]
    tiles: Box | None
    cell: float


class _Group(Struct, frozen=True):
    """Arrays with cells of one size, relative to a corner: the space that they take, and the top left corner of each one's
    cells.
    """

    width: float
    height: float
    corners: tuple[tuple[ArrayPart, float, float], ...] = ()

    def shifted(self, x: float, y: float) -> "_Group":
        return _Group(self.width, self.height, tuple((part, left + x, top + y) for part, left, top in self.corners))


def parts_in(parts: Parts, inputs: frozenset[str], frame: StageFrame) -> tuple[ArrangedArrays, dict[str, Box]]:
    """Return the arrays with the largest cells, and the rooms around them: words beside them, or above."""
    ways = words_beside(frame, parts.is_lens), words_above(frame, parts.is_lens)
    arranged, rooms = max(
        ((arranged_arrays(parts, inputs, room, frame.tiles), rooms) for room, rooms in ways), key=lambda each: each[0].cell
    )
    return arranged, rooms if arranged.tiles is None else rooms | {"tiles": arranged.tiles}


@lru_cache(maxsize=64)
def arranged_arrays(parts: Parts, inputs: frozenset[str], room: Box, tiles: LaneTiles) -> ArrangedArrays:
    """Return the arrangement in a room with the largest cells, which those of the tiles share if there is space."""
    ways: list[tuple[Direction, ...]] = list(product(("row", "column"), repeat=3))
    cell, way = _LEAST_CELL, ways[0]
    for each in ways:
        largest = _largest(parts, inputs, room, tiles, each, cell * _LARGER)
        cell, way = (largest, each) if largest > cell else (cell, way)
    group, found = _arranged(parts, inputs, room, tiles, way, cell)
    x, y = room.x + (room.width - group.width) / 2, room.y + (room.height - group.height) / 2
    grids = {part.name: _grid(part, left + x, top + y, cell) for part, left, top in group.corners}
    return ArrangedArrays(grids, None if found is None else found.shifted(x, y), cell)


def _grid(part: ArrayPart, x: float, y: float, cell: float) -> CellGrid:
    rows, columns, step = part.rows, part.columns, part.whole[1] if len(part.shape) == 1 else 1
    return CellGrid(x, y, cell, rows[1] - rows[0], columns[1] - columns[0], (rows[0], columns[0]), step)


def _largest(
    parts: Parts, inputs: frozenset[str], room: Box, tiles: LaneTiles, way: tuple[Direction, ...], least: float
) -> float:
    """Return the largest cell with which one way of arranging fits the room; 0 if ``least`` does not fit."""

    def fits(cell: float) -> bool:
        group, _ = _arranged(parts, inputs, room, tiles, way, cell)
        return group.width <= room.width and group.height <= room.height

    low, high = 0.0, _LARGEST_CELL
    for _ in range(_STEPS if fits(least) else 0):
        cell = (low + high) / 2
        low, high = (cell, high) if fits(cell) else (low, cell)
    return low


def _arranged(
    parts: Parts, inputs: frozenset[str], room: Box, tiles: LaneTiles, way: tuple[Direction, ...], cell: float
) -> tuple[_Group, Box | None]:
    """Return all arrays in one way: the direction of inputs, tiles and outputs, and those within inputs and outputs."""
    main, of_inputs, of_outputs = way
    first = _joined_groups([_named_group(part, cell) for part in parts.arrays if part.name in inputs], of_inputs)
    last = _joined_groups([_named_group(part, cell) for part in parts.arrays if part.name not in inputs], of_outputs)
    if not tiles:
        return _joined_groups([first, last], main), None
    wide, high = tiles_extent(tiles, cell, main == "column")
    wide, high = min(wide, _MOST_OF_TILES * room.width), min(high, _MOST_OF_TILES * room.height)
    if main == "row":
        group = _joined_groups([first, _Group(wide + 2 * _AROUND_TILES, 0.0), last], main)
        return group, Box(first.width + _AROUND_TILES, 0.0, wide, group.height)
    group = _joined_groups([first, _Group(0.0, high), last], main)
    left = min(left for _, left, _ in group.corners)
    return group, Box(left, first.height, group.width - left - _RIGHT_OF_ARRAY, high)


def _named_group(part: ArrayPart, cell: float) -> _Group:
    """Return one array with the space for its name and its numbers."""
    rows, columns = part.rows[1] - part.rows[0], part.columns[1] - part.columns[0]
    beside = 12.0 + text_width(str(part.whole[0] * part.whole[1]), 16.0)
    wide = max(columns * cell, text_width(title_text(part.name, part.shape), TypeSizes().name, "semibold"))
    return _Group(beside + wide + _RIGHT_OF_ARRAY, _HEAD + rows * cell + _FOOT, ((part, beside, _HEAD),))


def _joined_groups(groups: list[_Group], direction: Direction) -> _Group:
    """Return several groups side by side or one below the other, centred across."""
    wide, high = [each.width for each in groups], [each.height for each in groups]
    corners, at = list[tuple[ArrayPart, float, float]](), 0.0
    for each in groups:
        if direction == "row":
            corners += each.shifted(at, (max(high) - each.height) / 2).corners
            at += each.width
        else:
            corners += each.shifted((max(wide) - each.width) / 2, at).corners
            at += each.height
    whole = (at, max(high, default=0.0)) if direction == "row" else (max(wide, default=0.0), at)
    return _Group(*whole, tuple(corners))


# The plan of a stage: where everything is, at a moment

_AROUND_CORNER = 8.0  # units: what the ground of shared memory reaches beyond the corner
_READABLE_CELL = 14.0  # units
_LEAST_SEEN = 150.0  # units: smallest size of the watched area without the lens
_SeenArea = TypeVar("_SeenArea", Window, Parts)


class Plan(Struct, frozen=True):
    """The layout. ``matrices``: the grid of each matrix by name; ``lanes``: the corner for shared arrays, None without;
    ``beyond``: rows below A and C and columns on the right of B and C for padding; ``titles``: the places of the
    matrices' titles; ``rooms``: the places of other parts by name.

    Rooms: "sentence", "legend", "code", "detail" for what the step is about, "map" of the lens, "tiles" of a problem that is no
    multiplication. A part without a room is left out.
    """

    window: Window | Parts
    matrices: dict[str, CellGrid]
    rooms: dict[str, Box]
    lanes: LaneLayout | None = None
    beyond: tuple[int, int] = (0, 0)
    titles: dict[str, Title] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.window, self.lanes, self.beyond))

    @property
    def cell(self) -> float:
        return next(iter(self.matrices.values())).cell

    @property
    def box(self) -> Box:
        """The box around all matrices."""
        boxes = [grid.box for grid in self.matrices.values()]
        x, y = min(box.x for box in boxes), min(box.y for box in boxes)
        return Box(x, y, max(box.right for box in boxes) - x, max(box.bottom for box in boxes) - y)

    def home(self, moment: Moment) -> CellGrid | None:
        """The grid of the matrix on which threads are drawn, C of a multiplication; None if there is none."""
        return None if moment.home is None else self.matrices[moment.trace.arrays[moment.home].name]


def plan_of(moment: Moment, options: ViewOptions) -> Plan:
    """Return the layout at a moment. The lens is used on request, or if little would be visible without it."""
    key = (
        "plan", options.width, options.height, options.code, options.statement, options.layer != "matrix",
        options.timeline, options.words, options.theme.type, options.lens, options.edge, options.only, options.hidden,
    )  # fmt: skip
    return moment.cached(key, lambda: _plan_of(moment, _frame_of(moment, options), options))


def _frame_of(moment: Moment, options: ViewOptions) -> StageFrame:
    tiles = lane_tiles(moment.replay)
    beyond = padding_beyond(moment, tiles) if moment.trace.is_multiply else (0, 0)
    has_legend, foot = options.layer != "matrix", options.timeline_height(moment.replay)
    return StageFrame(
        tiles, options.width, options.height, options.code, has_legend, foot, options.theme.type, beyond,
        options.statement or options.code, not options.hidden >= {"title", "action", "progress"},
    )  # fmt: skip


def _plan_of(moment: Moment, frame: StageFrame, options: ViewOptions) -> Plan:
    room = Box(0.0, 0.0, options.width, options.height).inset(options.edge + _AROUND_CORNER)
    if moment.trace.is_multiply:
        plan = partial(_plan_of_matrices, frame=frame, room=room) if options.only else partial(_plan, frame=frame)
        return _whole_or_lens(moment, options, plan, whole_of, lens_of)
    inputs = frozenset(moment.trace.arrays[number].name for number in moment.trace.inputs)
    if options.only:
        plan = partial(_plan_of_arrays, inputs=inputs, frame=frame, room=room)
        return _whole_or_lens(moment, options, plan, whole_parts, lens_parts)
    return _whole_or_lens(moment, options, lambda parts: _plan_of_parts(parts, inputs, frame), whole_parts, lens_parts)


def _whole_or_lens(
    moment: Moment,
    options: ViewOptions,
    plan: Callable[[_SeenArea], Plan],
    all_of: Callable[[Moment], _SeenArea],
    part_of: Callable[[Moment], _SeenArea],
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
def _plan(window: Window, frame: StageFrame) -> Plan:
    cross = cross_in(window, frame)
    return Plan(window, cross.matrices, cross.rooms, cross.lanes, frame.beyond, cross.titles)


def _plan_of_matrices(window: Window, frame: StageFrame, room: Box) -> Plan:
    """Return the layout of matrices and tiles that fill a room."""
    cross = cross_alone(window, frame, room)
    return Plan(window, cross.matrices, {}, cross.lanes, frame.beyond, cross.titles)


def _plan_of_arrays(parts: Parts, inputs: frozenset[str], frame: StageFrame, room: Box) -> Plan:
    """Return the layout of the arrays of a problem that is no multiplication, and their tiles, that fill a room."""
    arranged = arranged_arrays(parts, inputs, room, frame.tiles)
    return Plan(parts, arranged.grids, {} if arranged.tiles is None else {"tiles": arranged.tiles})


@lru_cache(maxsize=64)
def _plan_of_parts(parts: Parts, inputs: frozenset[str], frame: StageFrame) -> Plan:
    """Return the layout of the arrays of a problem that is no multiplication."""
    arranged, rooms = parts_in(parts, inputs, frame)
    return Plan(parts, arranged.grids, rooms)


def tile_grids(moment: Moment, plan: Plan) -> dict[int, CellGrid]:
    """Return the grids of all shared arrays by number; none if they have no place."""
    if plan.lanes is not None:
        return lane_grids(plan.lanes)
    room = plan.rooms.get("tiles")
    return {} if room is None else tiles_in(lane_tiles(moment.replay), room, plan.cell)


def places(moment: Moment, plan: Plan, number: int, at: Longs) -> Floats:
    """Return the centres (n, 2) of elements of an array on the stage; for threads, the place where they compute the result. NaN
    if not visible.
    """
    array = None if number == THREADS else moment.trace.arrays[number]
    place: tuple[Any, Any]
    if array is None:
        table, place = plan.home(moment), (moment.homes[at, 0], moment.homes[at, 1])
    elif array.space == "global":
        table, place = plan.matrices[array.name], array.row_column(at)
    else:
        table = tile_grids(moment, plan).get(number)
        return _nowhere(at) if table is None else table.middle(*np.divmod(at, table.columns))
    if table is None:
        return _nowhere(at)
    found = table.middle(*place)
    found[~table.holds(*place)] = np.nan
    return found


def _nowhere(at: Longs) -> Floats:
    return np.full((len(at), 2), np.nan)


def sides_of(moment: Moment, plan: Plan, number: int) -> Point:
    """Return the width and the height of a cell of an array; for a thread, those of a cell of C."""
    grids = {} if number == THREADS else tile_grids(moment, plan)
    return (grids[number] if number in grids else next(iter(plan.matrices.values()))).sides
