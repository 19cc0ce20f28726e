"""A table of square cells on the stage, which holds rows and columns of a matrix or of a tile."""

from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.threads import Range


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
