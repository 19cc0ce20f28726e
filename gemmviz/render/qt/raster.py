"""Frames as pixels, of which the still part is painted once; and pictures as pages of a PDF file."""

import dataclasses
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QBuffer, QByteArray, QHashSeed, QIODevice, QMarginsF, QPoint, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPageSize, QPainter, QPdfWriter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gemmviz.model.arrays import Bytes, Floats, Unsigned
from gemmviz.model.messages import tr
from gemmviz.render.encoding import xmp
from gemmviz.render.qt.painter import ScenePainter, Viewport, font, load_fonts
from gemmviz.render.reel import Frame, Reel, RenderOptions
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.primitives import ANCHORED, Cells, Labels, Lines, Primitive, Rects, Scene, Squares, boxes, text_width

# Pictures that are painted again only where they change.

_SMOOTH_EDGE = 2.0  # pixels beyond a shape that its smooth edge may touch


class RetainedLayer:
    """Primitives that lie over each other, and the rectangle of pixels that each covers: an immutable value."""

    def __init__(self, items: Sequence[tuple[Primitive, QRect]] = (), view: Viewport | None = None) -> None:
        self._items, self._view = items, view

    def then(self, primitives: Sequence[Primitive], view: Viewport) -> tuple["RetainedLayer", QRect | None]:
        """Return the layer of other primitives, and a rectangle around the pixels that differ; None if all may.

        It is one rectangle: several take longer than what lies between them, and Qt stretches images differently, and more
        slowly, in a clip that is no rectangle.
        """
        before, items = self._items, list[tuple[Primitive, QRect]]()
        if view != self._view:
            return RetainedLayer([(each, area_of(each, view)) for each in primitives], view), None
        known: dict[tuple[type, str], list[int]] = {}
        for place, (old, _) in enumerate(before):
            known.setdefault((type(old), old.key), []).append(place)
        damage, last, is_sorted = QRect(), -1, True
        for each in primitives:
            places = known.get((type(each), each.key))
            if not places:
                area = area_of(each, view)
                damage |= area
                items.append((each, area))
                continue
            place = places.pop(0)
            is_sorted = is_sorted and place > last
            last = place
            old, area = before[place]
            if each is old or each == old:
                items.append(before[place])
                continue
            cells = _changed_cells(old, each, view)
            now = area_of(each, view) if cells is None else area
            damage |= area | now if cells is None else cells
            items.append((each, now))
        for places in known.values():
            for place in places:
                damage |= before[place][1]
        return RetainedLayer(items, view), damage if is_sorted else None

    def paint(self, scene_painter: ScenePainter, painter: QPainter, rect: QRect) -> None:
        """Draw what lies in a rectangle over the present content, and nothing outside of it."""
        seen = [primitive for primitive, area in self._items if area.intersects(rect)]
        if seen and self._view is not None:
            painter.setClipRect(rect)
            scene_painter.paint_over(painter, seen, self._view, QRectF(rect))


class Layers(NamedTuple):
    """The layers of a picture that don't move: the ground, and what lies over all that moves."""

    below: RetainedLayer = RetainedLayer()
    above: RetainedLayer = RetainedLayer()
    over: RetainedLayer = RetainedLayer()

    def then(self, scene: Scene, view: Viewport, whole: Viewport) -> tuple["Layers", list[QRect | None]]:
        """Return the layers of another picture, and what differs in each, as ``RetainedLayer.then`` does. ``whole``: the view
        of what keeps its place.
        """
        below, ground = self.below.then(scene.primitives, view)
        above, words = self.above.then(scene.above, view), self.over.then(scene.words, whole)
        return Layers(below, above[0], words[0]), [ground, above[1], words[1]]


class Ground:
    """The lowest layer of a picture that fills ``area``, painted. ``ratio``: device pixels per pixel; ``outdated``: the part
    that shows an earlier picture, at first all of it.
    """

    def __init__(self, area: QRect, ratio: float) -> None:
        self.pixmap = QPixmap(round(area.width() * ratio), round(area.height() * ratio))
        self.pixmap.setDevicePixelRatio(ratio)
        self._whole, self.outdated = area, QRect(area)

    def add(self, changed: QRect | None) -> None:
        """Count another part as outdated, None for all of it."""
        self.outdated = self.outdated.united(self._whole if changed is None else changed)

    def paint(self, scene_painter: ScenePainter, layer: RetainedLayer, background: str, most: float = np.inf) -> None:
        """Paint what is outdated; of more than ``most`` device pixels only the upper part."""
        strip, ratio = QRect(self.outdated), self.pixmap.devicePixelRatio()
        if strip.isEmpty():
            return
        strip.setHeight(int(min(strip.height(), 1 + most / ratio**2 // strip.width())))
        painter = QPainter(self.pixmap)
        try:
            painter.setClipRect(strip)
            painter.fillRect(strip, QColor(background))
            layer.paint(scene_painter, painter, strip)
        finally:
            painter.end()
        self.outdated = QRect(strip.bottomLeft() + QPoint(0, 1), self.outdated.bottomRight())
        if self.outdated.isEmpty():
            self.outdated = QRect()  # an empty one elsewhere would count in a union


def area_of(primitive: Primitive, view: Viewport) -> QRect:
    """The rectangle around the pixels that a primitive may touch."""
    found, stroke = _shape_boxes(primitive, view)
    if not len(found):
        return QRect()
    (x, y), (right, bottom) = found[:, :2].min(axis=0).tolist(), (found[:, :2] + found[:, 2:]).max(axis=0).tolist()
    return _pixels(view, x, y, right - x, bottom - y, stroke)


def _shape_boxes(primitive: Primitive, view: Viewport) -> tuple[Floats, float]:
    """The boxes (n, 4) of a primitive's shapes, in units, and the width of lines around them, in pixels."""
    match primitive:
        case Cells():
            beyond = _label_overhang(primitive)
            x, y, width, height = primitive.box
            return boxes((x - beyond, y, width + 2 * beyond, height)), 0.0
        case Rects():
            return primitive.boxes, view.stroke(primitive.stroke_width) if primitive.stroke else 0.0
        case Lines():
            ends = primitive.segments
            low, high = np.minimum(ends[:, :2], ends[:, 2:]), np.maximum(ends[:, :2], ends[:, 2:])
            return np.hstack([low, high - low]), view.stroke(primitive.width)
        case Squares():
            return primitive.boxes[:, (0, 1, 2, 2)], 2.0
        case Labels():
            size, shift = primitive.size, ANCHORED[primitive.anchor]
            widths = np.array([text_width(text, size, primitive.face) for text in primitive.texts])
            left, top = primitive.at[:, 0] - shift * widths - size, primitive.at[:, 1] - 2 * size
            return np.stack([left, top, widths + 2 * size, np.full(len(widths), 3 * size)], axis=1), 0.0


def _label_overhang(cells: Cells) -> float:
    """How far a long label may leave its cell, in units."""
    return cells.size if cells.labels is not None else 0.0


def _pixels(view: Viewport, x: float, y: float, width: float, height: float, stroke: float = 0.0) -> QRect:
    beyond = stroke + _SMOOTH_EDGE
    return view.rect(x, y, width, height).adjusted(-beyond, -beyond, beyond, beyond).toAlignedRect()


def _changed_cells(old: Primitive, new: Primitive, view: Viewport) -> QRect | None:
    """The rectangle around the cells that differ, None if more than their contents does."""
    if not (isinstance(old, Cells) and isinstance(new, Cells)) or old.fill.shape != new.fill.shape:
        return None
    if (old.labels is None) != (new.labels is None) or dataclasses.replace(old, fill=new.fill, labels=new.labels) != new:
        return None
    differs = old.fill != new.fill
    if old.labels is not None and new.labels is not None and old.labels is not new.labels:
        differs |= old.labels != new.labels
    rows, columns = np.nonzero(differs)
    if not len(rows):
        return QRect()
    top, bottom, first, last = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
    x, beyond = new.x + first * new.size, _label_overhang(new)
    return _pixels(
        view, x - beyond, new.y + top * new.pitch, (last - first) * new.size + 2 * beyond, (bottom - top) * new.pitch
    )


# Qt without a display, to paint images.

_running: list[QGuiApplication] = []


def start_qt() -> None:
    """Create a QGuiApplication if there is none."""
    if QGuiApplication.instance() is None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        _running.append(QGuiApplication([]))
        # Pages of a PDF take from it to draw no ligatures, which a search wouldn't find.
        QGuiApplication.setFont(font("regular", 20))


class Raster:
    """A painter of successive frames with the same options."""

    def __init__(self, options: RenderOptions) -> None:
        start_qt()
        self.options = options
        self._painter = ScenePainter()
        clear, opaque = QImage.Format.Format_ARGB32_Premultiplied, QImage.Format.Format_RGB32
        self._format = clear if options.is_transparent else opaque
        self._ground = QImage(options.width, options.height, self._format)
        self._painted: Scene | None = None

    def image(self, frame: Frame) -> QImage:
        """Return a frame as a new image."""
        image = QImage(self.options.width, self.options.height, self._format)
        self._paint(image, frame)
        return image

    def paint_into(self, frame: Frame, pixels: Any, stride: int) -> None:
        """Write blue, green, red and opacity of each pixel into memory with ``stride`` bytes per row."""
        self._paint(QImage(pixels, self.options.width, self.options.height, stride, self._format), frame)

    def packed(self, frame: Frame) -> Unsigned:
        """Return an opaque frame as (height, width) colours, 0xRRGGBB."""
        image = self.image(frame)
        rows = np.frombuffer(image.constBits(), np.uint32).reshape(self.options.height, image.bytesPerLine() // 4)
        return rows[:, : self.options.width] & np.uint32(0xFFFFFF)

    def array(self, frame: Frame) -> Bytes:
        """Return a frame as (height, width, 3), with opacity (height, width, 4) if the background is transparent."""
        options = self.options
        kind = QImage.Format.Format_RGBA8888 if options.is_transparent else self._format
        image = self.image(frame).convertToFormat(kind)
        rows = np.frombuffer(image.constBits(), np.uint8).reshape(options.height, image.bytesPerLine() // 4, 4)
        return (
            rows[:, : options.width].copy() if options.is_transparent else np.ascontiguousarray(rows[:, : options.width, 2::-1])
        )

    def _paint(self, image: QImage, frame: Frame) -> None:
        options, scene = self.options, frame.still
        drawn = scene.clear if options.is_transparent else scene
        view = _centred_view(scene, options)
        area = QRectF(0, 0, options.width, options.height)
        if frame.layers:
            self._paint_layers(image, frame, view, area)
            return
        if self._painted is not scene:
            self._ground.fill(Qt.GlobalColor.transparent if options.is_transparent else QColor(scene.background))
            brush = QPainter(self._ground)
            self._painter.paint_over(brush, drawn.primitives, view, area)
            brush.end()
            self._painted = scene
        brush = QPainter(image)
        brush.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        brush.drawImage(0, 0, self._ground)
        brush.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        self._painter.paint_over(brush, frame.motion, view, area)
        self._painter.paint_top(brush, drawn, view, area)
        brush.end()

    def _paint_layers(self, image: QImage, frame: Frame, view: Viewport, area: QRectF) -> None:
        image.fill(Qt.GlobalColor.transparent if self.options.is_transparent else QColor(frame.still.background))
        brush = QPainter(image)
        for layer in frame.layers:
            brush.setOpacity(layer.opacity)
            self._painter.paint_over(brush, layer.primitives, view, area)
        brush.end()


def _centred_view(scene: Scene, options: RenderOptions) -> Viewport:
    """Return the view of the whole scene in the middle of the picture."""
    scale = options.scale(scene)
    return Viewport(scale, (options.width - scene.width * scale) / 2, (options.height - scene.height * scale) / 2)


# Pictures as pages of a PDF file, with Qt's SVG reader and PDF writer.

_DPI = 144
_SLIDE_HIGH, _PAPER_HIGH = 540.0, 841.9  # points: 13.33 x 7.5 inches for a slide, A4 for what is higher than wide
_VARIABLE = {
    re.compile(rb"(?<=Date \(D:)\d{14}"): b"20000101000000",
    re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"): b"2000-01-01T00:00:00",
    re.compile(rb"(?<=uuid:)[0-9a-f-]{36}"): b"0" * 36,
    re.compile(rb"(?<=<)[0-9a-f]{72}(?=>)"): b"0" * 72,
}  # dates and random ids


class _Page(Struct, frozen=True):
    """A page: its width relative to its height, its picture as compressed SVG, and its words."""

    aspect: float
    svg: bytes
    words: str


def write_pdf(reel: Reel, path: Path) -> None:
    """Write a page for each slide. The same slides give the same bytes. Raises OSError if the file can't be written.

    Qt writes no tags: the descriptions of the pages are that of the document, which Qt writes before the first page.
    """
    start_qt()
    pages = [_pdf_page(number, reel.slide_count, slide.scene) for number, slide in enumerate(reel.slides())]
    buffer = QBuffer()  # Qt's writer doesn't report a full disk
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DPI)
    writer.setTitle(reel.name)
    writer.setCreator("gemmviz")
    writer.setDocumentXmpMetadata(QByteArray(xmp(reel.name, "\n\n".join(page.words for page in pages if page.words)).encode()))
    painter = QPainter()
    QHashSeed.setDeterministicGlobalSeed()  # the writer's objects are numbered in the order of its hash tables
    try:
        for number, page in enumerate(pages):
            _set_page(writer, page)
            if number:
                writer.newPage()
            elif not painter.begin(writer):
                raise OSError(None, "Qt can't draw a PDF")
            drawn = QSvgRenderer(QByteArray(zlib.decompress(page.svg)))
            drawn.render(painter, QRectF(0, 0, writer.width() + 1, writer.height() + 1))
    finally:
        painter.end()
        QHashSeed.resetRandomGlobalSeed()
    data = bytes(buffer.data().data())
    for pattern, constant in _VARIABLE.items():
        data = pattern.sub(constant, data)
    path.write_bytes(data)


def _pdf_page(number: int, count: int, scene: Scene) -> _Page:
    svg = scene_svg(scene, "named", families=load_fonts()).encode()
    return _Page(scene.width / scene.height, zlib.compress(svg, 1), _page_words(number, count, scene))


def _page_words(number: int, count: int, scene: Scene) -> str:
    """Return the title and the description of a page, with its number if there are several."""
    page = tr("Page {page} of {pages}: ", page=number + 1, pages=count) if count > 1 and scene.title else ""
    return "\n".join(filter(None, (f"{page}{scene.title}", scene.description)))


def _set_page(writer: QPdfWriter, page: _Page) -> None:
    """Set a page in the format of the picture, without margins."""
    high = _SLIDE_HIGH if page.aspect >= 1.0 else _PAPER_HIGH
    size = QSizeF(high * page.aspect, high)
    writer.setPageSize(QPageSize(size, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
