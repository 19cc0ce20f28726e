"""The cross of the three matrices and the rooms around it: B above C, A on its left, the lanes of shared memory in the corner
between them, and words on the left, above, or in a corner without shared memory.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import Range
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.layout import REST, Box, Point
from gemmviz.scenes.kit.primitives import CAP_HEIGHT, Anchor, text_width
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.cells import CellGrid, cells_side_by_side

# The places of the shared arrays, which they keep during the whole run: copies of A in a lane above A, copies of B in a lane on
# the left of B, arrays with other contents in what is left of the corner between the lanes.

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


class LaneLayout(Struct, frozen=True):
    """The corner between A and B. ``corner``: its box; ``cells``: the height of a cell above A, beside B and elsewhere;
    ``stretch``: the width of a cell, in its height.
    """

    tiles: tuple[LaneTile, ...]
    corner: Box
    cells: tuple[float, float, float]
    stretch: float = 1.0

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


def _longest(tiles: Sequence[LaneTile]) -> tuple[int, int]:
    """Return the columns of the widest array in the lane above A, and the rows of the highest in the lane beside B."""
    columns = (each.columns for each in tiles if each.side == "A")
    return max(columns, default=0), max((each.rows for each in tiles if each.side == "B"), default=0)


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


@lru_cache(maxsize=64)
def lane_grids(lanes: LaneLayout) -> dict[int, CellGrid]:
    """Return the grids of all shared arrays by number: those above A on the left of the lane beside B, and those beside B above
    the lane of A if that part of the corner is high enough, else at its lower edge. Each is in the middle of its part.
    """
    corner, stretch, grids = lanes.corner, lanes.stretch, dict[int, CellGrid]()
    above, level, free = lanes.cells

    def grid(tile: LaneTile, x: float, y: float, cell: float) -> CellGrid:
        return CellGrid(x, y, cell, tile.rows, tile.columns, stretch=stretch)

    y = corner.y + _NAMED
    for each in lanes.beside(""):
        grids[each.number] = grid(each, corner.x + _INSET, y, free)
        y += each.rows * free + _NAMED
    y = top = corner.bottom - _lane_length(lanes.beside("A"), above, "A")
    x = corner.right - _lane_length(lanes.beside("B"), level * stretch, "B")
    left = x - _LANE_APART if lanes.beside("B") else x
    for each in lanes.beside("A"):
        grids[each.number] = grid(each, (corner.x + left - each.columns * above * stretch) / 2, y, above)
        y += each.rows * above + _BETWEEN_TILES
    for each in lanes.beside("B"):
        tall, high = each.rows * level, top - corner.y
        grids[each.number] = grid(each, x, corner.y + (high - tall) / 2 if tall <= high + 1 else corner.bottom - tall, level)
        x += each.columns * level * stretch + _BETWEEN_TILES
    return grids


def _lane_length(tiles: Sequence[LaneTile], side: float, lane: LaneSide) -> float:
    """Return the height of the arrays one below the other above A, or their width side by side beside B."""
    cells = sum(each.rows if lane == "A" else each.columns for each in tiles)
    return cells * side + _BETWEEN_TILES * max(0, len(tiles) - 1)


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

_GAP, _LANE_GAP, _LANE_APART = 26.0, 20.0, 6.0  # between the matrices; between a matrix and its lane; between tiles of both
_NUMBERED = 8.0  # what a gap with the numbers of columns is higher than these
_LEAST_CELL, _LARGEST_CELL = 1e-3, 120.0
_MOST_OF_LANE = 0.5  # of the height or width of the cross, for what the lanes need beyond the visible k
_MOST_STRETCH = 1.5  # width of a cell, in its height
_MARGIN_SHARE, _LEAST_MARGIN = 0.048, 15.0  # between the drawing and the frame: of the height of a frame
_LOW, _AIR = 10.0, 10.0
_UNDER_NAME = 8.0  # between a title and what stands under it
_LEFT_SHARE, _LEAST_LEFT, _MOST_LEFT, _GUTTER = 0.19, 250.0, 620.0, 26.0  # of a column of words; between it and the cross
_SENTENCE, _MOST_SENTENCE, _LEGEND = 200.0, 0.42, 146.0  # heights; of the column of words
_STATEMENT, _SOURCE, _MAP, _LEAST_DETAIL = 142.0, 240.0, 150.0, 170.0  # heights of rooms
_STRIP, _LEAST_STRIP_CELLS = 0.27, 1.1  # height of words above a cross, of the frame; how much larger cells must be for them
_WIDE_ROOM = 1.3  # width of a room that is divided into two columns, of its height
_CORNER = (500.0, 300.0)  # the least corner that has room for the words
_LOW_CODE, _BETWEEN = 0.3, 18.0  # height of the source beside a detail, of the room; between rooms
Rooms = dict[str, Box]


class Title(Struct, frozen=True):
    """The place of a matrix's title: its baseline, and where it is anchored."""

    x: float
    y: float
    anchor: Anchor


class StageFrame(Struct, frozen=True):
    """What a layout depends on besides the window: the shared arrays, the size of the frame, and which parts there are.

    ``foot``: height of the timeline at the lower edge; ``beyond``: rows below A and C, and columns on the right of B and C, for
    padding; ``has_statement``, ``has_sentence``: whether the statement that runs and the words about the step are shown.
    """

    tiles: tuple[LaneTile, ...]
    width: float
    height: float
    has_code: bool
    has_legend: bool
    foot: float
    type: TypeSizes
    beyond: tuple[int, int] = (0, 0)
    has_statement: bool = True
    has_sentence: bool = True

    @property
    def margin(self) -> float:
        """What is left free along the edges of the frame."""
        return max(_LEAST_MARGIN, _MARGIN_SHARE * self.height)

    @property
    def room(self) -> Box:
        """The place of everything but the timeline."""
        low = self.foot + _LOW if self.foot else self.margin
        return Box(self.margin, self.margin, self.width - 2 * self.margin, self.height - self.margin - low)

    @property
    def left(self) -> float:
        """The least width of a column of words on the left."""
        return max(_LEAST_LEFT, _LEFT_SHARE * self.width)

    @property
    def numbered_gap(self) -> float:
        """Height of the gap above A and C, where the numbers of their columns stand."""
        return self.type.least + _NUMBERED


class Cross(Struct, frozen=True):
    """Everything that has a place: the grids of the matrices, the corner, the titles, and the rooms by name."""

    matrices: dict[str, CellGrid]
    lanes: LaneLayout | None
    titles: dict[str, Title]
    rooms: Rooms


class _CrossAxis(Struct, frozen=True):
    """A cross in one direction: the numbers of cells of the corner, of C, of its padding and of what the lanes need beyond the
    corner, and the units between them.
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

    def before(self, cell: float) -> float:
        """Return what is on the left of C, or above it."""
        lane = min(self.lane * cell, _MOST_OF_LANE / (1 - _MOST_OF_LANE) * (self.corner + self.own) * cell)
        return self.corner * cell + lane + self.gap

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
    """Makes crosses of one window in one frame. Cells are ``stretch`` times as wide as high."""

    def __init__(self, window: Window, frame: StageFrame, is_beside: bool, has_left: bool = False) -> None:
        self.window, self.frame = window, frame
        (rows, columns), (m, n, k), (low, right) = lane_extents(frame.tiles), window.counts, frame.beyond
        self.is_named = rows + _longest(frame.tiles)[1] > k
        k_rows, k_columns = _corner_extents(frame.tiles, window.k, window.whole[2])
        more_rows, more_columns = _beyond_corner(frame.tiles, k_rows, k_columns)
        gap = frame.numbered_gap + (_NAMED if self.is_named else 0.0)
        self.across = _CrossAxis(k_columns, n, right, more_columns, _LANE_GAP + _LANE_APART if columns else _GAP)
        self.down = _CrossAxis(k_rows, m, low, more_rows, gap)
        self.bands = self._bands(is_beside, has_left)

    def _bands(self, is_beside: bool, has_left: bool) -> _Bands:
        """Return the space for numbers and titles; ``has_left``: with space for A's title on its left."""
        window, sizes, (m, _, k) = self.window, self.frame.type, self.window.whole
        left, right = (text_width("0" * len(str(each)), sizes.least) + _AIR for each in (m, max(m, k)))
        title = sizes.name + _UNDER_NAME
        if not is_beside:
            return _Bands(left, title + _AIR, right, title, (left, right), False)
        texts = (title_text(each, window.extents(each)) for each in "ABC")
        a, *others = (text_width(text, sizes.name, "semibold") + _AIR for text in texts)
        return _Bands(left + a if has_left else left, 0.0, right + max(others), 0.0, (left, right), True)

    def inner(self, room: Box) -> Box:
        """Return what is left for cells of a room."""
        bands = self.bands
        return room.trimmed(bands.left, bands.top, bands.right, bands.bottom)

    def cell(self, inner: Box) -> float:
        """Return the largest square cell with which a cross fits."""
        return max(_LEAST_CELL, min(self.across.cell(inner.width), self.down.cell(inner.height), _LARGEST_CELL))

    def stretch(self, inner: Box, cell: float) -> float:
        """Return how wide cells of a height can be, in their height."""
        return max(1.0, min(self.across.cell(inner.width) / cell, _MOST_STRETCH))

    def box(self, inner: Box, cell: float, stretch: float = 1.0) -> Box:
        """Return the box of the cross in the middle of its room."""
        wide, high = self.across.extent(cell * stretch), self.down.extent(cell)
        x, y = (max(0.0, (whole - own) / 2) for whole, own in ((inner.width, wide), (inner.height, high)))
        return Box(inner.x + x, inner.y + y, wide, high)

    def drawn(self, corner: Point, cell: float, stretch: float = 1.0) -> Cross:
        """Return the cross with A's left edge and the corner's upper edge at a point."""
        x, y = corner
        c_x, c_y = x + self.across.before(cell * stretch), y + self.down.before(cell)
        b_y = y + (_NAMED if self.is_named else 0.0)
        grids = {}
        for name, (left, top) in {"A": (x, c_y), "B": (c_x, b_y), "C": (c_x, c_y)}.items():
            rows, columns = self.window.of(name)
            counts = rows[1] - rows[0], columns[1] - columns[0]
            grids[name] = CellGrid(left, top, cell, *counts, (rows[0], columns[0]), stretch=stretch)
        lanes = self._lanes(Box(x, y, c_x - x, c_y - y), cell, stretch) if self.frame.tiles else None
        return Cross(grids, lanes, self._titles(grids), {})

    def _lanes(self, corner: Box, cell: float, stretch: float) -> LaneLayout:
        tiles, (rows, columns), (wide, high) = self.frame.tiles, lane_extents(self.frame.tiles), _longest(self.frame.tiles)
        inner = corner.trimmed(right=_LANE_GAP if columns else _GAP, bottom=self.frame.numbered_gap)
        free = inner.trimmed(top=_NAMED if self.is_named else 0.0)
        gaps = [_BETWEEN_TILES * max(0, sum(each.side == side for each in tiles) - 1) for side in "AB"]
        above = min(cell, (free.height - gaps[0]) / rows) if rows else cell
        width = (inner.width - above * stretch * wide - gaps[1] - _LANE_APART) / (columns * stretch) if columns else cell
        beside = min(cell, free.height / high, width) if high else cell
        elsewhere = _free_cell(tiles, (inner.width - columns * beside * stretch) / stretch, inner.height - rows * above, cell)
        return LaneLayout(tiles, inner, (above, beside, elsewhere), stretch)

    def _titles(self, grids: dict[str, CellGrid]) -> dict[str, Title]:
        """Return the places of the titles: A at its lower left, B at its upper right, C at its lower right, all outside."""
        (a, b, c), (down, across) = (grids[name] for name in "ABC"), self.frame.beyond
        capital, (before, behind) = CAP_HEIGHT * self.frame.type.name, self.bands.numbers
        right, low = c.right + across * c.wide, c.bottom + down * c.cell
        if self.bands.is_beside:
            after = right + behind + _AIR
            a_title = Title(a.x - before - _AIR, low, "end")
            return {"A": a_title, "B": Title(after, b.y + capital, "start"), "C": Title(after, low, "start")}
        base, above = low + _AIR + capital, b.y - _AIR
        return {"A": Title(a.x, base, "start"), "B": Title(right, above, "end"), "C": Title(right, base, "end")}

    def map_room(self, made: Cross) -> Rooms:
        """Return the place of the map on the right of C, above its title; nothing without a lens, or where no title is."""
        if not self.window.is_lens or not self.bands.is_beside:
            return {}
        c, title = made.matrices["C"], made.titles["C"]
        wide = self.bands.right - self.bands.numbers[1] - _AIR
        high = min(_MAP, c.rows * c.cell - self.frame.type.name - _BETWEEN)
        return {"map": Box(title.x, title.y - self.frame.type.name - _BETWEEN - high, wide, high)}


def _corner_extents(tiles: Sequence[LaneTile], k: Range, whole: int) -> tuple[int, int]:
    """Return the rows and columns of cells of the corner without what its lanes need beyond it: those of the visible ``k`` of
    ``whole``, and more for padding beyond them and for arrays that are longer.
    """
    wide, high = _longest(tiles)
    rows, columns = (max(k[1] - k[0] + (-whole % length if length and k[1] == whole else 0), length) for length in (high, wide))
    return rows, columns


def _beyond_corner(tiles: Sequence[LaneTile], rows: int, columns: int) -> tuple[int, int]:
    """Return the rows and columns that the lanes need beyond those of the corner, so that no two arrays cover each other."""
    high, wide = lane_extents(tiles)
    if any(not each.side for each in tiles):
        return high, wide
    return max(0, high - rows), max(0, wide + _longest(tiles)[0] - columns)


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


def cross_alone(window: Window, frame: StageFrame, room: Box) -> Cross:
    """Return the cross with the largest cells in a room of its own: with its titles beside it, or above and below."""

    def made(is_beside: bool) -> tuple[float, Cross]:
        making = _Making(window, frame, is_beside, has_left=is_beside)
        inner = making.inner(room)
        cell = making.cell(inner)
        stretch = making.stretch(inner, cell)
        return stretch * cell**2, making.drawn(making.box(inner, cell, stretch)[:2], cell, stretch)

    return max((made(is_beside) for is_beside in (True, False)), key=lambda each: each[0])[1]


# The cross with its rooms

_Way = tuple[float, Callable[[], Cross]]


def cross_in(window: Window, frame: StageFrame) -> Cross:
    """Return the arrangement with the largest cells: with the words in the corner between A and B, where no shared memory takes
    it, beside the cross, or above it.
    """
    ways = [_words_beside(window, frame), *(_words_above(window, frame, is_beside) for is_beside in (False, True))]
    if not frame.tiles:
        ways += _words_in_corner(window, frame)
    return max(ways, key=lambda each: each[0])[1]()


def _words_beside(window: Window, frame: StageFrame) -> _Way:
    """Return the area of a cell, and what draws with it, of a cross beside a column of words."""
    making, whole = _Making(window, frame, True), frame.room
    inner = making.inner(whole.strip("left", frame.left, _GUTTER)[1])
    cell = making.cell(inner)
    stretch = making.stretch(inner, cell)

    def draw() -> Cross:
        box = making.box(inner, cell, stretch)
        own = min(frame.left + inner.width - box.width, _MOST_LEFT)
        left = whole.x + (frame.left + inner.width - box.width - own) / 2
        made = making.drawn((left + own + _GUTTER + making.bands.left, box.y), cell, stretch)
        low = whole.bottom - box.bottom + frame.type.name + _UNDER_NAME  # A's title stands below the words
        words = Box(left, whole.y, own, whole.height).trimmed(bottom=low)
        return structs.replace(made, rooms=making.map_room(made) | rooms_in(words, frame, False))

    return stretch * cell**2, draw


def _words_in_corner(window: Window, frame: StageFrame) -> list[_Way]:
    """Return the area of a cell, and what draws with it, of a cross with the words in its corner; none if it is too small."""
    making = _Making(window, frame, True, has_left=True)
    inner = making.inner(frame.room)
    cell = making.cell(inner)
    stretch = making.stretch(inner, cell)
    made = making.drawn(making.box(inner, cell, stretch)[:2], cell, stretch)
    a, b = made.matrices["A"], made.matrices["B"]
    corner = Box(a.x, b.y, b.x - _GAP - a.x, a.y - _GAP - frame.numbered_gap - b.y)
    if corner.width < _CORNER[0] or corner.height < _CORNER[1]:
        return []
    return [(stretch * cell**2, lambda: structs.replace(made, rooms=making.map_room(made) | rooms_in(corner, frame, False)))]


def _words_above(window: Window, frame: StageFrame, is_beside: bool) -> _Way:
    """Return what counts as the area of a cell, and what draws with it, of a cross below a row of words."""
    making = _Making(window, frame, is_beside, has_left=True)
    words, room = frame.room.strip("top", _STRIP * frame.height, _BETWEEN)
    inner = making.inner(room)
    cell = making.cell(inner)
    stretch = making.stretch(inner, cell)

    def draw() -> Cross:
        made = making.drawn(making.box(inner, cell, stretch)[:2], cell, stretch)
        own = making.map_room(made)
        return structs.replace(made, rooms=own | rooms_in(words, frame, window.is_lens and not own))

    return stretch * cell**2 / _LEAST_STRIP_CELLS, draw


def words_beside(frame: StageFrame, is_lens: bool) -> tuple[Box, Rooms]:
    """Return the place of arrays beside a column of words, and its rooms."""
    words, arrays = frame.room.columns(frame.left, REST, gap=_GUTTER)
    return arrays, rooms_in(words, frame, is_lens)


def words_above(frame: StageFrame, is_lens: bool) -> tuple[Box, Rooms]:
    """Return the place of arrays below a row of words, and its rooms."""
    words, arrays = frame.room.strip("top", _STRIP * frame.height, _BETWEEN)
    return arrays, rooms_in(words, frame, is_lens)


def rooms_in(box: Box, frame: StageFrame, is_lens: bool) -> Rooms:
    """Divide a room: the sentence, the legend and the source, and what this step is about; the latter beside them in a wide
    room. Parts for which there is no space are left out.
    """
    code = (_SOURCE if frame.has_code else _STATEMENT) if frame.has_statement else 0.0
    sentence = min(_SENTENCE, _MOST_SENTENCE * box.height) if frame.has_sentence else 0.0
    heights: dict[str, float] = {
        "sentence": sentence, "legend": _LEGEND if frame.has_legend else 0.0, "code": code, "detail": _LEAST_DETAIL,
        "map": _MAP if is_lens else 0.0,
    }  # fmt: skip
    own = {name: height for name, height in heights.items() if height}
    if box.width < _WIDE_ROOM * box.height:
        return _down(box, own)
    left, right = box.columns(REST, REST, gap=2 * _BETWEEN)
    own |= {"sentence": min(_SENTENCE, box.height)} if frame.has_sentence else {}
    own |= {"code": _LOW_CODE * box.height} if code else {}
    beside = {name: own.pop(name) for name in [*own] if name in ("detail", "map")}
    return _down(left, own) | _down(right, beside)


def _down(box: Box, heights: dict[str, float]) -> Rooms:
    """Divide a room from top to bottom; the detail, else the sentence, takes what is left."""
    for name in ("code", "map", "legend"):
        if sum(heights.values()) + _BETWEEN * (len(heights) - 1) > box.height:
            heights.pop(name, None)
    large = next((name for name in ("detail", "sentence") if name in heights), "")
    sizes = [REST if name == large else height for name, height in heights.items()]
    return dict(zip(heights, box.rows(*sizes, gap=_BETWEEN), strict=True))
