"""One matrix as a table of cells, at a resolution that suits the screen."""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.replay.grid import Grid
from gemmviz.model.labels import LabelStyle
from gemmviz.model.sites import MemoryArray
from gemmviz.model.threads import Range
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.meaning import ArrayCells
from gemmviz.scenes.kit.primitives import Cells
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Palette, TypeSizes, inks_for

# A table of square cells on the stage, which holds rows and columns of a matrix or of a tile.


class CellGrid(Struct, frozen=True):
    """A table of cells: its top left corner, the side of a cell, rows and columns, and the first row and column. ``row_step``:
    how much the numbers of rows grow from row to row, 1 but for a vector in rows, which is numbered by its elements.
    """

    x: float
    y: float
    cell: float
    rows: int
    columns: int
    first: tuple[int, int] = (0, 0)
    row_step: int = 1

    @property
    def box(self) -> tuple[float, float, float, float]:
        return self.x, self.y, self.columns * self.cell, self.rows * self.cell

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.y + self.rows * self.cell

    def middle(self, row: Any, column: Any) -> npt.NDArray[np.float64]:
        """Return the centres of cells: (n, 2)."""
        return np.stack(
            [self.x + (column - self.first[1] + 0.5) * self.cell, self.y + (row - self.first[0] + 0.5) * self.cell], axis=-1
        )

    def corner(self, row: float, column: float) -> tuple[float, float]:
        """Return the top left corner of a cell."""
        return self.x + (column - self.first[1]) * self.cell, self.y + (row - self.first[0]) * self.cell

    def holds(self, row: Any, column: Any) -> npt.NDArray[np.bool_]:
        """Return which of these cells are in the table."""
        r, c = row - self.first[0], column - self.first[1]
        return np.asarray((r >= 0) & (r < self.rows) & (c >= 0) & (c < self.columns))

    def part(self, rows: Range, columns: Range) -> tuple[float, float, float, float]:
        """Return the box of the visible part of some rows and columns."""
        r0, r1 = (min(max(row - self.first[0], 0), self.rows) for row in rows)
        c0, c1 = (min(max(column - self.first[1], 0), self.columns) for column in columns)
        return self.x + c0 * self.cell, self.y + r0 * self.cell, (c1 - c0) * self.cell, (r1 - r0) * self.cell


_LEAST_CELL = 1.7  # units: at least a pixel if the frame is at least 950 pixels wide
_COUNTED_ONCE = 1 << 20
_CROP_STEP = 16
_MOST_LABELS = 256 * 256
_SMALLEST_LABEL = 9.0  # pixels
_HIGHEST, _WIDEST, _LARGEST_LABEL = 0.62, 0.84, 24.0  # of a cell; units
_LOOSE = 0.88  # of the largest size that fits


@lru_cache(maxsize=32)
def index_labels(
    array: MemoryArray, rows: int, columns: int, first: tuple[int, int], labels: LabelStyle
) -> npt.NDArray[np.str_]:
    """Return the indices of every cell of a part of a matrix, as text, from row and column ``first``."""
    down, across = range(first[0], first[0] + rows), range(first[1], first[1] + columns)
    if len(array.shape) == 2:
        return np.array([[labels.pair(row, column) for column in across] for row in down])
    elements = [[array.element_at(row, column) for column in across] for row in down]
    return np.array([[labels.indices(array, each) if each < array.size else "" for each in line] for line in elements])


@lru_cache(maxsize=64)
def _some_labels(
    array: MemoryArray, rows: int, columns: int, first: tuple[int, int], labels: LabelStyle, shown: bytes
) -> npt.NDArray[np.str_]:
    """Return the indices of the cells that are ``shown`` (rows, columns, of bool); the same object for the same cells, whose
    layout a painter keeps.
    """
    return np.where(np.frombuffer(shown, bool).reshape(rows, columns), index_labels(array, rows, columns, first, labels), "")


@lru_cache(maxsize=256)
def label_size(longest: str, cell: float, pixels: float = 1.2, least: float = TypeSizes().least) -> float:
    """Return the font size at which ``longest`` fits a cell with a margin; 0 if it would be smaller than ``least`` units, or
    unreadable at these pixels per unit.
    """
    most = min(_HIGHEST * cell, _WIDEST * cell / max(text_width(longest, 1.0), 1e-9), max(_LARGEST_LABEL, 0.4 * cell))
    size = max(_LOOSE * most, least) if most >= least else most
    return size if size >= least and size * pixels >= _SMALLEST_LABEL else 0.0


def longest_of(texts: Iterable[str]) -> str:
    """Return the widest of some texts, "0" if all are empty."""
    return max(set(texts), key=lambda text: text_width(text, 1.0), default="") or "0"


def grid_of(table: CellGrid, array: MemoryArray, options: ViewOptions) -> Grid:
    """Return the grid of a matrix: cells large enough to be visible, and only those of the table within ``options.clip``."""
    grid = in_window(Grid(array, max(1, math.ceil(_LEAST_CELL / (table.cell * options.zoom)))), table)
    if options.clip is None:
        return grid
    x, y, width, height = options.clip
    side = table.cell * grid.factor
    (r0, c0), (rows, columns) = grid.origin, grid.shape

    def cells(at: float, length: float, origin: float, first: int, count: int) -> tuple[int, int]:
        step = side * _CROP_STEP
        low, high = (math.floor((at - origin) / step), math.ceil((at + length - origin) / step))
        return max(first, low * _CROP_STEP), min(first + count, high * _CROP_STEP)

    top, left = table.y - table.first[0] * table.cell, table.x - table.first[1] * table.cell
    return grid.cropped((*cells(y, height, top, r0, rows), *cells(x, width, left, c0, columns)))


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
    fill: npt.NDArray[np.uint8], palette: Palette, table: CellGrid, grid: Grid, options: ViewOptions,
    labels: npt.NDArray[np.str_] | None = None, shown: npt.NDArray[np.bool_] | None = None,
) -> Cells:  # fmt: skip
    """Draw ``fill`` (rows, columns) on ``grid`` of a matrix that stands at ``table``. ``labels`` (default: the indices) are
    drawn if all of them fit; indices in the cells ``shown`` (rows, columns) alone.
    """
    theme, zoom = options.theme, options.zoom
    rows, columns = fill.shape
    size = 0.0
    if can_label(fill, table, grid, options):
        longest = (
            options.labels.indices(grid.array, grid.array.size - 1) if labels is None else longest_of(labels.ravel().tolist())
        )
        size = label_size(longest, table.cell, options.pixels, options.least)
        if size and labels is None:
            own = grid.array, rows, columns, grid.origin, options.labels
            labels = index_labels(*own) if shown is None else _some_labels(*own, shown.tobytes())
    side = table.cell * grid.factor
    x = table.x - table.first[1] * table.cell + grid.origin[1] * side
    y = table.y - table.first[0] * table.cell + grid.origin[0] * side
    return Cells(
        grid.array.name, x, y, side, fill, palette, inks_for(theme, palette), labels if size else None, size,
        theme.background if side * zoom >= 7.5 else None, grid.factor, None, grid.origin,
        meaning=ArrayCells(grid.array.name, grid.array.space),
    )  # fmt: skip


def can_label(fill: npt.NDArray[np.uint8], table: CellGrid, grid: Grid, options: ViewOptions) -> bool:
    """Whether cells are single elements, few enough and large enough for text."""
    return grid.factor == 1 and fill.size <= _MOST_LABELS and table.cell * options.pixels > _SMALLEST_LABEL
