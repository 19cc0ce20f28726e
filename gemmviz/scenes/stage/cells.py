"""Tables of cells on the stage, at a resolution that suits the screen; the texts in them; and runs of cells as boxes."""

import math
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.grid import Grid
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.model.arrays import AnyArray, Bools, Bytes, Floats, Longs, Strings
from gemmviz.model.sites import Access, LabelStyle, MemoryArray
from gemmviz.model.threads import Range
from gemmviz.scenes.kit.layout import Box, Point, round_boxes
from gemmviz.scenes.kit.primitives import ArrayCells, Cells, Rects, text_width
from gemmviz.scenes.kit.theme import Palette, Theme, TypeSizes, inks_for
from gemmviz.scenes.kit.view import ViewOptions

_LEAST_CELL = 1.7  # units: at least a pixel if the frame is at least 950 pixels wide
_LEAST_LINED_CELL = 7.5  # units: smallest cell with a line around it
_COUNTED_ONCE = 1 << 20
_CROP_STEP = 16
_MOST_LABELLED = 256 * 256
_SMALLEST_LABEL = 9.0  # pixels
_HIGHEST, _WIDEST, _LARGEST_LABEL = 0.62, 0.84, 24.0  # of a cell; units
_LOOSE_LABEL = 0.88  # of the largest size that fits
LEAST_BARRED, BARRED = 16, 0.16  # smallest cell with the bar of an incomplete sum, in units; the bar's share of a cell, below
_TableName = TypeVar("_TableName", bound=Hashable)
Texts = Strings


class CellGrid(Struct, frozen=True):
    """A table of cells, which holds rows and columns of a matrix or of a tile: its top left corner, the height of a cell, rows
    and columns, and the first row and column. ``row_step``: how much the numbers of rows grow from row to row, 1 but for a
    vector in rows, which is numbered by its elements; ``stretch``: the width of a cell, in its height.
    """

    x: float
    y: float
    cell: float
    rows: int
    columns: int
    first: tuple[int, int] = (0, 0)
    row_step: int = 1
    stretch: float = 1.0

    @property
    def wide(self) -> float:
        """The width of a cell."""
        return self.cell * self.stretch

    @property
    def sides(self) -> Point:
        """The width and the height of a cell."""
        return self.cell * self.stretch, self.cell

    @property
    def box(self) -> Box:
        return Box(self.x, self.y, self.columns * self.wide, self.rows * self.cell)

    @property
    def bottom(self) -> float:
        return self.y + self.rows * self.cell

    @property
    def right(self) -> float:
        return self.x + self.columns * self.wide

    @property
    def origin(self) -> tuple[float, float]:
        """Where the first row and column of the whole array would be."""
        return self.x - self.first[1] * self.wide, self.y - self.first[0] * self.cell

    def middle(self, row: Any, column: Any) -> Floats:
        """Return the centres of cells: (n, 2)."""
        x, y = self.origin
        return np.stack([x + (column + 0.5) * self.wide, y + (row + 0.5) * self.cell], axis=-1)

    def holds(self, row: Any, column: Any) -> Bools:
        """Return which of these cells are in the table."""
        r, c = row - self.first[0], column - self.first[1]
        return np.asarray((r >= 0) & (r < self.rows) & (c >= 0) & (c < self.columns))

    def boxes(self, row: Any, column: Any, around: float = 0.0) -> Floats:
        """Return the boxes (n, 4) of the visible ones of some cells, ``around`` units larger on each side."""
        seen = self.holds(row, column)
        return grown(boxes_around(self.middle(row[seen], column[seen]), self.sides), around)

    def of(self, array: MemoryArray, elements: Longs, around: float = 0.0) -> Floats:
        """Return the boxes (n, 4) of the visible ones of some elements of the array that it shows."""
        return self.boxes(*array.row_column(elements[elements < array.size]), around)

    def part(self, rows: Range, columns: Range) -> Box:
        """Return the box of the visible part of some rows and columns."""
        r0, r1 = (min(max(row - self.first[0], 0), self.rows) for row in rows)
        c0, c1 = (min(max(column - self.first[1], 0), self.columns) for column in columns)
        return Box(self.x + c0 * self.wide, self.y + r0 * self.cell, (c1 - c0) * self.wide, (r1 - r0) * self.cell)


def cells_side_by_side(
    shapes: Mapping[_TableName, tuple[int, int]], room: Box, head: float, gap: float, most: float,
    across: float = 0.0, down: float = 0.0,
) -> dict[_TableName, CellGrid]:  # fmt: skip
    """Return tables of the largest cells, ``gap`` apart, with ``head`` units above them for their names. ``across``, ``down``:
    the share of what is left of the room that is at their left and above them.
    """
    columns, rows = (sum(c for _, c in shapes.values()), max((r for r, _ in shapes.values()), default=1))
    wide, high = room.width - gap * (len(shapes) - 1), room.height - head
    cell = max(1.0, min(wide / max(1, columns), high / rows, most))
    x, y, grids = room.x + across * (wide - columns * cell), room.y + head + down * (high - rows * cell), {}
    for name, shape in shapes.items():
        grids[name] = CellGrid(x, y, cell, *shape)
        x += shape[1] * cell + gap
    return grids


def table_cells(
    key: str, table: CellGrid, fill: AnyArray, palette: Palette, options: ViewOptions, texts: Texts | None
) -> Cells:
    """Draw a table with texts, if all of them fit. ``fill`` and ``texts``: flat, or by rows and columns."""
    shape, theme = (table.rows, table.columns), options.theme
    size = 0.0 if texts is None else fitting_size(texts, table.cell, options)
    labels = texts.reshape(shape) if texts is not None and size else None
    return Cells(
        key, table.x, table.y, table.cell, fill.astype(np.uint8).reshape(shape), palette, inks_for(theme, palette), labels,
        size, theme.background,
    )  # fmt: skip


# Texts of cells


@lru_cache(maxsize=32)
def index_labels(array: MemoryArray, rows: int, columns: int, first: tuple[int, int], labels: LabelStyle) -> Texts:
    """Return the indices of every cell of a part of a matrix, as text, from row and column ``first``; "" behind the end of a
    vector.
    """
    down, across = range(first[0], first[0] + rows), range(first[1], first[1] + columns)
    if len(array.shape) == 2:
        return np.array([[labels.pair(row, column) for column in across] for row in down])
    elements = [[array.element_at(row, column) for column in across] for row in down]
    return np.array([[labels.indices(array, each) if each < array.size else "" for each in line] for line in elements])


@lru_cache(maxsize=64)
def _some_labels(
    array: MemoryArray, rows: int, columns: int, first: tuple[int, int], labels: LabelStyle, shown: bytes
) -> Texts:  # fmt: skip
    """Return the indices of the cells that are ``shown`` (rows, columns, of bool); the same object for the same cells, whose
    layout a painter keeps.
    """
    return np.where(np.frombuffer(shown, bool).reshape(rows, columns), index_labels(array, rows, columns, first, labels), "")


@lru_cache(maxsize=256)
def label_size(
    longest: str, cell: float, pixels: float = 1.2, least: float = TypeSizes().least, stretch: float = 1.0
) -> float:  # fmt: skip
    """Return the font size at which ``longest`` fits a cell, ``stretch`` times as wide as high, with a margin; 0 if it would be
    smaller than ``least`` units, or unreadable at these pixels per unit.
    """
    most = min(_HIGHEST * cell, _WIDEST * stretch * cell / max(text_width(longest, 1.0), 1e-9), max(_LARGEST_LABEL, 0.4 * cell))
    size = max(_LOOSE_LABEL * most, least) if most >= least else most
    return size if size >= least and size * pixels >= _SMALLEST_LABEL else 0.0


def longest_of(texts: Iterable[str]) -> str:
    """Return the widest of some texts, "0" if all are empty."""
    return max(set(texts), key=lambda text: text_width(text, 1.0), default="") or "0"


def fitting_size(texts: Texts, cell: float, options: ViewOptions) -> float:
    """Return the font size at which all texts fit a cell; 0 if it would be too small."""
    return label_size(longest_of(texts.ravel().tolist()), cell, options.pixels, options.least)


# A matrix on the stage


def grid_of(table: CellGrid, array: MemoryArray, options: ViewOptions) -> Grid:
    """Return the grid of a matrix: cells large enough to be visible, and only those of the table within ``options.clip``."""
    grid = in_window(Grid(array, max(1, math.ceil(_LEAST_CELL / (table.cell * options.zoom)))), table)
    if options.clip is None:
        return grid
    clip, (left, top) = Box(*options.clip), table.origin

    def cells(low: float, high: float, side: float, first: int, count: int) -> tuple[int, int]:
        step = side * grid.factor * _CROP_STEP
        return max(first, math.floor(low / step) * _CROP_STEP), min(first + count, math.ceil(high / step) * _CROP_STEP)

    (r0, c0), (rows, columns) = grid.origin, grid.shape
    down = cells(clip.y - top, clip.bottom - top, table.cell, r0, rows)
    return grid.cropped((*down, *cells(clip.x - left, clip.right - left, table.wide, c0, columns)))


def in_window(grid: Grid, table: CellGrid) -> Grid:
    """Return the visible part of a grid over the whole matrix."""
    (r0, c0), f = table.first, grid.factor
    return grid.cropped((r0 // f, -(-(r0 + table.rows) // f), c0 // f, -(-(c0 + table.columns) // f)))


def counting_grid(table: CellGrid, array: MemoryArray, options: ViewOptions) -> Grid:
    """Return a grid like ``grid_of`` over the whole matrix, for counts that are updated step by step.

    The grid of a large matrix keeps one resolution, so that zooming does not recount everything.
    """
    if array.size > _COUNTED_ONCE:
        return Grid(array, math.ceil(math.sqrt(array.size / _COUNTED_ONCE)))
    return Grid(array, max(1, math.ceil(_LEAST_CELL / (table.cell * options.zoom))))


def matrix_cells(
    fill: Bytes, palette: Palette, table: CellGrid, grid: Grid, options: ViewOptions,
    labels: Texts | None = None, shown: Bools | None = None,
) -> Cells:  # fmt: skip
    """Draw ``fill`` (rows, columns) on ``grid`` of a matrix that stands at ``table``. ``labels`` (default: the indices) are
    drawn if all of them fit; indices in the cells ``shown`` (rows, columns) alone.
    """
    size, array = 0.0, grid.array
    if can_label(fill, table, grid, options):
        last = options.labels.indices(array, array.size - 1)
        longest = last if labels is None else longest_of(labels.ravel().tolist())
        size = label_size(longest, table.cell, options.pixels, options.least, table.stretch)
        if size and labels is None:
            own = array, *fill.shape, grid.origin, options.labels
            labels = index_labels(*own) if shown is None else _some_labels(*own, shown.tobytes())
    (wide, high), (x, y) = (side * grid.factor for side in table.sides), table.origin
    return Cells(
        array.name, x + grid.origin[1] * wide, y + grid.origin[0] * high, wide, fill, palette, inks_for(options.theme, palette),
        labels if size else None, size, cell_line(high, options), grid.factor, high, grid.origin,
        meaning=ArrayCells(array.name, array.space),
    )  # fmt: skip


def cell_line(side: float, options: ViewOptions) -> str | None:
    """Return the colour of the line between cells; None between small ones."""
    return options.theme.background if side * options.zoom >= _LEAST_LINED_CELL else None


def can_label(fill: Bytes, table: CellGrid, grid: Grid, options: ViewOptions) -> bool:
    """Whether cells are single elements, few enough and large enough for text."""
    return grid.factor == 1 and fill.size <= _MOST_LABELLED and table.cell * options.pixels > _SMALLEST_LABEL


# The values of elements as text for cells: of inputs once they were read, of outputs once they were stored, of shared
# arrays what they hold. A value that the run does not tell is masked and left out, unlike a NaN that the run has stored.

_DIGITS = (3, 2, 1, 0)  # decimals, tried from the most
_NAN = "NaN"
_MOST_RECORDED = 1 << 22  # recorded values that are looked through
_KnownValues: TypeAlias = "np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]"


def matrix_values(moment: Moment, number: int) -> "_KnownValues | None":
    """Return the value of each element of a global array at a moment, flat, masked where unknown; None if none is known."""
    values, trace = moment.replay.value, moment.trace
    if values is None or values.size > _MOST_RECORDED:
        return None
    if trace.arrays[number].name in trace.setup.problem.output_names:
        return _values_at(moment, number, moment.step, "read", "write")
    inputs = ("values", number, id(values))  # inputs don't change: what any thread reads at any step is known
    known: _KnownValues = moment.replay.cached(inputs, lambda: _values_at(moment, number, trace.steps, "read"))
    return known


def final_values(moment: Moment, number: int) -> "_KnownValues | None":
    """Return what the whole run stores in each element of a global array, flat, masked where nothing; None if none is
    known.
    """
    if moment.replay.value is None or moment.replay.value.size > _MOST_RECORDED:
        return None
    return _values_at(moment, number, moment.trace.steps, "write")


def _values_at(moment: Moment, number: int, step: int, *accesses: Access) -> "_KnownValues":
    """Return what was last accessed of an array up to a step, of several kinds of access in this order."""
    size = moment.trace.arrays[number].size
    found = np.ma.MaskedArray(np.zeros(size), np.ones(size, bool))
    assert moment.replay.value is not None
    for access in accesses:
        for touches in moment.trace.touches_of(number, access):
            rows = touches.rows[touches.steps <= step]
            elements, values = moment.trace.element[rows], moment.replay.value[rows]
            found[elements[elements >= 0]] = values[elements >= 0]
    return found


def value_texts(values: "Floats | _KnownValues", cell: float, least: float) -> Texts | None:
    """Return numbers with as many decimals as fit a cell in the size ``least``, "" for unknown ones, which are masked or, in an
    array without a mask, NaN; None if none fits. If one decimal is too many, only numbers below 1 have one.
    """
    known = ~np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else ~np.isnan(values)
    data, found = np.ma.getdata(values)[known], np.full(values.shape, "", "<U12")
    are_whole = bool((data == np.round(data)).all()) or bool((np.abs(data) >= 1).all())
    for digits in (*_DIGITS, None) if known.any() and label_size("0", cell, least=least) else ():
        texts = [_number_text(value, int(abs(value) < 1) if digits is None else digits) for value in data.tolist()]
        if label_size(longest_of(texts), cell, least=least) and (digits != 0 or are_whole):
            found[known] = texts
            return found
    return None if known.any() else found


@lru_cache(maxsize=8192)
def _number_text(value: float, digits: int) -> str:
    """Return a number without zeros before its point and at its end, as in ".25"."""
    if np.isnan(value):
        return _NAN
    text = f"{abs(value):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    text = text.removeprefix("0") if text.startswith("0.") else text
    return f"-{text}" if value < 0 and text != "0" else text


# Runs of cells as boxes: what the lanes of a warp move side by side is one strip instead of many chips.

_NEAR_PLACE = 0.02  # of a cell: how far a neighbour may be from its place
_AFAR, _SAME, _ACROSS, _DOWN = range(4)


def boxes_around(middle: Floats, side: float | Point) -> Floats:
    """Return a box (n, 4) around each centre: a square one, or one with a width and a height."""
    sides = np.broadcast_to(np.asarray(side, np.float64), (len(middle), 2))
    return np.hstack([middle - sides / 2, sides])


def grown(boxes: Floats, more: float) -> Floats:
    """Return boxes (n, 4) that are ``more`` units larger on each side; smaller ones if that is negative."""
    return np.asarray(boxes + np.array((-more, -more, 2 * more, 2 * more)))


def runs(places: tuple[tuple[Floats, float | Point], ...], group: Longs) -> Longs:
    """Return for each of the things in order the number of its run, from 0.

    A run stays within a group and goes in one direction in each of ``places`` (centres (n, 2), side or sides of a cell):
    neighbours lie at the same place, or one cell to the right or below.
    """
    if not len(group):
        return np.zeros(0, np.int64)
    steps = np.stack([_directions(middle, cell) for middle, cell in places])  # (places, n - 1)
    starts = (np.diff(group) != 0) | (steps == _AFAR).any(axis=0)
    starts[1:] |= ~starts[:-1] & (steps[:, 1:] != steps[:, :-1]).any(axis=0)
    return np.concatenate([[0], np.cumsum(starts)])


def _directions(middle: Floats, cell: float | Point) -> Longs:
    """Return how each thing lies beside the one before: (n - 1,)."""
    (x, y), near = (np.diff(middle, axis=0) / cell).T, _NEAR_PLACE
    level, upright = np.abs(y) < near, np.abs(x) < near
    kinds = np.where(level & upright, _SAME, _AFAR)
    kinds[level & (np.abs(x - 1) < near)] = _ACROSS
    kinds[upright & (np.abs(y - 1) < near)] = _DOWN
    return kinds


def boxes_of_runs(boxes: Floats, run: Longs) -> Floats:
    """Return the box (runs, 4) around the boxes of each run."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(run)) + 1])
    low = np.minimum.reduceat(boxes[:, :2], first)
    high = np.maximum.reduceat(boxes[:, :2] + boxes[:, 2:], first)
    return np.hstack([low, high - low])


# Elements on their way between memories, as small squares in the colour of their matrix.

WIDE, HIGH = 150.0, 44.0  # the most that the elements of one access take
_CHIP_SIDE = 20.0


def _chips(count: int, x: float, y: float, wide: float = WIDE, high: float = HIGH) -> Floats:
    """Return ``count`` squares as rows around a point: x, y, width, height."""
    columns = min(count, max(1, math.ceil((count * wide / high) ** 0.5)))
    rows = -(-count // columns)
    side = min(_CHIP_SIDE, wide / columns, high / rows)
    row, column = np.divmod(np.arange(count), columns)
    left, top = x - columns * side / 2, y - rows * side / 2
    return np.column_stack([left + column * side, top + row * side, np.full((count, 2), 0.86 * side)])


def elements_at(moment: Moment, place: int, middle: Point, theme: Theme, wide: float = WIDE, high: float = HIGH) -> Rects:
    """Draw the elements of an operand of a step, on their way at a point: a chip each, in the colour of their matrix."""
    touched = moment.touched[place]
    colour = theme.accent(stored_matrix(moment, touched))
    return round_boxes(f"moving-{place}", _chips(len(touched.cells), *middle, wide, high), colour, meaning="moving")


def stored_matrix(moment: Moment, touched: TouchedOperand) -> str:
    """Return the matrix that the touched elements are of; for shared memory, that of what is stored there, "" if unknown."""
    content = moment.tiles.get(touched.operand.array)
    if content is None:
        return touched.array.name
    numbers = {number for number in content.array[touched.cells].tolist() if number >= 0}
    return moment.trace.arrays[numbers.pop()].name if len(numbers) == 1 else ""
