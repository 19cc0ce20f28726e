"""A matrix at reduced resolution: each cell of a grid represents ``factor`` x ``factor`` elements, so that 8192 x 8192 stays
fast.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.records import replace
from gemmviz.model.sites import MemoryArray

Crop = tuple[int, int, int, int]


class Grid(Struct, frozen=True):
    """Cells over ``array``, or over its part ``crop``: rows and columns of cells, half-open."""

    array: MemoryArray
    factor: int = 1
    crop: Crop | None = None

    @property
    def whole(self) -> tuple[int, int]:
        """Rows and columns of cells over the whole array."""
        rows, columns = self.array.extents
        return -(-rows // self.factor), -(-columns // self.factor)

    @property
    def shape(self) -> tuple[int, int]:
        if self.crop is None:
            return self.whole
        r0, r1, c0, c1 = self.crop
        return r1 - r0, c1 - c0

    @property
    def origin(self) -> tuple[int, int]:
        """Row and column of the first cell."""
        return (0, 0) if self.crop is None else (self.crop[0], self.crop[2])

    @property
    def part(self) -> tuple[slice, slice]:
        """Its place in a table over the whole array."""
        (r0, c0), (rows, columns) = self.origin, self.shape
        return slice(r0, r0 + rows), slice(c0, c0 + columns)

    def cropped(self, crop: Crop) -> "Grid":
        """The part of this grid within ``crop``; at least one cell."""
        rows, columns = self.whole
        r0, c0 = max(0, min(crop[0], rows - 1)), max(0, min(crop[2], columns - 1))
        r1, c1 = max(r0 + 1, min(crop[1], rows)), max(c0 + 1, min(crop[3], columns))
        return self if (r0, r1, c0, c1) == (0, rows, 0, columns) else replace(self, crop=(r0, r1, c0, c1))

    @property
    def cell_count(self) -> int:
        return self.shape[0] * self.shape[1]

    def cells(self, elements: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The cell of each element, flat, row by row; ``cell_count`` for an element outside the crop."""
        if self.factor == 1 and self.crop is None and not self.array.column_major:
            return elements.astype(np.int64)
        rows, columns = self.array.row_column(elements)
        (r0, c0), (height, width) = self.origin, self.shape
        rows, columns = rows // self.factor - r0, columns // self.factor - c0
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        return np.where(inside, rows * width + columns, self.cell_count).astype(np.int64)

    def elements(self) -> npt.NDArray[np.int64]:
        """The first element of each cell: (rows, columns)."""
        (r0, c0), (height, width) = self.origin, self.shape
        rows = (np.arange(r0, r0 + height, dtype=np.int64) * self.factor)[:, None]
        columns = (np.arange(c0, c0 + width, dtype=np.int64) * self.factor)[None, :]
        high, wide = self.array.extents
        return columns * high + rows if self.array.column_major else rows * wide + columns

    def table(self) -> npt.NDArray[np.uint8]:
        """Zeros, flat: one for each cell, and one more for elements outside the crop."""
        return np.zeros(self.cell_count + 1, np.uint8)

    def shaped(self, table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """A ``table`` as (rows, columns)."""
        return table[: self.cell_count].reshape(self.shape)
