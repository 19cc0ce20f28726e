"""Paints a scene with QPainter. Cells are an n x n image stretched over their box; their labels come from a glyph atlas, one
call for thousands; everything else is drawn as it is.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QImage, QPainter, QPen, QPixmap, QTransform
from shiboken6 import Shiboken

from gemmviz.scene.primitives import Cells, Face, Labels, Lines, Primitive, Rects, Scene, Squares
from gemmviz.scene.text import CAP_HEIGHT, font_path, text_width

_KEPT_LAYOUTS = 24
Floats = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class View:
    """How scene units become pixels: ``pixel = unit * scale + offset``. ``ratio``: device pixels per pixel; ``zoom``: how much
    larger than the whole frame.
    """

    scale: float
    dx: float = 0.0
    dy: float = 0.0
    ratio: float = 1.0
    zoom: float = 1.0

    def stroke(self, width: float) -> float:
        """Pixels of a line this wide: it doesn't grow with the zoom."""
        return max(1.0, width * self.scale / self.zoom)

    def rect(self, x: float, y: float, width: float, height: float) -> QRectF:
        return QRectF(x * self.scale + self.dx, y * self.scale + self.dy, width * self.scale, height * self.scale)

    @classmethod
    def fit(cls, scene: Scene, width: float, height: float, ratio: float = 1.0) -> "View":
        """The view that shows the whole scene in the middle of this many pixels."""
        scale = min(width / scene.width, height / scene.height)
        return cls(scale, (width - scene.width * scale) / 2, (height - scene.height * scale) / 2, ratio)


@cache
def load_fonts() -> dict[Face, str]:
    """Registers the bundled fonts with Qt, once; the family for each face. Needs a QGuiApplication."""
    families: dict[Face, str] = {}
    faces: tuple[Face, ...] = ("regular", "semibold", "mono")
    for face in faces:
        number = QFontDatabase.addApplicationFont(str(font_path(face)))
        families[face] = QFontDatabase.applicationFontFamilies(number)[0]
    return families


def font(face: Face, pixels: float) -> QFont:
    """The bundled font at a size in pixels."""
    made = QFont(load_fonts()[face])
    made.setPixelSize(max(1, round(pixels)))
    made.setWeight(QFont.Weight.DemiBold if face == "semibold" else QFont.Weight.Normal)
    made.setFeature(QFont.Tag("calt"), 0)  # no ligatures: code keeps its columns
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


class ScenePainter:
    """Paints scenes and keeps what can be used again: glyph atlases and the places of labels."""

    def __init__(self) -> None:
        self._atlases: dict[tuple[int, str], Atlas] = {}
        self._layouts: OrderedDict[tuple[int, int], tuple[Any, LabelLayout]] = OrderedDict()

    def paint(self, painter: QPainter, scene: Scene, view: View, clip: QRectF) -> None:
        """Draws ``scene`` over ``clip`` (pixels). The painter's transform must be the identity."""
        painter.fillRect(clip, QColor(scene.background))
        self.paint_over(painter, scene.primitives, view, clip)

    def paint_over(self, painter: QPainter, primitives: Iterable[Primitive], view: View, clip: QRectF) -> None:
        """Draws primitives over what is there."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        for primitive in primitives:
            _PAINTERS[type(primitive)](self, painter, primitive, view, clip)

    def cells(self, painter: QPainter, cells: Cells, view: View, clip: QRectF) -> None:
        box = view.rect(*cells.box)
        if not box.intersects(clip):
            return
        _draw_cells(painter, box, cells.fill, cells.palette)
        if cells.line is not None and min(cells.size, cells.pitch) * view.scale >= 4:
            self._grid(painter, cells, box, view)
        if cells.labels is not None and cells.label_size * view.scale >= 6:
            self._cell_labels(painter, cells, view, clip)

    def _grid(self, painter: QPainter, cells: Cells, box: QRectF, view: View) -> None:
        rows, columns = cells.fill.shape
        step, pitch = cells.size * view.scale, cells.pitch * view.scale
        pen = QPen(QColor(cells.line or ""), min(2.0, max(1.0, step * 0.05)))
        pen.setCosmetic(True)
        painter.setPen(pen)
        xs, ys = (box.left() + step * np.arange(columns + 1)).tolist(), (box.top() + pitch * np.arange(rows + 1)).tolist()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawLines(
            [QLineF(x, box.top(), x, box.bottom()) for x in xs] + [QLineF(box.left(), y, box.right(), y) for y in ys]
        )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _cell_labels(self, painter: QPainter, cells: Cells, view: View, clip: QRectF) -> None:
        pixels = max(1, round(cells.label_size * view.scale * view.ratio))
        layout = self._layout(cells.labels, pixels)
        step = cells.size * view.scale
        origin = view.rect(cells.x, cells.y, 0, 0)
        x = origin.x() + (layout.column + 0.5) * step + layout.shift / view.ratio
        y = origin.y() + (layout.row + 0.5) * cells.pitch * view.scale
        entry = cells.fill[layout.row, layout.column]
        seen = (x > clip.left() - 50) & (x < clip.right() + 50) & (y > clip.top() - 50) & (y < clip.bottom() + 50)
        if not seen.all():
            x, y, entry = x[seen], y[seen], entry[seen]
        self._glyphs(painter, x, y, layout.glyph if seen.all() else layout.glyph[seen], entry, cells.inks, pixels, view.ratio)

    def _glyphs(
        self, painter: QPainter, x: Floats, y: Floats, glyph: Any, entry: Any, inks: tuple[str, ...], pixels: int, ratio: float
    ) -> None:
        """Draws glyphs at (x, y), each in the ink of its palette entry."""
        for ink in sorted(set(inks)):
            chosen = np.array([other == ink for other in inks])[entry]
            if chosen.any():
                self._atlas(pixels, ink).draw(painter, x[chosen], y[chosen], glyph[chosen], ratio)

    def squares(self, painter: QPainter, squares: Squares, view: View, clip: QRectF) -> None:
        """All squares of one colour are one call."""
        boxes = squares.boxes * view.scale
        boxes[:, 0] += view.dx
        boxes[:, 1] += view.dy
        pen = QPen(QColor(squares.line), 1.5) if squares.line else QPen(Qt.PenStyle.NoPen)
        painter.setPen(pen)
        for entry in np.unique(squares.fill).tolist():
            painter.setBrush(QColor(squares.palette[entry]))
            painter.drawRects([QRectF(x, y, side, side) for x, y, side in boxes[squares.fill == entry].tolist()])
        if squares.labels is not None and squares.label_size * view.scale >= 6:
            pixels = max(1, round(squares.label_size * view.scale * view.ratio))
            layout = LabelLayout.of(squares.labels[:, None], pixels)
            middle = boxes[:, :2] + boxes[:, 2:] / 2
            x, y = middle[layout.row, 0] + layout.shift / view.ratio, middle[layout.row, 1]
            self._glyphs(painter, x, y, layout.glyph, squares.fill[layout.row], squares.inks, pixels, view.ratio)

    def _layout(self, labels: Any, pixels: int) -> "LabelLayout":
        key = (id(labels), pixels)
        if key not in self._layouts:
            self._layouts[key] = labels, LabelLayout.of(labels, pixels)
            if len(self._layouts) > _KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        return self._layouts[key][1]

    def _atlas(self, pixels: int, ink: str) -> "Atlas":
        key = (pixels, ink)
        if key not in self._atlases:
            if len(self._atlases) > 64:
                self._atlases.clear()
            self._atlases[key] = Atlas(pixels, ink)
        return self._atlases[key]

    def rects(self, painter: QPainter, rects: Rects, view: View, clip: QRectF) -> None:
        painter.setBrush(QColor(rects.fill) if rects.fill else Qt.BrushStyle.NoBrush)
        width = view.stroke(rects.stroke_width)
        pen = QPen(QColor(rects.stroke), width) if rects.stroke else QPen(Qt.PenStyle.NoPen)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        radius = rects.radius * view.scale
        placed = [view.rect(*box) for box in rects.boxes.tolist()]
        if not radius:
            painter.drawRects(placed)
        for box in placed if radius else ():
            painter.drawRoundedRect(box, radius, radius)

    def lines(self, painter: QPainter, lines: Lines, view: View, clip: QRectF) -> None:
        pen = QPen(QColor(lines.stroke), view.stroke(lines.width))
        if lines.dashed:
            pen.setDashPattern([3.0, 4.0])
        painter.setPen(pen)
        ends = lines.segments * view.scale + np.array([view.dx, view.dy, view.dx, view.dy])
        painter.drawLines([QLineF(*end) for end in ends.tolist()])

    def labels(self, painter: QPainter, labels: Labels, view: View, clip: QRectF) -> None:
        drawn_at = max(1, round(labels.size * view.scale))
        painter.setFont(font(labels.face, drawn_at))
        painter.setPen(QColor(labels.colour))
        shares = {"start": 0.0, "middle": 0.5, "end": 1.0}
        size = labels.size * view.scale / drawn_at  # font sizes are whole pixels; the transform makes them exact
        for (x, y), text in zip(labels.at.tolist(), labels.texts, strict=True):
            left = x - shares[labels.anchor] * text_width(text, labels.size, labels.face)
            painter.setTransform(QTransform(size, 0, 0, size, left * view.scale + view.dx, y * view.scale + view.dy), True)
            painter.drawText(QPointF(0, 0), text)
            painter.resetTransform()


def _draw_cells(painter: QPainter, box: QRectF, fill: npt.NDArray[np.uint8], palette: tuple[str, ...]) -> None:
    """An image with one pixel a cell, stretched over the box."""
    rows, columns = fill.shape
    data = np.ascontiguousarray(fill)
    image = QImage(data.data, columns, rows, columns, QImage.Format.Format_Indexed8)
    image.setColorTable([0xFF000000 | int(colour[1:], 16) for colour in palette])
    painter.drawImage(box, image)


_Paint = Callable[[ScenePainter, QPainter, Any, View, QRectF], None]
_PAINTERS: dict[type, _Paint] = {
    Cells: ScenePainter.cells,
    Rects: ScenePainter.rects,
    Lines: ScenePainter.lines,
    Labels: ScenePainter.labels,
    Squares: ScenePainter.squares,
}


@dataclass(frozen=True)
class LabelLayout:
    """One entry a glyph: its cell, which glyph of the atlas it is, and how far right of the cell's middle it goes (device
    pixels).
    """

    row: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    glyph: npt.NDArray[np.int64]
    shift: npt.NDArray[np.float64]

    @classmethod
    def of(cls, labels: npt.NDArray[np.str_], pixels: int) -> "LabelLayout":
        rows, columns = labels.shape
        codes = np.ascontiguousarray(labels).view(np.uint32).reshape(rows * columns, -1)
        advances = np.zeros(256)
        for code in np.unique(codes[codes > 0]).tolist():
            advances[min(code, 255)] = text_width(chr(code), float(pixels))
        codes = np.minimum(codes, 255)
        widths = advances[codes]
        left = np.cumsum(widths, axis=1) - widths - widths.sum(axis=1, keepdims=True) / 2
        cell, position = np.nonzero(codes)
        shift = left[cell, position] + widths[cell, position] / 2
        return cls(cell // columns, cell % columns, codes[cell, position].astype(np.int64), shift)


class Atlas:
    """All Latin-1 glyphs of the label font at one size in one colour, in one pixmap."""

    def __init__(self, pixels: int, ink: str) -> None:
        self.side = int(pixels * 1.4) + 2
        self.pixmap = QPixmap(16 * self.side, 16 * self.side)
        self.pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self.pixmap)
        painter.setFont(font("regular", pixels))
        painter.setPen(QColor(ink))
        for code in range(33, 256):
            x = (code % 16 + 0.5) * self.side - text_width(chr(code), float(pixels)) / 2
            y = (code // 16 + 0.5) * self.side + CAP_HEIGHT * pixels / 2
            painter.drawText(QPointF(x, y), chr(code))
        painter.end()

    def draw(self, painter: QPainter, x: npt.NDArray[Any], y: npt.NDArray[Any], glyph: npt.NDArray[Any], ratio: float) -> None:
        """Draws one glyph at each (x, y), its middle. The array has the layout of QPainter.PixmapFragment."""
        fragments = np.zeros((len(x), 10))
        fragments[:, 0], fragments[:, 1] = np.round(x * ratio) / ratio, np.round(y * ratio) / ratio
        fragments[:, 2], fragments[:, 3] = glyph % 16 * self.side, glyph // 16 * self.side
        fragments[:, 4:6] = self.side
        fragments[:, 6:8] = 1 / ratio
        fragments[:, 9] = 1
        first: Any = Shiboken.wrapInstance(fragments.ctypes.data, QPainter.PixmapFragment)
        painter.drawPixmapFragments(first, len(fragments), self.pixmap)


def scene_image(scene: Scene, pixels_per_unit: float, painter: ScenePainter | None = None) -> QImage:
    """The whole scene as an image. Needs a QGuiApplication."""
    width, height = round(scene.width * pixels_per_unit), round(scene.height * pixels_per_unit)
    image = QImage(width, height, QImage.Format.Format_RGB32)
    brush = QPainter(image)
    (painter or ScenePainter()).paint(brush, scene, View(pixels_per_unit), QRectF(0, 0, width, height))
    brush.end()
    return image
