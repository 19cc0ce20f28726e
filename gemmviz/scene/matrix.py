"""One matrix as cells, or as an image where its cells would be too small to see."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.scene.primitives import Cells, Picture
from gemmviz.scene.text import text_width
from gemmviz.scene.theme import Theme, channels, mixed

BASE, AREA, SOURCE, LIT = range(4)
MOST_CELLS = 256
_SMALLEST_LABEL = 7.0


def matrix_palette(theme: Theme, name: str) -> tuple[str, ...]:
    """Colours of the states: BASE, in the block's AREA, SOURCE of what is read from a tile now, LIT."""
    base = mixed(theme.background, theme.accent(name), 0.13)
    return base, theme.tint(name, 0.33), theme.tint(name, 0.62), theme.accent(name)


@lru_cache(maxsize=32)
def index_labels(rows: int, columns: int) -> npt.NDArray[np.str_]:
    """The text ``row,column`` for every cell."""
    return np.array([[f"{row},{column}" for column in range(columns)] for row in range(rows)])


@lru_cache(maxsize=64)
def label_size(longest: str, cell: float, zoom: float = 1.0) -> float:
    """The font size at which ``longest`` fits a cell with some air; 0 where it would be too small to read at this zoom."""
    size = min(cell * 0.42, cell * 0.84 / max(text_width(longest, 1.0), 1e-9))
    return size if size * zoom >= _SMALLEST_LABEL else 0.0


def matrix_cells(
    key: str, name: str, state: npt.NDArray[np.uint8], x: float, y: float, cell: float, theme: Theme, zoom: float = 1.0
) -> Cells | Picture:
    """``state`` (rows, columns), as in ``matrix_palette``, drawn from (x, y) with cells of side ``cell``; indices are
    written into cells that are large enough at ``zoom``.
    """
    rows, columns = state.shape
    palette = matrix_palette(theme, name)
    if max(rows, columns) > MOST_CELLS:
        return Picture(key, x, y, columns * cell, rows * cell, coloured(pooled(state), palette))
    size = label_size(f"{rows - 1},{columns - 1}", cell, zoom)
    inks = (theme.faint, theme.text, theme.ink_on(palette[2]), theme.ink_on(palette[3]))
    return Cells(
        key, x, y, cell, state, palette, inks, index_labels(rows, columns) if size else None, size,
        theme.background if cell * zoom >= 6 else None,
    )  # fmt: skip


def pooled(state: npt.NDArray[np.uint8], most: int = 1024) -> npt.NDArray[np.uint8]:
    """The largest state of each small square of cells, so that nothing lit is lost: at most ``most`` a side."""
    factor = -(-max(state.shape) // most)
    if factor == 1:
        return state
    rows, columns = (-(-extent // factor) for extent in state.shape)
    padded = np.zeros((rows * factor, columns * factor), np.uint8)
    padded[: state.shape[0], : state.shape[1]] = state
    reduced: Any = padded.reshape(rows, factor, columns, factor).max(axis=(1, 3))
    return np.asarray(reduced, np.uint8)


def coloured(state: npt.NDArray[np.uint8], palette: tuple[str, ...]) -> npt.NDArray[np.uint8]:
    """Colours for states: uint8 (rows, columns, 3)."""
    return np.array([channels(colour) for colour in palette], np.uint8)[state]
