"""Glyphs and squares, painted by the thousand: each kind from one pixmap in one call."""

from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap
from shiboken6 import Shiboken

from gemmviz.render.qt.fonts import font
from gemmviz.scenes.kit.text import CAP_HEIGHT, text_width

Numbers = npt.NDArray[Any]
_IN_ATLAS = (*range(32, 127), ord("×"))
_PLACES = np.full(257, -1)  # in the pixmap, by code, row by row; the last entry is for all beyond
_PLACES[list(_IN_ATLAS)] = np.arange(len(_IN_ATLAS))
_ACROSS = 16


class LabelLayout(Struct, frozen=True):
    """The glyphs of labels, one entry each: the cell, the character's code, and the offset from the cell's middle in device
    pixels.
    """

    row: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    glyph: npt.NDArray[np.int64]
    shift: npt.NDArray[np.float64]

    @classmethod
    def of(cls, labels: npt.NDArray[np.str_], pixels: int) -> "LabelLayout":
        rows, columns = labels.shape
        codes = np.ascontiguousarray(labels).view(np.uint32).reshape(rows * columns, labels.itemsize // 4)
        used = np.unique(codes)
        advances = np.array([text_width(chr(code), float(pixels)) if code else 0.0 for code in used.tolist()])
        widths = advances[np.searchsorted(used, codes)]
        left = np.cumsum(widths, axis=1) - widths - widths.sum(axis=1, keepdims=True) / 2
        cell, position = np.nonzero(codes)
        shift = left[cell, position] + widths[cell, position] / 2
        return cls(cell // columns, cell % columns, codes[cell, position].astype(np.int64), shift)


class Atlas:
    """The ASCII glyphs of the label font, and ×, at one size in one colour, in one pixmap."""

    def __init__(self, pixels: int, ink: str) -> None:
        self.side = int(pixels * 1.4) + 2
        self.pixmap = QPixmap(_ACROSS * self.side, -(-len(_IN_ATLAS) // _ACROSS) * self.side)
        self.pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self.pixmap)
        painter.setFont(font("regular", pixels))
        painter.setPen(QColor(ink))
        for place, code in enumerate(_IN_ATLAS):
            x = (place % _ACROSS + 0.5) * self.side - text_width(chr(code), float(pixels)) / 2
            y = (place // _ACROSS + 0.5) * self.side + CAP_HEIGHT * pixels / 2
            painter.drawText(QPointF(x, y), chr(code))
        painter.end()

    @staticmethod
    def has(glyph: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Whether characters are in the atlas; those of Chinese, for example, are not."""
        has: npt.NDArray[np.bool_] = _PLACES[np.minimum(glyph, len(_PLACES) - 1)] >= 0
        return has

    def draw(self, painter: QPainter, x: Numbers, y: Numbers, ratio: float, glyph: npt.NDArray[Any]) -> None:
        """Draw one glyph at each (x, y), its middle."""
        place = _PLACES[glyph]
        draw_pieces(painter, self.pixmap, self.side, (x, y), (place % _ACROSS, place // _ACROSS), ratio)


class Stamp(Struct, frozen=True):
    """A pixmap of a square that is drawn many times."""

    pixmap: QPixmap
    side: int

    def draw(self, painter: QPainter, x: Numbers, y: Numbers, ratio: float) -> None:
        """Draw one square at each (x, y), its middle."""
        draw_pieces(painter, self.pixmap, self.side, (x, y), (np.zeros(len(x)), np.zeros(len(x))), ratio)


def stamp(side: int, colour: str, line: str | None) -> Stamp:
    """Return a square with a side in device pixels, with a border if it is large enough."""
    pixmap = QPixmap(side, side)
    pixmap.fill(QColor(colour))
    if line is not None and side > 5:
        painter = QPainter(pixmap)
        painter.setPen(QPen(QColor(line), max(1, side // 14)))
        painter.drawRect(pixmap.rect().adjusted(0, 0, -1, -1))
        painter.end()
    return Stamp(pixmap, side)


def draw_pieces(
    painter: QPainter, pixmap: QPixmap, side: int, at: tuple[Numbers, Numbers], piece: tuple[Any, Any], ratio: float
) -> None:
    """Draw square pieces of a pixmap, given by column and row, each centred at a point: one call for thousands.

    The array has the layout of QPainter.PixmapFragment.
    """
    fragments = np.zeros((len(at[0]), 10))
    fragments[:, 0], fragments[:, 1] = np.round(at[0] * ratio) / ratio, np.round(at[1] * ratio) / ratio
    fragments[:, 2], fragments[:, 3] = piece[0] * side, piece[1] * side
    fragments[:, 4:6] = side
    fragments[:, 6:8] = 1 / ratio
    fragments[:, 9] = 1
    first: Any = Shiboken.wrapInstance(fragments.ctypes.data, QPainter.PixmapFragment)
    painter.drawPixmapFragments(first, len(fragments), pixmap)
