"""The cross of the three matrices and the rooms around it: B above C, A on its left, the lanes of shared memory in the corner
between them, words on the left, the request and source lines on the right.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Literal

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.records import replace
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import Range
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.layout import REST, Box, Point, Share
from gemmviz.scenes.kit.primitives import Anchor
from gemmviz.scenes.kit.text import CAP_HEIGHT, text_width
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.scenes.kit.view import MARGIN
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.cells import CellGrid, cells_side_by_side

# The places of the shared arrays: copies of A in a lane above A, copies of B in a lane on the left of B, so that every copy
# moves straight into its lane; arrays with other contents in what is left of the corner between the lanes.

LaneSide = Literal["A", "B", ""]
_LOOKED_AT = 8  # stores of each site whose origins are looked at
_MOST_BEYOND = 4  # rows or columns of padding beyond a matrix
_BETWEEN_TILES = 16.0  # between arrays that share a lane
_NAMED, _INSET = 40.0, 12.0  # height of the name of an array of no lane, and its distance from the edges of the corner


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

    def beside(self, side: LaneSide) -> list[LaneTile]:
        return [each for each in self.tiles if each.side == side]


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
    corner, (cell_a, cell_b, cell), grids = lanes.corner, lanes.cells, dict[int, CellGrid]()

    def within(at: float, start: float, extent: float, length: float) -> float:
        return max(start, min(at, start + extent - length))

    y = corner.y + _NAMED
    for each in lanes.beside(""):
        grids[each.number] = CellGrid(corner.x + _INSET, y, cell, each.rows, each.columns)
        y += each.rows * cell + _NAMED
    y = corner.bottom - lanes.high
    for each in lanes.beside("A"):
        wide = each.columns * cell_a
        x = within(_tile_start(moment, "A", 1, a.origin[0], a.cell, wide), corner.x, corner.width, wide)
        grids[each.number] = CellGrid(x, y, cell_a, each.rows, each.columns)
        y += each.rows * cell_a + _BETWEEN_TILES
    x = corner.right - lanes.wide
    for each in lanes.beside("B"):
        tall = each.rows * cell_b
        free = corner.height - (lanes.high if tall <= corner.height - lanes.high else 0.0)
        y = within(_tile_start(moment, "B", 0, b.origin[1], b.cell, tall), corner.y, free, tall)
        grids[each.number] = CellGrid(x, y, cell_b, each.rows, each.columns)
        x += each.columns * cell_b + _BETWEEN_TILES
    return grids


def _tile_start(moment: Moment, name: str, axis: int, origin: float, cell: float, length: float) -> float:
    """Return where a tile begins that stands over what is read of a matrix along an axis: at its beginning if it is as long, or
    longer because it holds padding beyond the matrix's edge, else in its middle.
    """
    first, last, is_at_edge = _read_along(moment, name, axis)
    low, high = origin + first * cell, origin + last * cell
    is_level = abs(high - low - length) < 0.5 * cell or (is_at_edge and high - low < length)
    return low if is_level else (low + high - length) / 2


def _read_along(moment: Moment, name: str, axis: int) -> tuple[int, int, bool]:
    """Return the rows or columns of a matrix that are read in this phase, or in the nearest one that reads any, and whether
    they end at the matrix's edge.
    """
    number = moment.trace.number_of(name)
    area = None if number is None else moment.area(number)
    if area is None and (areas := moment.areas(name)):
        area = areas[min(areas, key=lambda phase: abs(phase - moment.phase))]
    if number is None or area is None:
        return 0, 1, True
    first, last = area[2 * axis], area[2 * axis + 1]
    return first, last, last == moment.trace.arrays[number].extents[axis]


def _free_cell(tiles: Sequence[LaneTile], width: float, height: float, cell: float) -> float:
    """Return the largest side of a cell, at most ``cell``, with which the arrays of no lane fit what is left of the corner."""
    others = [each for each in tiles if not each.side]
    if not others:
        return cell
    rows, columns = sum(each.rows for each in others), max(each.columns for each in others)
    return max(1.0, min(cell, (width - 2 * _INSET) / columns, (height - _NAMED * len(others) - _INSET) / rows))


@lru_cache(maxsize=32)
def tiles_in(tiles: tuple[LaneTile, ...], room: Box, most: float) -> dict[int, CellGrid]:
    """Return the grids of shared arrays in a room of their own, side by side or stacked, whichever makes them larger; a cell
    is at most ``most`` wide.
    """
    shapes = {each.number: (each.rows, each.columns) for each in tiles}
    in_row = cells_side_by_side(shapes, room, _NAMED, _NAMED, most, 0.5, 0.5)
    return max((in_row, _stacked_tiles(tiles, room, most)), key=lambda grids: next(iter(grids.values())).cell)


def _stacked_tiles(tiles: tuple[LaneTile, ...], room: Box, most: float) -> dict[int, CellGrid]:
    columns, rows = max(each.columns for each in tiles), sum(each.rows for each in tiles)
    high = room.height - _NAMED * len(tiles)
    cell = max(1.0, min(room.width / columns, high / rows, most))
    y, grids = room.y + (high - rows * cell) / 2, {}
    for each in tiles:
        x = room.x + (room.width - each.columns * cell) / 2
        grids[each.number] = CellGrid(x, y + _NAMED, cell, each.rows, each.columns)
        y = grids[each.number].bottom
    return grids


def tiles_extent(tiles: tuple[LaneTile, ...], cell: float, side_by_side: bool) -> tuple[float, float]:
    """Return the width and the height of shared arrays with cells of this size, side by side or stacked, with their titles."""
    rows, columns = [each.rows for each in tiles], [each.columns for each in tiles]
    if side_by_side:
        return sum(columns) * cell + _NAMED * (len(tiles) - 1), max(rows) * cell + _NAMED
    return max(columns) * cell, sum(rows) * cell + _NAMED * len(tiles)


# The cross

_GAP, _LANE_GAP, _LANE_APART = 26.0, 20.0, 6.0  # between the matrices; between a matrix and its lane; between the lanes
_NUMBERED = 8.0  # what a gap with the numbers of columns is higher than these
_LEAST_CELL, _LARGEST_CELL = 1e-3, 96.0
_MOST_OF_LANE = 0.5  # of the height or width of the cross, for the lanes
_EDGE, _LOW, _AIR = 14.0, 6.0, 10.0
_BOTTOM, _UNDER_NAME = 8.0, 8.0  # below C; between a title and what stands under it
_WIDE, _WORTH, _WORTH_IF_WIDE = 1500.0, 1.15, 2.0  # how much larger cells must be to give up the room of the request for them
_LEFT_SHARE, _LEAST_LEFT, _MOST_LEFT = 0.235, 240.0, 620.0
_RIGHT_SHARE, _LEAST_RIGHT, _GUTTER = 0.43, 276.0, 26.0
_OF_FREE = 0.6  # share of the free width that a column of words alone takes
_SENTENCE, _MOST_SENTENCE, _LEGEND = 236.0, 0.42, 100.0  # heights; of the column of words
_LOW_SENTENCE = 0.62 * _SENTENCE  # above a cross
_ROW, _BETWEEN = 190.0, 18.0  # height of the row of rooms below a cross; between rooms
_LEAST_CORNER = 210.0
_LEAST_ROOM_WIDTH = 230.0
_LEAST_HEIGHTS = {"sum": 110.0, "meter": 130.0, "code": 100.0, "request": 320.0, "map": 96.0}
_ROOM_SHARES = {"sum": 1.3, "meter": 1.0, "code": 0.6, "request": 1.6, "map": 0.8}  # of what is left
_BY_WEIGHT = ("meter", "sum", "code", "request", "map")  # rooms that are left out last first
Rooms = dict[str, Box]


class Title(Struct, frozen=True):
    """The place of a matrix's title: its baseline, and where it is anchored."""

    x: float
    y: float
    anchor: Anchor


class StageFrame(Struct, frozen=True):
    """What a layout depends on besides the window: the shared arrays, the size of the frame, and which parts there are.

    ``foot``: height of the timeline at the lower edge; ``beyond``: rows below A and C, and columns on the right of B and C, for
    padding; ``has_several``: whether a thread has several sums; ``has_statement``: whether the statement that runs is shown.
    """

    tiles: tuple[LaneTile, ...]
    width: float
    height: float
    has_code: bool
    has_legend: bool
    foot: float
    type: TypeSizes
    beyond: tuple[int, int] = (0, 0)
    has_several: bool = False
    has_statement: bool = True

    @property
    def bottom(self) -> float:
        return self.height - self.foot - _LOW

    @property
    def left(self) -> float:
        """Width of the column of words on the left."""
        return min(max(_LEAST_LEFT, _LEFT_SHARE * self.width), _MOST_LEFT)

    @property
    def head(self) -> float:
        """Height of the sentence and the legend above a picture."""
        return _LOW_SENTENCE + (_LEGEND if self.has_legend else 0.0)

    @property
    def numbered_gap(self) -> float:
        """Height of the gap above A and C, where the numbers of their columns stand."""
        return self.type.least + _NUMBERED


class Cross(Struct, frozen=True):
    """Everything that has a place: the grids of the matrices, the corner, the titles, and the rooms by name."""

    matrices: dict[str, CellGrid]
    lanes: Lanes | None
    titles: dict[str, Title]
    rooms: Rooms


class _CrossAxis(Struct, frozen=True):
    """A cross in one direction: the numbers of cells of the corner, of C, of its padding and of the lane, and the units between
    them.
    """

    corner: int
    own: int
    padding: int
    lane: int
    gap: float

    def cell(self, length: float) -> float:
        """Return the cell that fills a length; the lane takes at most its share."""
        cells, length = self.corner + self.own + self.padding, length - self.gap
        return max(length / (cells + self.lane), (1 - _MOST_OF_LANE) * length / cells)

    def lane_size(self, cell: float) -> float:
        return min(self.lane * cell, _MOST_OF_LANE / (1 - _MOST_OF_LANE) * (self.corner + self.own) * cell)

    def before(self, cell: float) -> float:
        """Return what is on the left of C, or above it."""
        return self.corner * cell + self.lane_size(cell) + self.gap

    def extent(self, cell: float) -> float:
        return self.before(cell) + (self.own + self.padding) * cell


class _Bands(Struct, frozen=True):
    """What numbers and titles take on each side of the matrices; ``numbers``: those of rows alone, left and right.
    ``is_beside``: titles stand beside the matrices, else above and below them.
    """

    left: float
    top: float
    right: float
    bottom: float
    numbers: tuple[float, float]
    is_beside: bool


class _Making:
    """Makes crosses of one window in one frame."""

    def __init__(self, window: Window, frame: StageFrame, is_beside: bool, is_stacked: bool = False) -> None:
        self.window, self.frame = window, frame
        (rows, columns), (m, n, _), (low, right) = lane_extents(frame.tiles), window.counts, frame.beyond
        k_rows, k_columns = _corner_extents(frame.tiles, window.k, window.whole[2])
        self.across = _CrossAxis(k_columns, n, right, columns, _LANE_GAP + _LANE_APART if columns else _GAP)
        self.down = _CrossAxis(k_rows, m, low, rows, frame.numbered_gap + (_LANE_APART if rows else 0.0))
        self.bands = self._bands(is_beside, is_stacked)

    def _bands(self, is_beside: bool, is_stacked: bool) -> _Bands:
        """Return the space for numbers and titles."""
        window, sizes = self.window, self.frame.type
        left = text_width(str(window.m[1]), sizes.least) + _AIR
        right = text_width(str(max(window.m[1], window.k[1])), sizes.least) + _AIR
        title = sizes.name + _UNDER_NAME
        if not is_beside:
            return _Bands(left, title + _EDGE, right, title, (left, right), False)
        texts = (title_text(each, window.extents(each)) for each in "ABC")
        a, *others = (text_width(text, sizes.name, "semibold") + _AIR for text in texts)
        return _Bands(left + a if is_stacked else left, _EDGE, right + max(others), _BOTTOM, (left, right), True)

    def inner(self, room: Box) -> Box:
        """Return what is left for cells of a room."""
        bands = self.bands
        return room.trimmed(bands.left, bands.top, bands.right, bands.bottom)

    def cell(self, inner: Box) -> float:
        """Return the largest cell with which a cross fits."""
        return max(_LEAST_CELL, min(self.across.cell(inner.width), self.down.cell(inner.height), _LARGEST_CELL))

    def box(self, inner: Box, cell: float) -> Box:
        """Return the box of the cross in the middle of its room."""
        wide, high = self.across.extent(cell), self.down.extent(cell)
        x, y = (max(0.0, (whole - own) / 2) for whole, own in ((inner.width, wide), (inner.height, high)))
        return Box(inner.x + x, inner.y + y, wide, high)

    def drawn(self, corner: Point, cell: float) -> Cross:
        """Return the cross with A's left edge and B's upper edge at a point."""
        x, y = corner
        c_x, c_y = x + self.across.before(cell), y + self.down.before(cell)
        grids = {}
        for name, (left, top) in {"A": (x, c_y), "B": (c_x, y), "C": (c_x, c_y)}.items():
            rows, columns = self.window.of(name)
            grids[name] = CellGrid(left, top, cell, rows[1] - rows[0], columns[1] - columns[0], (rows[0], columns[0]))
        has_tiles = bool(self.frame.tiles)
        return Cross(grids, self._lanes(Box(x, y, c_x - x, c_y - y), cell) if has_tiles else None, self._titles(grids), {})

    def _lanes(self, corner: Box, cell: float) -> Lanes:
        tiles, rows, columns = self.frame.tiles, self.down.lane, self.across.lane
        high, wide = self.down.lane_size(cell), self.across.lane_size(cell)
        inner = corner.trimmed(right=_LANE_GAP if columns else _GAP, bottom=self.frame.numbered_gap)
        cells = high / rows if rows else cell, wide / columns if columns else cell
        return Lanes(tiles, inner, high, wide, (*cells, _free_cell(tiles, inner.width - wide, inner.height - high, cell)))

    def _titles(self, grids: dict[str, CellGrid]) -> dict[str, Title]:
        """Return the places of the titles: A at its lower left, B at its upper right, C at its lower right, all outside."""
        (a, b, c), (down, across) = (grids[name] for name in "ABC"), self.frame.beyond
        capital, (before, behind) = CAP_HEIGHT * self.frame.type.name, self.bands.numbers
        right, low = c.right + across * c.cell, c.bottom + down * c.cell
        if self.bands.is_beside:
            after = right + behind + _AIR
            a_title = Title(a.x - before - _AIR, low, "end")
            return {"A": a_title, "B": Title(after, b.y + capital, "start"), "C": Title(after, low, "start")}
        base, above = low + _AIR + capital, b.y - _AIR
        return {"A": Title(a.x, base, "start"), "B": Title(right, above, "end"), "C": Title(right, base, "end")}


def _corner_extents(tiles: Sequence[LaneTile], k: Range, whole: int) -> tuple[int, int]:
    """Return the rows and columns of cells that the corner needs besides its lanes: those of the visible ``k`` of ``whole``,
    and more for padding beyond them and for arrays that are longer, so that no two cover each other.
    """
    _, columns = lane_extents(tiles)
    seen, high = k[1] - k[0], max((each.rows for each in tiles if each.side == "B"), default=0)
    padding = -whole % high if high and k[1] == whole else 0
    return max(seen + padding, high), max([seen, *(each.columns - columns for each in tiles if each.side == "A")])


def title_text(name: str, shape: tuple[int, ...]) -> str:
    """Return the title of a matrix: "A 8 × 8"."""
    return f"{name}  {' × '.join(map(str, shape))}"


def cross_cell(window: Window, frame: StageFrame, room: Box) -> float:
    """Return the largest cell of a cross that fills a box with its numbers and titles."""
    making = _Making(window, frame, False)
    return making.cell(making.inner(room))


def cross_at(window: Window, frame: StageFrame, room: Box, cell: float) -> Cross:
    """Return a cross with cells of this size in the middle of a box, without rooms."""
    making = _Making(window, frame, False)
    return making.drawn(making.box(making.inner(room), cell)[:2], cell)


# The cross with its rooms

_Way = tuple[float, Callable[[float], Cross]]


def cross_in(window: Window, frame: StageFrame) -> Cross:
    """Return the arrangement with the largest cells, unless one with a little smaller cells has room for the request: words
    beside the cross or above and below it.
    """
    ways = [_cross_beside(window, frame, *way) for way in product((False, True), repeat=2)]
    ways += [_stacked(window, frame, is_beside) for is_beside in (False, True)]
    made = [(cell, draw(cell)) for cell, draw in ways]
    return max(made, key=lambda each: each[0] * worth(each[1].rooms, frame))[1]


def worth(rooms: Rooms, frame: StageFrame) -> float:
    """Return by what the size of cells counts more because there is a room for the request."""
    if "request" not in rooms:
        return 1.0
    return _WORTH_IF_WIDE if frame.width >= _WIDE else _WORTH


def _cross_beside(window: Window, frame: StageFrame, is_beside: bool, has_right: bool) -> _Way:
    """Return the cell, and what draws with it, of a cross beside a column of words, or between two of them (``has_right``)."""
    making = _Making(window, frame, is_beside)
    bands, start = making.bands, MARGIN + frame.left + _GUTTER
    room = Box(start, 0.0, frame.width - start - _EDGE, frame.bottom)
    inner, columns = making.inner(room), frame.width - 2 * MARGIN - 2 * _GUTTER
    cell = making.cell(inner)
    if has_right:
        between = columns - _LEAST_RIGHT / _RIGHT_SHARE - 1.0 - sum(bands.numbers)
        cell = min(cell, making.cell(inner._replace(width=between)))

    def draw(cell: float) -> Cross:
        box = making.box(inner, cell)
        around = columns - bands.left - bands.numbers[1] - box.width
        right = _RIGHT_SHARE * around if _RIGHT_SHARE * around >= _LEAST_RIGHT else 0.0
        own = around - right if right else min(frame.left + _OF_FREE * max(0.0, inner.width - box.width), _MOST_LEFT)
        made = making.drawn((MARGIN + own + _GUTTER + bands.left, box.y), cell)
        title = frame.type.name + _UNDER_NAME
        top, low = (box.y + title, box.bottom - title) if is_beside else (_EDGE + _AIR, frame.bottom - _LOW)
        words = Box(MARGIN, _EDGE + _AIR, own, low - _EDGE - _AIR)
        beside = Box(frame.width - MARGIN - right, top, right, low - top)
        return replace(made, rooms=_column_rooms(window, frame, made, words, beside))

    return cell, draw


def _column_rooms(window: Window, frame: StageFrame, made: Cross, left: Box, right: Box) -> Rooms:
    """Return the rooms in the corner and in the columns on both sides; without a right column, one of no width, all on the
    left.
    """
    corner, lens = _corner_room(made), _map_room(window.is_lens)
    if not right.width:
        own = () if corner else ("sum",)
        return corner | _left_rooms(left, frame, (*own, "meter", "code", "request", *lens))
    words, beside = (("meter", "code"), ("request",)) if corner else (("sum", "meter"), ("request", "code"))
    return corner | _left_rooms(left, frame, words) | _rooms_in_column(right, (*beside, *lens), frame)


def _stacked(window: Window, frame: StageFrame, is_beside: bool) -> _Way:
    """Return the cell, and what draws with it, of a cross below the sentence and above a row of rooms."""
    making = _Making(window, frame, is_beside, is_stacked=True)
    room = Box(_EDGE, frame.head, frame.width - 2 * _EDGE, frame.bottom - frame.head - _ROW)
    inner = making.inner(room)

    def draw(cell: float) -> Cross:
        box = making.box(inner, cell)._replace(y=inner.y)
        made = making.drawn(box[:2], cell)
        corner = _corner_room(made)
        rooms = _rooms_around(frame, box.bottom + making.bands.bottom + _BETWEEN, window.is_lens, not corner) | corner
        return replace(made, rooms=rooms)

    return making.cell(inner), draw


def words_column(frame: StageFrame, is_lens: bool, has_right: bool) -> tuple[Box, Rooms]:
    """Return the place of the arrays beside one column of words, or between two of them (``has_right``), and their rooms."""
    whole = Box(MARGIN, _EDGE, frame.width - 2 * MARGIN, frame.bottom - _EDGE)
    if not has_right:
        words, arrays = whole.columns(frame.left, REST, gap=_GUTTER)
        return arrays, _left_rooms(words.trimmed(top=_AIR), frame, _other_rooms(is_lens, False))
    words, arrays, right = whole.columns(frame.left, REST, _LEAST_RIGHT, gap=_GUTTER)
    rooms = _left_rooms(words.trimmed(top=_AIR), frame, ("meter", "code"))
    return arrays, rooms | _rooms_in_column(right.trimmed(top=_AIR), ("request", *_map_room(is_lens)), frame)


def stacked_rooms(frame: StageFrame, is_lens: bool) -> tuple[Box, Rooms]:
    """Return the place of the arrays below the sentence and above a row of rooms, and these."""
    low = frame.bottom - _ROW
    room = Box(MARGIN, frame.head, frame.width - 2 * MARGIN, low - frame.head)
    return room, _rooms_around(frame, low + _BETWEEN, is_lens, False)


def _other_rooms(is_lens: bool, has_sum: bool) -> tuple[str, ...]:
    """Return all rooms besides those of the sentence and the legend."""
    return (*(("sum",) if has_sum else ()), "meter", "request", "code", *_map_room(is_lens))


def _map_room(is_lens: bool) -> tuple[str, ...]:
    return ("map",) if is_lens else ()


def _rooms_around(frame: StageFrame, below: float, is_lens: bool, has_sum: bool) -> Rooms:
    """Return the rooms above a picture, and those from ``below`` to the timeline side by side."""
    across = frame.width - 2 * MARGIN
    rooms = {"sentence": Box(MARGIN, _EDGE, across, _LOW_SENTENCE - _EDGE)}
    rooms |= {"legend": Box(MARGIN, _LOW_SENTENCE, across, _LEGEND)} if frame.has_legend else {}
    row = Box(MARGIN, below, across, frame.bottom - below)
    names = tuple(name for name in _other_rooms(is_lens, has_sum) if _LEAST_HEIGHTS[name] <= row.height)
    names = tuple(name for name in names if name != "code" or frame.has_statement)
    names = _rooms_that_fit(names, row.width, dict.fromkeys(_ROOM_SHARES, _LEAST_ROOM_WIDTH), MARGIN)
    return rooms | dict(zip(names, row.columns(*[REST] * len(names), gap=MARGIN), strict=True))


def _corner_room(made: Cross) -> Rooms:
    """Return the place of the sum between A and B, where no shared memory takes it; nothing if it is too small."""
    a, b = made.matrices["A"], made.matrices["B"]
    room = Box(a.x, b.y, b.x - _GAP - a.x, a.y - _GAP - b.y)
    return {"sum": room} if made.lanes is None and min(room.width, room.height) >= _LEAST_CORNER else {}


def _left_rooms(box: Box, frame: StageFrame, others: tuple[str, ...]) -> Rooms:
    """Divide the column on the left: the sentence, then the legend, then the ``others``."""
    legend = (_LEGEND,) if frame.has_legend else ()
    sentence, *some, rest = box.rows(min(_SENTENCE, _MOST_SENTENCE * box.height), *legend, REST, gap=_BETWEEN)
    return {"sentence": sentence, **dict(zip(("legend",), some, strict=False)), **_rooms_in_column(rest, others, frame)}


def _rooms_in_column(box: Box, names: tuple[str, ...], frame: StageFrame) -> Rooms:
    """Divide a box from top to bottom. Rooms for which there is no space are left out, those that matter least first."""
    names = tuple(name for name in names if name != "code" or frame.has_statement)
    names = _rooms_that_fit(names, box.height, _LEAST_HEIGHTS, _BETWEEN)
    larger = {"code": 2.0 if frame.has_code else 1.0, "sum": 4.0 if frame.has_several else 1.0}
    shares = [Share(_ROOM_SHARES[name] * larger.get(name, 1.0)) for name in names]
    least = [_LEAST_HEIGHTS[name] for name in names]
    more = box.trimmed(bottom=sum(least)).rows(*shares, gap=_BETWEEN)
    heights = [low + each.height for low, each in zip(least, more, strict=True)]
    return dict(zip(names, box.rows(*heights, gap=_BETWEEN), strict=True))


def _rooms_that_fit(names: tuple[str, ...], extent: float, least: dict[str, float], gap: float) -> tuple[str, ...]:
    """Return the names, in their order, without those for which there is no space."""
    kept = list(names)
    for name in reversed(_BY_WEIGHT):
        if name in kept and sum(least[each] + gap for each in kept) - gap > extent:
            kept.remove(name)
    return tuple(kept)
