"""One matrix as a table of cells, at a resolution that makes sense on a screen."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.grid import Grid
from gemmviz.model.trace import MemoryArray
from gemmviz.scene.palette import Palette, inks_for
from gemmviz.scene.primitives import Cells
from gemmviz.scene.text import text_width
from gemmviz.scene.theme import Theme

_MOST_CELLS, _MOST_ZOOMED_CELLS = 1024, 4096
_MOST_LABELS = 256 * 256
_SMALLEST_LABEL = 7.0


@lru_cache(maxsize=32)
def index_labels(rows: int, columns: int) -> npt.NDArray[np.str_]:
    """The text ``row,column`` for every cell."""
    return np.array([[f"{row},{column}" for column in range(columns)] for row in range(rows)])


@lru_cache(maxsize=256)
def label_size(longest: str, cell: float, zoom: float = 1.0) -> float:
    """The font size at which ``longest`` fits a cell with some air; 0 where it would be too small to read at this zoom."""
    size = min(cell * 0.42, cell * 0.84 / max(text_width(longest, 1.0), 1e-9))
    return size if size * zoom >= _SMALLEST_LABEL else 0.0


def grid_of(array: MemoryArray, zoom: float) -> Grid:
    """The grid that a matrix is drawn on: finer when it is looked at closely."""
    return Grid.of(array, int(min(_MOST_ZOOMED_CELLS, _MOST_CELLS * zoom)))


def matrix_cells(
    key: str, fill: npt.NDArray[np.uint8], palette: Palette, at: tuple[float, float, float], theme: Theme, zoom: float,
    labels: npt.NDArray[np.str_] | None = None, factor: int = 1,
) -> Cells:  # fmt: skip
    """``fill`` (rows, columns) from (x, y) with an element's side, given as ``at``. ``labels`` (default: the indices) are
    written where all of them fit their cells at ``zoom``.
    """
    x, y, cell = at
    rows, columns = fill.shape
    size = 0.0
    if factor == 1 and rows * columns <= _MOST_LABELS and cell * zoom > _SMALLEST_LABEL:
        longest = f"{rows - 1},{columns - 1}" if labels is None else max(labels.ravel().tolist(), key=len) or "0"
        size = label_size(longest, cell, zoom)
        if size and labels is None:
            labels = index_labels(rows, columns)
    return Cells(
        key, x, y, cell * factor, fill, palette, inks_for(theme, palette), labels if size else None, size,
        theme.background if cell * factor * zoom >= 7.5 else None, factor,
    )  # fmt: skip
