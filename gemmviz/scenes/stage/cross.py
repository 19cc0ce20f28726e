"""The cross of the three matrices and the rooms around it: B above C, A on its left, the lanes of shared memory in the corner
between them, words on the left, the request and source lines on the right.
"""

from collections.abc import Callable
from itertools import product

from msgspec import Struct

from gemmviz.model.records import replace
from gemmviz.scenes.kit.frame import MARGIN
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.primitives import Anchor
from gemmviz.scenes.kit.text import CAP_HEIGHT, text_width
from gemmviz.scenes.kit.theme import TypeSizes
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.lanes import Lanes, LaneTile, corner_extents, free_cell, lane_extents
from gemmviz.scenes.stage.matrix import CellGrid

_GAP, _LANE_GAP, _LANE_APART = 26.0, 20.0, 6.0  # between the matrices; between a matrix and its lane; between the lanes
_NUMBERED = 8.0  # what a gap with the numbers of columns is higher than these
_LARGEST_CELL = 96.0
_MOST_OF_LANE = 0.5  # of the height or width of the cross, for the lanes
_EDGE, _LOW, _AIR = 14.0, 6.0, 10.0
_TOP, _BOTTOM, _UNDER_NAME = 14.0, 8.0, 8.0  # above B and below C; between a title and what stands under it
_WIDE, _WORTH, _WORTH_IF_WIDE = 1500.0, 1.15, 2.0  # how much larger cells must be to give up the room of the request for them
_LEFT_SHARE, _LEAST_LEFT, _MOST_LEFT = 0.235, 240.0, 620.0
_RIGHT_SHARE, _LEAST_RIGHT, _GUTTER = 0.43, 276.0, 26.0
_SENTENCE, _LEGEND, _ROW = 236.0, 100.0, 190.0  # heights; of the row of rooms below a cross
_BETWEEN = 18.0
_LEAST_CORNER = 210.0
_LEAST_WIDTH = 230.0
_LEAST_HEIGHTS = {"sum": 110.0, "meter": 130.0, "code": 100.0, "request": 320.0, "map": 96.0}
_SHARES = {"sum": 1.3, "meter": 1.0, "code": 0.6, "request": 1.6, "map": 0.8}  # of what is left
_BY_WEIGHT = ("meter", "sum", "code", "request", "map")  # rooms that are left out last first


class Title(Struct, frozen=True):
    """The place of a matrix's title: its baseline, and where it is anchored."""

    x: float
    y: float
    anchor: Anchor


class StageFrame(Struct, frozen=True):
    """What a layout depends on besides the window: the shared arrays, the size of the frame, and which parts there are.

    ``foot``: height of the timeline at the lower edge; ``beyond``: rows below A and C, and columns on the right of B and C, for
    padding; ``has_several``: whether a thread has several sums.
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

    @property
    def bottom(self) -> float:
        return self.height - self.foot - _LOW


class Cross(Struct, frozen=True):
    """Everything that has a place: the grids of the matrices, the corner, the titles, and the rooms by name."""

    matrices: dict[str, CellGrid]
    lanes: Lanes | None
    titles: dict[str, Title]
    rooms: dict[str, Box]


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


def cross_in(window: Window, frame: StageFrame) -> Cross:
    """Return the arrangement with the largest cells, unless one with a little smaller cells has room for the request: words
    beside the cross or above and below it.
    """
    ways = [_beside(window, frame, *way) for way in product((False, True), repeat=2)]
    ways += [_stacked(window, frame, is_beside) for is_beside in (False, True)]
    made = [(cell, draw(cell)) for cell, draw in ways]
    return max(made, key=lambda each: each[0] * worth(each[1].rooms, frame))[1]


def worth(rooms: dict[str, Box], frame: StageFrame) -> float:
    """Return by what the size of cells counts more because there is a room for the request."""
    if "request" not in rooms:
        return 1.0
    return _WORTH_IF_WIDE if frame.width >= _WIDE else _WORTH


def cross_cell(window: Window, frame: StageFrame, room: Box) -> float:
    """Return the largest cell of a cross that fills a box with its numbers and titles."""
    return _largest_cell(window, frame, room, _bands(window, frame, False))


def cross_at(window: Window, frame: StageFrame, room: Box, cell: float) -> Cross:
    """Return a cross with cells of this size in the middle of a box, without rooms."""
    bands = _bands(window, frame, False)
    wide, high = _extent(window, frame, cell)
    x = room.x + bands.left + max(0.0, (room.width - bands.left - bands.right - wide) / 2)
    y = room.y + bands.top + max(0.0, (room.height - bands.top - bands.bottom - high) / 2)
    return _drawn(window, frame, (x, y, cell), bands)


_Way = tuple[float, Callable[[float], Cross]]


def _beside(window: Window, frame: StageFrame, is_beside: bool, has_right: bool) -> _Way:
    """Return the cell, and what draws with it, of a cross beside a column of words, or between two of them (``has_right``)."""
    bands = _bands(window, frame, is_beside)
    left = min(max(_LEAST_LEFT, _LEFT_SHARE * frame.width), _MOST_LEFT)
    start = MARGIN + left + _GUTTER
    room = Box(start, 0.0, frame.width - start - _EDGE, frame.bottom)
    cell = _largest_cell(window, frame, room, bands)
    if has_right:
        between = frame.width - 2 * MARGIN - 2 * _GUTTER - _LEAST_RIGHT / _RIGHT_SHARE - 1.0
        narrow = Box(start, 0.0, between, frame.bottom)
        cell = min(cell, _largest_cell(window, frame, narrow, replace(bands, left=bands.numbers[0], right=bands.numbers[1])))

    def draw(cell: float) -> Cross:
        wide, high = _extent(window, frame, cell)
        around = frame.width - 2 * MARGIN - 2 * _GUTTER - bands.left - bands.numbers[1] - wide
        right = _RIGHT_SHARE * around if _RIGHT_SHARE * around >= _LEAST_RIGHT else 0.0
        free = frame.width - room.x - bands.left - wide - bands.right - _EDGE
        own = around - right if right else min(left + 0.6 * max(0.0, free), _MOST_LEFT)
        x = MARGIN + own + _GUTTER + bands.left
        y = bands.top + max(0.0, (room.height - bands.top - bands.bottom - high) / 2)
        made = _drawn(window, frame, (x, y, cell), bands)
        title = frame.type.name + _UNDER_NAME
        low = y + high - title if is_beside else frame.bottom - _LOW
        top = y + title if is_beside else _EDGE + _AIR
        words = Box(MARGIN, _EDGE + _AIR, own, low - _EDGE - _AIR)
        rooms = _column_rooms(window, frame, made, words, Box(frame.width - MARGIN - right, top, right, low - top))
        return Cross(made.matrices, made.lanes, made.titles, rooms)

    return cell, draw


def _column_rooms(window: Window, frame: StageFrame, made: Cross, left: Box, right: Box) -> dict[str, Box]:
    """Return the rooms in the corner and in the columns on both sides; without a right column, one of no width, all on the
    left.
    """
    corner, lens = _corner_room(made), ("map",) if window.is_lens else ()
    if not right.width:
        own = () if corner else ("sum",)
        return corner | _left_rooms(left, frame, (*own, "meter", "code", "request", *lens))
    words, beside = (("meter", "code"), ("request",)) if corner else (("sum", "meter"), ("request", "code"))
    return corner | _left_rooms(left, frame, words) | _column(right, (*beside, *lens), frame)


def _stacked(window: Window, frame: StageFrame, is_beside: bool) -> _Way:
    """Return the cell, and what draws with it, of a cross below the sentence and above a row of rooms."""
    bands = _bands(window, frame, is_beside, is_stacked=True)
    head = 0.62 * _SENTENCE + (_LEGEND if frame.has_legend else 0.0)
    room = Box(_EDGE, head, frame.width - 2 * _EDGE, frame.bottom - head - _ROW)
    cell = _largest_cell(window, frame, room, bands)

    def draw(cell: float) -> Cross:
        wide, high = _extent(window, frame, cell)
        x = room.x + bands.left + max(0.0, (room.width - bands.left - bands.right - wide) / 2)
        y = head + bands.top
        made = _drawn(window, frame, (x, y, cell), bands)
        below = y + high + bands.bottom + _BETWEEN
        corner = _corner_room(made)
        rooms = _around(frame, below, window.is_lens, not corner) | corner
        return Cross(made.matrices, made.lanes, made.titles, rooms)

    return cell, draw


def words_column(frame: StageFrame, is_lens: bool, has_right: bool) -> tuple[Box, dict[str, Box]]:
    """Return the place of the arrays beside one column of words, or between two of them (``has_right``), and their rooms."""
    left = min(max(_LEAST_LEFT, _LEFT_SHARE * frame.width), _MOST_LEFT)
    start, top = MARGIN + left + _GUTTER, _EDGE + _AIR
    words, end = Box(MARGIN, top, left, frame.bottom - top), frame.width - MARGIN
    if not has_right:
        return Box(start, _EDGE, end - start, frame.bottom - _EDGE), _left_rooms(words, frame, _others(is_lens, False))
    right = Box(end - _LEAST_RIGHT, top, _LEAST_RIGHT, frame.bottom - top)
    rooms = _left_rooms(words, frame, ("meter", "code")) | _column(right, ("request", *_map(is_lens)), frame)
    return Box(start, _EDGE, right.x - _GUTTER - start, frame.bottom - _EDGE), rooms


def stacked_rooms(frame: StageFrame, is_lens: bool) -> tuple[Box, dict[str, Box]]:
    """Return the place of the arrays below the sentence and above a row of rooms, and these."""
    head = 0.62 * _SENTENCE + (_LEGEND if frame.has_legend else 0.0)
    low = frame.bottom - _ROW
    room = Box(MARGIN, head, frame.width - 2 * MARGIN, low - head)
    return room, _around(frame, low + _BETWEEN, is_lens, False)


def _others(is_lens: bool, has_sum: bool) -> tuple[str, ...]:
    """Return all rooms besides those of the sentence and the legend."""
    return (*(("sum",) if has_sum else ()), "meter", "request", "code", *_map(is_lens))


def _map(is_lens: bool) -> tuple[str, ...]:
    return ("map",) if is_lens else ()


def _around(frame: StageFrame, below: float, is_lens: bool, has_sum: bool) -> dict[str, Box]:
    """Return the rooms above a picture, and those from ``below`` to the timeline."""
    across = frame.width - 2 * MARGIN
    rooms = {"sentence": Box(MARGIN, _EDGE, across, 0.62 * _SENTENCE - _EDGE)}
    rooms |= {"legend": Box(MARGIN, 0.62 * _SENTENCE, across, _LEGEND)} if frame.has_legend else {}
    return rooms | _row(Box(MARGIN, below, across, frame.bottom - below), _others(is_lens, has_sum))


def _bands(window: Window, frame: StageFrame, is_beside: bool, is_stacked: bool = False) -> _Bands:
    """Return the space for numbers and titles."""
    size, name = frame.type.least, frame.type.name
    left = text_width(str(window.m[1]), size) + _AIR
    right = text_width(str(max(window.m[1], window.k[1])), size) + _AIR
    title = name + _UNDER_NAME
    if not is_beside:
        return _Bands(left, title + _EDGE, right, title, (left, right), False)
    a, *others = (text_width(title_text(each, window.extents(each)), name, "semibold") + _AIR for each in "ABC")
    return _Bands(left + a if is_stacked else left, _TOP, right + max(others), _BOTTOM, (left, right), True)


def title_text(name: str, shape: tuple[int, ...]) -> str:
    """Return the title of a matrix: "A 8 × 8"."""
    return f"{name}  {' × '.join(map(str, shape))}"


def _gaps(frame: StageFrame) -> tuple[float, float]:
    """Return what lies between the cells across and down, without the lanes themselves."""
    rows, columns = lane_extents(frame.tiles)
    return (_LANE_GAP + _LANE_APART if columns else _GAP), _numbered_gap(frame) + (_LANE_APART if rows else 0.0)


def _numbered_gap(frame: StageFrame) -> float:
    """Return the height of the gap above A and C, where the numbers of their columns stand."""
    return frame.type.least + _NUMBERED


def _largest_cell(window: Window, frame: StageFrame, room: Box, bands: _Bands) -> float:
    m, n, _ = window.counts
    (across, down), (rows, columns) = _gaps(frame), lane_extents(frame.tiles)
    wide, high = room.width - bands.left - bands.right - across, room.height - bands.top - bands.bottom - down
    (k_rows, k_columns), (low, right) = corner_extents(frame.tiles, window.k, window.whole[2]), frame.beyond
    cells = _in_one_direction(wide, k_columns + n + right, columns), _in_one_direction(high, k_rows + m + low, rows)
    return max(1e-3, min(*cells, _LARGEST_CELL))


def _in_one_direction(length: float, cells: int, lane: int) -> float:
    """Return the cell with which a lane of ``lane`` cells beside ``cells`` fits; the lane takes at most its share."""
    return max(length / (cells + lane), (1 - _MOST_OF_LANE) * length / cells)


def _lane_sizes(window: Window, frame: StageFrame, cell: float) -> tuple[float, float]:
    """Return the height of the lane above A and the width of the one beside B."""
    m, n, _ = window.counts
    rows, columns = lane_extents(frame.tiles)
    most = _MOST_OF_LANE / (1 - _MOST_OF_LANE)
    k_rows, k_columns = corner_extents(frame.tiles, window.k, window.whole[2])
    return min(rows * cell, most * (k_rows + m) * cell), min(columns * cell, most * (k_columns + n) * cell)


def _extent(window: Window, frame: StageFrame, cell: float) -> tuple[float, float]:
    """Return the width and the height of the cross."""
    m, n, _ = window.counts
    (across, down), (high, wide) = _gaps(frame), _lane_sizes(window, frame, cell)
    (k_rows, k_columns), (low, right) = corner_extents(frame.tiles, window.k, window.whole[2]), frame.beyond
    return (k_columns + n + right) * cell + wide + across, (k_rows + m + low) * cell + high + down


def _drawn(window: Window, frame: StageFrame, at: tuple[float, float, float], bands: _Bands) -> Cross:
    """Return the cross with A's left edge and B's upper edge at (x, y), and the cell."""
    x, y, cell = at
    (across, down), (high, wide) = _gaps(frame), _lane_sizes(window, frame, cell)
    k_rows, k_columns = corner_extents(frame.tiles, window.k, window.whole[2])
    c_x, c_y = x + k_columns * cell + wide + across, y + k_rows * cell + high + down
    grids = {}
    for name, (left, top) in {"A": (x, c_y), "B": (c_x, y), "C": (c_x, c_y)}.items():
        rows, columns = window.of(name)
        grids[name] = CellGrid(left, top, cell, rows[1] - rows[0], columns[1] - columns[0], (rows[0], columns[0]))
    lanes = _lanes(frame, Box(x, y, c_x - x, c_y - y), (high, wide), cell) if frame.tiles else None
    return Cross(grids, lanes, _titles(grids, frame, bands), {})


def _lanes(frame: StageFrame, corner: Box, sizes: tuple[float, float], cell: float) -> Lanes:
    (rows, columns), (high, wide) = lane_extents(frame.tiles), sizes
    wide_gap, high_gap = _LANE_GAP if columns else _GAP, _numbered_gap(frame)
    inner = Box(corner.x, corner.y, corner.width - wide_gap, corner.height - high_gap)
    cells = (high / rows if rows else cell, wide / columns if columns else cell)
    free = free_cell(frame.tiles, inner.width - wide, inner.height - high, cell)
    return Lanes(frame.tiles, inner, high, wide, (*cells, free))


def _titles(grids: dict[str, CellGrid], frame: StageFrame, bands: _Bands) -> dict[str, Title]:
    """Return the places of the titles: A at its lower left, B at its upper right, C at its lower right, all outside."""
    a, b, c = (grids[name] for name in "ABC")
    capital, (before, behind) = CAP_HEIGHT * frame.type.name, bands.numbers
    right, low = c.x + c.box[2] + frame.beyond[1] * c.cell, c.y + c.box[3] + frame.beyond[0] * c.cell
    if bands.is_beside:
        return {
            "A": Title(a.x - before - _AIR, low, "end"), "B": Title(right + behind + _AIR, b.y + capital, "start"),
            "C": Title(right + behind + _AIR, low, "start"),
        }  # fmt: skip
    base, above = low + _AIR + capital, b.y - _AIR
    return {"A": Title(a.x, base, "start"), "B": Title(right, above, "end"), "C": Title(right, base, "end")}


def _corner_room(made: Cross) -> dict[str, Box]:
    """Return the place of the sum between A and B, where no shared memory takes it; nothing if it is too small."""
    a, b = made.matrices["A"], made.matrices["B"]
    room = Box(a.x, b.y, b.x - _GAP - a.x, a.y - _GAP - b.y)
    return {"sum": room} if made.lanes is None and min(room.width, room.height) >= _LEAST_CORNER else {}


def _left_rooms(box: Box, frame: StageFrame, others: tuple[str, ...]) -> dict[str, Box]:
    """Divide the column on the left: the sentence, then the legend, then the ``others``."""
    head = min(_SENTENCE, 0.42 * box.height)
    rooms, y = {"sentence": Box(box.x, box.y, box.width, head)}, box.y + head + _BETWEEN
    if frame.has_legend:
        rooms["legend"] = Box(box.x, y, box.width, _LEGEND)
        y += _LEGEND + _BETWEEN
    return rooms | _column(Box(box.x, y, box.width, box.bottom - y), others, frame)


def _column(box: Box, names: tuple[str, ...], frame: StageFrame) -> dict[str, Box]:
    """Divide a box from top to bottom. Rooms for which there is no space are left out, those that matter least first."""
    names = _fitting(names, box.height, _LEAST_HEIGHTS, _BETWEEN)
    larger = {"code": 2.0 if frame.has_code else 1.0, "sum": 4.0 if frame.has_several else 1.0}
    shares = {name: _SHARES[name] * larger.get(name, 1.0) for name in names}
    spare = box.height - sum(_LEAST_HEIGHTS[name] + _BETWEEN for name in names) + _BETWEEN
    rooms, y = {}, box.y
    for name, share in shares.items():
        high = _LEAST_HEIGHTS[name] + spare * share / sum(shares.values())
        rooms[name] = Box(box.x, y, box.width, high)
        y += high + _BETWEEN
    return rooms


def _row(box: Box, names: tuple[str, ...]) -> dict[str, Box]:
    """Divide a box from left to right."""
    names = tuple(name for name in names if _LEAST_HEIGHTS[name] <= box.height)
    names = _fitting(names, box.width, dict.fromkeys(_SHARES, _LEAST_WIDTH), MARGIN)
    rooms, x = {}, box.x
    for name in names:
        wide = (box.width - MARGIN * (len(names) - 1)) / len(names)
        rooms[name] = Box(x, box.y, wide, box.height)
        x += wide + MARGIN
    return rooms


def _fitting(names: tuple[str, ...], extent: float, least: dict[str, float], gap: float) -> tuple[str, ...]:
    """Return the names, in their order, without those for which there is no space."""
    kept = list(names)
    for name in reversed(_BY_WEIGHT):
        if kept and sum(least[each] + gap for each in kept) - gap > extent and name in kept:
            kept.remove(name)
    return tuple(kept)
