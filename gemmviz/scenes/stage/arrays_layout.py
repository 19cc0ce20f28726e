"""The arrangement of any number of arrays: inputs on the left or above, outputs on the right or below, the tiles of shared
memory between them, all with cells of one size, as large as possible.
"""

from functools import lru_cache
from itertools import product
from typing import Literal

from msgspec import Struct

from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.window import ArrayPart, Parts
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.cross import StageFrame, stacked_rooms, words_column, worth
from gemmviz.scenes.stage.lanes import LaneTile, tiles_extent

_LEAST_CELL, _LARGEST_CELL = 1e-3, 64.0
_HEAD, _FOOT = 44.0, 30.0  # above an array for its name, below for the numbers of its columns
_NAME, _PAD = 28.0, 24.0  # size of a name, and space to the right of an array
_MOST_OF_TILES = 0.45  # share of the room that the tiles take at most
_GAP = 40.0  # between the tiles and the arrays
_STEPS, _LARGER = 40, 1.0 + 1e-6  # of the search for the largest cell; what counts as larger
Direction = Literal["row", "column"]
LaneTiles = tuple[LaneTile, ...]


class Arrangement(Struct, frozen=True):
    """The grid of each array by name, and the room of the tiles; None without tiles."""

    grids: dict[str, CellGrid]
    tiles: Box | None
    cell: float


class _Placed(Struct, frozen=True):
    """Arrays with cells of one size, relative to a corner: the space that they take, and the top left corner of each one's
    cells.
    """

    width: float
    height: float
    corners: tuple[tuple[ArrayPart, float, float], ...] = ()

    def moved(self, x: float, y: float) -> "_Placed":
        return _Placed(self.width, self.height, tuple((part, left + x, top + y) for part, left, top in self.corners))


def parts_in(parts: Parts, inputs: frozenset[str], frame: StageFrame) -> tuple[Arrangement, dict[str, Box]]:
    """Return the arrays with the largest cells, and the rooms around them: words beside them, or above and below."""
    ways = (
        *(words_column(frame, parts.is_lens, has_right) for has_right in (False, True)),
        stacked_rooms(frame, parts.is_lens),
    )
    arranged, rooms = max(
        ((arranged_arrays(parts, inputs, room, frame.tiles), rooms) for room, rooms in ways),
        key=lambda each: each[0].cell * worth(each[1], frame),
    )
    return arranged, rooms if arranged.tiles is None else rooms | {"tiles": arranged.tiles}


@lru_cache(maxsize=64)
def arranged_arrays(parts: Parts, inputs: frozenset[str], room: Box, tiles: LaneTiles) -> Arrangement:
    """Return the arrangement in a room with the largest cells, which those of the tiles share if there is space."""
    ways: list[tuple[Direction, ...]] = list(product(("row", "column"), repeat=3))
    cell, way = _LEAST_CELL, ways[0]
    for each in ways:
        largest = _largest(parts, inputs, room, tiles, each, cell * _LARGER)
        cell, way = (largest, each) if largest > cell else (cell, way)
    placed, found = _whole(parts, inputs, room, tiles, way, cell)
    x, y = room.x + (room.width - placed.width) / 2, room.y + (room.height - placed.height) / 2
    grids = {part.name: _grid(part, left + x, top + y, cell) for part, left, top in placed.corners}
    at = None if found is None else Box(found.x + x, found.y + y, found.width, found.height)
    return Arrangement(grids, at, cell)


def _grid(part: ArrayPart, x: float, y: float, cell: float) -> CellGrid:
    rows, columns, step = part.rows, part.columns, part.whole[1] if len(part.shape) == 1 else 1
    return CellGrid(x, y, cell, rows[1] - rows[0], columns[1] - columns[0], (rows[0], columns[0]), step)


def _largest(
    parts: Parts, inputs: frozenset[str], room: Box, tiles: LaneTiles, way: tuple[Direction, ...], least: float
) -> float:
    """Return the largest cell with which one way of arranging fits the room; 0 if ``least`` does not fit."""

    def fits(cell: float) -> bool:
        placed, _ = _whole(parts, inputs, room, tiles, way, cell)
        return placed.width <= room.width and placed.height <= room.height

    low, high = 0.0, _LARGEST_CELL
    for _ in range(_STEPS if fits(least) else 0):
        cell = (low + high) / 2
        low, high = (cell, high) if fits(cell) else (low, cell)
    return low


def _whole(
    parts: Parts, inputs: frozenset[str], room: Box, tiles: LaneTiles, way: tuple[Direction, ...], cell: float
) -> tuple[_Placed, Box | None]:
    """Return all arrays in one way: the direction of inputs, tiles and outputs, and those within inputs and outputs."""
    main, of_inputs, of_outputs = way
    first = _joined([_one(part, cell) for part in parts.arrays if part.name in inputs], of_inputs)
    last = _joined([_one(part, cell) for part in parts.arrays if part.name not in inputs], of_outputs)
    if not tiles:
        return _joined([first, last], main), None
    wide, high = tiles_extent(tiles, cell, main == "column")
    wide, high = min(wide, _MOST_OF_TILES * room.width) + 2 * _GAP, min(high, _MOST_OF_TILES * room.height)
    between = _Placed(wide, 0.0) if main == "row" else _Placed(0.0, high)
    placed = _joined([first, between, last], main)
    if main == "row":
        return placed, Box(first.width + _GAP, 0.0, wide - 2 * _GAP, placed.height)
    left = min(left for _, left, _ in placed.corners)
    return placed, Box(left, first.height, placed.width - left - _PAD, high)


def _one(part: ArrayPart, cell: float) -> _Placed:
    """Return one array with the space for its name and its numbers."""
    rows, columns = part.rows[1] - part.rows[0], part.columns[1] - part.columns[0]
    beside = 12.0 + text_width(str(part.whole[0] * part.whole[1]), 16.0)
    wide = max(columns * cell, text_width(f"{part.name}  {' × '.join(map(str, part.shape))}", _NAME, "semibold"))
    return _Placed(beside + wide + _PAD, _HEAD + rows * cell + _FOOT, ((part, beside, _HEAD),))


def _joined(placed: list[_Placed], direction: Direction) -> _Placed:
    """Return several arrangements side by side or one below the other, centred across."""
    is_row = direction == "row"
    lengths = [each.width if is_row else each.height for each in placed]
    across = max((each.height if is_row else each.width for each in placed), default=0.0)
    corners: list[tuple[ArrayPart, float, float]] = []
    at = 0.0
    for each, length in zip(placed, lengths, strict=True):
        aside = (across - (each.height if is_row else each.width)) / 2
        corners += each.moved(*((at, aside) if is_row else (aside, at))).corners
        at += length
    return _Placed(at, across, tuple(corners)) if is_row else _Placed(across, at, tuple(corners))
