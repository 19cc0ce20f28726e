"""The pixels of a table of cells: their colours, the lines between them, and which are visible."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QImage, QPainter

_AROUND = 50.0  # pixels around the visible part within which labels are drawn


def draw_fill(
    painter: QPainter, box: QRectF, fill: npt.NDArray[np.uint8], palette: tuple[str, ...], clip: QRectF, ratio: float
) -> None:
    """Draw the visible cells, a band of device pixels for each row. A cell's edges don't depend on ``clip``: Qt would round the
    steps of a stretched table, from the first column that it draws.
    """
    rows, columns = fill.shape
    first_column, x = _device_edges(box.left(), box.width() / columns, columns, clip.left(), clip.right(), ratio)
    first_row, y = _device_edges(box.top(), box.height() / rows, rows, clip.top(), clip.bottom(), ratio)
    seen = fill[first_row : first_row + len(y) - 1, first_column : first_column + len(x) - 1]
    bands = np.repeat(_colours(palette)[seen], np.diff(x), axis=1)
    high, wide = bands.shape
    image = QImage(bands.data, wide, high, 4 * wide, QImage.Format.Format_RGB32)
    left, edges = int(x[0]) / ratio, (y / ratio).tolist()
    for row, (top, bottom) in enumerate(pairwise(edges)):
        if bottom > top and wide:
            painter.drawImage(QRectF(left, top, wide / ratio, bottom - top), image, QRectF(0, row, wide, 1))


def _device_edges(
    start: float, gap: float, count: int, low: float, high: float, ratio: float
) -> tuple[int, npt.NDArray[np.int64]]:  # fmt: skip
    """Return the first of ``count`` cells that lies between two positions, and the edges of these cells in device pixels, none
    far outside.
    """
    first = min(count - 1, max(0, floor((low - start) / gap)))
    last = max(first + 1, min(count, ceil((high - start) / gap)))
    edges = np.round((start + gap * np.arange(first, last + 1)) * ratio)
    return first, np.clip(edges, floor(low * ratio) - 1, ceil(high * ratio) + 1).astype(np.int64)


@lru_cache(maxsize=64)
def _colours(palette: tuple[str, ...]) -> npt.NDArray[np.uint32]:
    return np.array([0xFF000000 | int(colour[1:], 16) for colour in palette], np.uint32)


def lines_between(box: QRectF, step: float, pitch: float, clip: QRectF) -> list[QRect]:
    """Return the visible lines between cells, as thin rectangles on whole pixels."""
    thick = max(1, round(min(2.0, step * 0.05)))
    left, top, width, height = round(box.left()), round(box.top()), round(box.width()), round(box.height())
    xs = _edges(box.left(), step, round(box.width() / step), clip.left(), clip.right())
    ys = _edges(box.top(), pitch, round(box.height() / pitch), clip.top(), clip.bottom())
    upright = [QRect(x - thick // 2, top, thick, height) for x in xs]
    return upright + [QRect(left, y - thick // 2, width, thick) for y in ys]


def _edges(start: float, gap: float, count: int, low: float, high: float) -> Iterator[int]:
    """Yield the whole pixels of the inner edges of ``count`` cells that lie between two positions."""
    first, last = max(1, floor((low - start) / gap)), min(count - 1, ceil((high - start) / gap))
    return (round(start + gap * number) for number in range(first, last + 1))


def visible_part(start: float, gap: float, count: int, low: float, high: float) -> slice:
    """Return the cells in a row of ``count`` whose labels may reach the pixels between two positions."""
    first, last = floor((low - _AROUND - start) / gap) - 1, ceil((high + _AROUND - start) / gap) + 1
    return slice(max(0, min(first, count)), max(0, min(last, count)))
