"""Painting of a scene with QPainter.

Cells are an n x n image stretched over their box. Their labels come from a glyph atlas, one call for thousands. All other
primitives are drawn directly.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QLineF, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QImage,
    QPainter,
    QPen,
    QPixmap,
    QStaticText,
    QTextLayout,
    QTransform,
)
from shiboken6 import Shiboken

from gemmviz.model.arrays import AnyArray, Bools, Bytes, Floats, Longs, Strings
from gemmviz.model.messages import InstallationError
from gemmviz.scenes.kit.primitives import (
    ANCHORED,
    CAP_HEIGHT,
    Cells,
    Face,
    Labels,
    Lines,
    Primitive,
    Rects,
    Scene,
    Squares,
    font_path,
    text_width,
    wide_characters,
)


@cache
def load_fonts() -> dict[Face, str]:
    """Register the bundled fonts with Qt, once, and return the family of each face.

    Needs a QGuiApplication. Raises InstallationError for a font file that is missing or damaged.
    """
    families: dict[Face, str] = {}
    faces: tuple[Face, ...] = ("regular", "semibold", "mono")
    for face in faces:
        number = QFontDatabase.addApplicationFont(str(font_path(face)))
        if number < 0:
            raise InstallationError("this font can't be read", file=str(font_path(face)))
        families[face] = QFontDatabase.applicationFontFamilies(number)[0]
    return families


def font(face: Face, pixels: float) -> QFont:
    """Return a bundled font at a size in pixels."""
    font = QFont(load_fonts()[face])
    font.setPixelSize(max(1, round(pixels)))
    font.setWeight(QFont.Weight.DemiBold if face == "semibold" else QFont.Weight.Normal)
    font.setFeature(QFont.Tag("calt"), 0)  # no ligatures: code keeps its columns
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


# Glyphs and squares, painted by the thousand: each kind from one pixmap in one call.

Numbers = AnyArray
_IN_ATLAS = (*range(32, 127), ord("×"))
_GLYPH_PLACES = np.full(257, -1)  # in the pixmap, by code, row by row; the last entry is for all beyond
_GLYPH_PLACES[list(_IN_ATLAS)] = np.arange(len(_IN_ATLAS))
_ACROSS = 16


class LabelLayout(Struct, frozen=True):
    """The glyphs of labels, one entry each: the cell, the character's code, and the offset from the cell's middle in device
    pixels.
    """

    row: Longs
    column: Longs
    glyph: Longs
    shift: Floats

    @classmethod
    def of(cls, labels: Strings, pixels: int) -> "LabelLayout":
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
    def has(glyph: AnyArray) -> Bools:
        """Whether characters are in the atlas; those of Chinese, for example, are not."""
        has: Bools = _GLYPH_PLACES[np.minimum(glyph, len(_GLYPH_PLACES) - 1)] >= 0
        return has

    def draw(self, painter: QPainter, x: Numbers, y: Numbers, ratio: float, glyph: AnyArray) -> None:
        """Draw one glyph at each (x, y), its middle."""
        place = _GLYPH_PLACES[glyph]
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


_KEPT_LAYOUTS = 24
_LEAST_RADIUS = 2.5  # pixels
_MOST_CACHED, _MOST_ATLASES, _MOST_STAMPS, _MOST_PICTURES = 2048, 48, 256, 16
_LARGEST_PICTURE = 1 << 20  # pixels of a text that is cached as a picture
_LARGEST_GLYPH, _LARGEST_STAMP = 48, 96  # pixels; larger ones are few and are painted one by one
_MANY_TEXTS, _MOST_ROWS = 4, 128  # texts that are drawn glyph by glyph, and cached rows of them
CacheKey = TypeVar("CacheKey")
Painted = TypeVar("Painted")


class Viewport(Struct, frozen=True):
    """The mapping of scene units to pixels: ``pixel = unit * scale + offset``. ``ratio``: device pixels per pixel; ``zoom``:
    magnification relative to the whole frame.
    """

    scale: float
    dx: float = 0.0
    dy: float = 0.0
    ratio: float = 1.0
    zoom: float = 1.0

    def stroke(self, width: float) -> float:
        """Return the pixels of a line of this width, independent of the zoom."""
        return max(1.0, width * self.scale / self.zoom)

    def rect(self, x: float, y: float, width: float, height: float) -> QRectF:
        return QRectF(x * self.scale + self.dx, y * self.scale + self.dy, width * self.scale, height * self.scale)

    def whole(self, scene: Scene, area: QRectF) -> "Viewport":
        """Return the view of the whole scene in the middle of an area, whatever this view shows."""
        return self if self.zoom == 1.0 else Viewport.fit(scene, area.width(), area.height(), self.ratio)

    @classmethod
    def fit(cls, scene: Scene, width: float, height: float, ratio: float = 1.0) -> "Viewport":
        """Return the view that shows the whole scene in the middle of an area in pixels."""
        scale = min(width / scene.width, height / scene.height)
        return cls(scale, (width - scene.width * scale) / 2, (height - scene.height * scale) / 2, ratio)


class ScenePainter:
    """A painter that caches glyph atlases and label layouts."""

    def __init__(self) -> None:
        self._atlases: dict[tuple[int, str], Atlas] = {}
        self._layouts: OrderedDict[tuple[int, int], tuple[Any, LabelLayout]] = OrderedDict()
        self._stamps: dict[tuple[int, str, str | None], Stamp] = {}
        self._texts: dict[tuple[str, Face, int], tuple[QStaticText, float]] = {}
        self._rows: dict[tuple[tuple[str, ...], int], tuple[LabelLayout, Numbers]] = {}
        self._fonts: dict[tuple[Face, int], QFont] = {}
        self._pictures: dict[tuple[str, Face, int, str, float], tuple[QPixmap, float]] = {}

    def paint(self, painter: QPainter, scene: Scene, view: Viewport, clip: QRectF) -> None:
        """Draw ``scene`` over ``clip`` (pixels). The painter's transform must be the identity."""
        self.paint_ground(painter, scene, view, clip)
        self.paint_top(painter, scene, view, clip)

    def paint_ground(self, painter: QPainter, scene: Scene, view: Viewport, clip: QRectF) -> None:
        """Draw the primitives below what moves."""
        painter.fillRect(clip, QColor(scene.background))
        self.paint_over(painter, scene.primitives, view, clip)

    def paint_top(self, painter: QPainter, scene: Scene, view: Viewport, clip: QRectF) -> None:
        """Draw the primitives above what moves. Text keeps its place when the view is zoomed."""
        self.paint_over(painter, scene.above, view, clip)
        self.paint_over(painter, scene.words, view.whole(scene, clip), clip)

    def paint_over(self, painter: QPainter, primitives: Iterable[Primitive], view: Viewport, clip: QRectF) -> None:
        """Draw primitives over the present content."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        for primitive in primitives:
            _PAINTERS[type(primitive)](self, painter, primitive, view, clip)

    def cells(self, painter: QPainter, cells: Cells, view: Viewport, clip: QRectF) -> None:
        box = view.rect(*cells.box)
        if not box.intersects(clip):
            return
        _draw_cells(painter, box, cells.fill, cells.palette)
        if cells.line is not None and min(cells.size, cells.pitch) * view.scale >= 4:
            self._grid(painter, cells, box, view)
        if cells.labels is not None and cells.label_size * view.scale >= 6:
            self._cell_labels(painter, cells, view, clip)

    def _grid(self, painter: QPainter, cells: Cells, box: QRectF, view: Viewport) -> None:
        """Draw the lines between the cells as thin rectangles on whole pixels."""
        rows, columns = cells.fill.shape
        step, pitch = cells.size * view.scale, cells.pitch * view.scale
        thick = max(1, round(min(2.0, step * 0.05)))
        left, top, width, height = round(box.left()), round(box.top()), round(box.width()), round(box.height())
        xs, ys = (np.round(start + gap * np.arange(1, n)).astype(int).tolist()
                  for start, gap, n in ((box.left(), step, columns), (box.top(), pitch, rows)))  # fmt: skip
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(cells.line or ""))
        painter.drawRects([QRect(x - thick // 2, top, thick, height) for x in xs])
        painter.drawRects([QRect(left, y - thick // 2, width, thick) for y in ys])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _cell_labels(self, painter: QPainter, cells: Cells, view: Viewport, clip: QRectF) -> None:
        pixels = max(1, round(cells.label_size * view.scale * view.ratio))
        layout = self._layout(cells.labels, pixels)
        step = cells.size * view.scale
        origin = view.rect(cells.x, cells.y, 0, 0)
        x = origin.x() + (layout.column + 0.5) * step + layout.shift / view.ratio
        y = origin.y() + (layout.row + 0.5) * cells.pitch * view.scale
        entry, glyph = cells.fill[layout.row, layout.column], layout.glyph
        visible = (x > clip.left() - 50) & (x < clip.right() + 50) & (y > clip.top() - 50) & (y < clip.bottom() + 50)
        if not visible.all():
            x, y, entry, glyph = x[visible], y[visible], entry[visible], glyph[visible]
        self._glyphs(painter, x, y, glyph, entry, cells.inks, pixels, view.ratio)

    def _many_texts(self, painter: QPainter, labels: Labels, view: Viewport, pixels: int) -> None:
        """Draw short texts in a row, such as those of an axis, glyph by glyph from an atlas in one call."""
        layout, widths = self._row_of_texts(labels.texts, pixels)
        at = labels.at * view.scale
        middle = at[:, 0] + view.dx - (ANCHORED[labels.anchor] - 0.5) * widths / view.ratio
        x = middle[layout.row] + layout.shift / view.ratio
        y = (at[:, 1] + view.dy)[layout.row] - CAP_HEIGHT * labels.size * view.scale / 2
        self._atlas(pixels, labels.colour).draw(painter, x, y, view.ratio, layout.glyph)

    def _row_of_texts(self, texts: tuple[str, ...], pixels: int) -> tuple[LabelLayout, Numbers]:
        def make() -> tuple[LabelLayout, Numbers]:
            table = np.array(texts)[:, None]
            return LabelLayout.of(table, pixels), np.array([text_width(text, float(pixels)) for text in texts])

        return _once(self._rows, (texts, pixels), make, _MOST_ROWS)

    def _glyphs(
        self,
        painter: QPainter,
        x: Numbers,
        y: Numbers,
        glyph: Any,
        entry: Any,
        inks: tuple[str, ...],
        pixels: int,
        ratio: float,
    ) -> None:
        """Draw glyphs at (x, y), each in the ink of its palette entry."""
        in_atlas = Atlas.has(glyph) if pixels <= _LARGEST_GLYPH else np.zeros(len(glyph), bool)
        for ink in sorted(set(inks)):
            of_ink = np.array([other == ink for other in inks])[entry]
            alone, chosen = of_ink & ~in_atlas, of_ink & in_atlas
            if alone.any():
                self._glyphs_alone(painter, x[alone], y[alone], glyph[alone], pixels, ink, ratio)
            if chosen.any():
                self._atlas(pixels, ink).draw(painter, x[chosen], y[chosen], ratio, glyph[chosen])

    def _glyphs_alone(self, painter: QPainter, x: Numbers, y: Numbers, glyph: Any, pixels: int, ink: str, ratio: float) -> None:
        """Draw glyphs one by one: large ones, of which only few fit a screen, and those of other fonts."""
        size = pixels / ratio
        painter.setFont(self._font("regular", round(size)))
        painter.setPen(QColor(ink))
        for at_x, at_y, code in zip(x.tolist(), y.tolist(), glyph.tolist(), strict=True):
            left = at_x - text_width(chr(code), size) / 2
            painter.drawText(QPointF(left, at_y + CAP_HEIGHT * size / 2), chr(code))

    def squares(self, painter: QPainter, squares: Squares, view: Viewport, clip: QRectF) -> None:
        """Draw all squares of one colour and side in one call."""
        boxes = squares.boxes * view.scale
        boxes[:, 0] += view.dx
        boxes[:, 1] += view.dy
        middle = boxes[:, :2] + boxes[:, 2:] / 2
        sides = np.maximum(1, np.round(boxes[:, 2] * view.ratio)).astype(int)
        if sides.max(initial=0) > _LARGEST_STAMP:
            painter.setPen(QPen(QColor(squares.line or squares.palette[0]), 2))
            for (x, y, side), entry in zip(boxes.tolist(), squares.fill.tolist(), strict=True):
                painter.setBrush(QColor(squares.palette[entry]))
                painter.drawRect(QRectF(x, y, side, side))
        for side in np.unique(sides[sides <= _LARGEST_STAMP]).tolist():
            for entry in np.unique(squares.fill[sides == side]).tolist():
                at = middle[(sides == side) & (squares.fill == entry)]
                self._stamp(side, squares.palette[entry], squares.line).draw(painter, at[:, 0], at[:, 1], view.ratio)
        if squares.labels is not None and squares.label_size * view.scale >= 6:
            pixels = max(1, round(squares.label_size * view.scale * view.ratio))
            layout = LabelLayout.of(squares.labels[:, None], pixels)
            x, y = middle[layout.row, 0] + layout.shift / view.ratio, middle[layout.row, 1]
            self._glyphs(painter, x, y, layout.glyph, squares.fill[layout.row], squares.inks, pixels, view.ratio)

    def _layout(self, labels: Any, pixels: int) -> "LabelLayout":
        key = (id(labels), pixels)
        if key not in self._layouts:
            self._layouts[key] = labels, LabelLayout.of(labels, pixels)
            if len(self._layouts) > _KEPT_LAYOUTS:
                self._layouts.popitem(last=False)
        return self._layouts[key][1]

    def _atlas(self, pixels: int, ink: str) -> Atlas:
        return _once(self._atlases, (pixels, ink), lambda: Atlas(pixels, ink), _MOST_ATLASES)

    def _stamp(self, side: int, colour: str, line: str | None) -> Stamp:
        return _once(self._stamps, (side, colour, line), lambda: stamp(side, colour, line), _MOST_STAMPS)

    def _font(self, face: Face, pixels: int) -> QFont:
        return _once(self._fonts, (face, pixels), lambda: font(face, pixels))

    def _text(self, text: str, face: Face, pixels: int) -> tuple[QStaticText, float]:
        """Return a text with its glyphs placed, and the distance of its baseline from its top."""

        def make() -> tuple[QStaticText, float]:
            chosen = self._font(face, pixels)
            laid_out = QStaticText(text)
            laid_out.setTextFormat(Qt.TextFormat.PlainText)
            laid_out.prepare(QTransform(), chosen)
            return laid_out, _ascent(text, chosen)

        return _once(self._texts, (text, face, pixels), make)

    def _large_text(self, text: str, labels: Labels, pixels: int, ratio: float) -> tuple[QPixmap, float]:
        """Return a text as a picture, and the distance of its baseline from its top. Qt would fill large glyphs as shapes each
        time.
        """

        def make() -> tuple[QPixmap, float]:
            chosen = self._font(labels.face, pixels)
            metrics = QFontMetricsF(chosen)
            width = text_width(text, float(pixels), labels.face) + pixels / 4
            picture = QPixmap(round(width * ratio), round(metrics.height() * ratio))
            picture.setDevicePixelRatio(ratio)
            picture.fill(Qt.GlobalColor.transparent)
            painter = QPainter(picture)
            painter.setFont(chosen)
            painter.setPen(QColor(labels.colour))
            painter.drawText(QPointF(0, metrics.ascent()), text)
            painter.end()
            return picture, metrics.ascent()

        return _once(self._pictures, (text, labels.face, pixels, labels.colour, ratio), make, _MOST_PICTURES)

    def rects(self, painter: QPainter, rects: Rects, view: Viewport, clip: QRectF) -> None:
        painter.setBrush(QColor(rects.fill) if rects.fill else Qt.BrushStyle.NoBrush)
        width = view.stroke(rects.stroke_width)
        pen = QPen(QColor(rects.stroke), width) if rects.stroke else QPen(Qt.PenStyle.NoPen)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        radius = rects.radius * view.scale
        placed = [view.rect(*box) for box in rects.boxes.tolist()]
        if radius < _LEAST_RADIUS and placed:  # hardly seen, and drawn ten times as fast
            painter.drawRects(placed)
            return
        for box in placed:
            painter.drawRoundedRect(box, radius, radius)

    def lines(self, painter: QPainter, lines: Lines, view: Viewport, clip: QRectF) -> None:
        pen = QPen(QColor(lines.stroke), view.stroke(lines.width))
        if lines.dashed:
            pen.setDashPattern([3.0, 4.0])
        painter.setPen(pen)
        ends = lines.segments * view.scale + np.array([view.dx, view.dy, view.dx, view.dy])
        painter.drawLines([QLineF(*end) for end in ends.tolist()])

    def labels(self, painter: QPainter, labels: Labels, view: Viewport, clip: QRectF) -> None:
        if len(labels.texts) >= _MANY_TEXTS and labels.face == "regular":
            pixels = max(1, round(labels.size * view.scale * view.ratio))
            if pixels <= _LARGEST_GLYPH and all(each.isascii() and each.isprintable() for each in labels.texts):
                self._many_texts(painter, labels, view, pixels)
                return
        drawn_at = max(1, round(labels.size * view.scale))
        painter.setFont(self._font(labels.face, drawn_at))
        painter.setPen(QColor(labels.colour))
        size = labels.size * view.scale / drawn_at  # font sizes are whole pixels; the transform makes them exact
        for (x, y), text in zip(labels.at.tolist(), labels.texts, strict=True):
            width = text_width(text, labels.size, labels.face)
            left = x - ANCHORED[labels.anchor] * width
            if not view.rect(left, y - labels.size, width, 1.5 * labels.size).intersects(clip):
                continue
            if drawn_at > _LARGEST_GLYPH and text and width * view.scale * drawn_at < _LARGEST_PICTURE:
                picture, ascent = self._large_text(text, labels, drawn_at, view.ratio)
                painter.resetTransform()
                painter.drawPixmap(QPointF(left * view.scale + view.dx, y * view.scale + view.dy - ascent), picture)
                continue
            laid_out, ascent = self._text(text, labels.face, drawn_at)
            painter.setTransform(QTransform(size, 0, 0, size, left * view.scale + view.dx, y * view.scale + view.dy))
            painter.drawStaticText(QPointF(0, -ascent), laid_out)
        painter.resetTransform()


_ANY_WIDTH = 1e6  # pixels


def _ascent(text: str, chosen: QFont) -> float:
    """Return the distance of a text's baseline from its top. Wide characters come from another font, which may be higher."""
    ascent = QFontMetricsF(chosen).ascent()
    if not wide_characters(text):
        return ascent
    layout = QTextLayout(text, chosen)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(_ANY_WIDTH)
    ascent = line.ascent()
    layout.endLayout()
    return ascent


def _once(cache: dict[CacheKey, Painted], key: CacheKey, make: Callable[[], Painted], most: int = _MOST_CACHED) -> Painted:
    """Return the object with this key, created on first use. The cache belongs to a painter, because pixmaps and fonts must not
    outlive Qt.
    """
    if key not in cache:
        if len(cache) >= most:
            cache.clear()
        cache[key] = make()
    return cache[key]


def _draw_cells(painter: QPainter, box: QRectF, fill: Bytes, palette: tuple[str, ...]) -> None:
    """Draw cells as an image with one pixel per cell, stretched over the box. RGB32 stretches six times as fast as Indexed8."""
    rows, columns = fill.shape
    data = np.ascontiguousarray(fill)
    image = QImage(data.data, columns, rows, columns, QImage.Format.Format_Indexed8)
    image.setColorTable([0xFF000000 | int(colour[1:], 16) for colour in palette])
    painter.drawImage(box, image.convertToFormat(QImage.Format.Format_RGB32))


_Paint = Callable[[ScenePainter, QPainter, Any, Viewport, QRectF], None]
_PAINTERS: dict[type, _Paint] = {
    Cells: ScenePainter.cells,
    Rects: ScenePainter.rects,
    Lines: ScenePainter.lines,
    Labels: ScenePainter.labels,
    Squares: ScenePainter.squares,
}


def scene_image(scene: Scene, pixels_per_unit: float) -> QImage:
    """Return the whole scene as an image. Needs a QGuiApplication."""
    width, height = round(scene.width * pixels_per_unit), round(scene.height * pixels_per_unit)
    image = QImage(width, height, QImage.Format.Format_RGB32)
    brush = QPainter(image)
    ScenePainter().paint(brush, scene, Viewport(pixels_per_unit), QRectF(0, 0, width, height))
    brush.end()
    return image
