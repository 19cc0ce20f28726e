"""A matrix at a resolution: each cell of a grid stands for ``factor`` x ``factor`` elements, so that 8192 x 8192 stay quick."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.trace import MemoryArray


@dataclass(frozen=True)
class Grid:
    """Cells over ``array``."""

    array: MemoryArray
    factor: int = 1

    @classmethod
    def of(cls, array: MemoryArray, most: int) -> "Grid":
        """The finest grid with at most ``most`` cells a side."""
        return cls(array, max(1, -(-max(rows_columns(array)) // most)))

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = rows_columns(self.array)
        return -(-rows // self.factor), -(-columns // self.factor)

    def cells(self, elements: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The cell of each element, flat, row by row."""
        if self.factor == 1 and not self.array.column_major:
            return elements.astype(np.int64)
        rows, columns = self.array.row_column(elements)
        return np.asarray(rows // self.factor * self.shape[1] + columns // self.factor, np.int64)


def rows_columns(array: MemoryArray) -> tuple[int, int]:
    """A matrix as it is; a shared array as declared, leading dims stacked as rows."""
    if len(array.shape) > 1:
        return array.size // array.shape[-1], array.shape[-1]
    return 1, array.size


def spread(elements: npt.NDArray[Any], width: int) -> npt.NDArray[np.int64]:
    """The elements that active lanes touch: those that ``elements`` (-1 inactive) name and their ``width - 1`` neighbours."""
    first = elements[elements >= 0].astype(np.int64)
    return first if width == 1 else (first[:, None] + np.arange(width)).ravel()
