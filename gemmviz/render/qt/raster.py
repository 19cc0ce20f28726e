"""Frames as pixels, of which the still part is painted once; and pictures as pages of a PDF file."""

import os
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from PySide6.QtCore import QBuffer, QByteArray, QHashSeed, QIODevice, QMarginsF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgRenderer

from gemmviz.model.translation import tr
from gemmviz.render.encoding import xmp
from gemmviz.render.qt.painter import ScenePainter, Viewport, font, load_fonts
from gemmviz.render.reel import Frame, Reel, RenderOptions
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.primitives import Scene

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

    def packed(self, frame: Frame) -> npt.NDArray[np.uint32]:
        """Return an opaque frame as (height, width) colours, 0xRRGGBB."""
        image = self.image(frame)
        rows = np.frombuffer(image.constBits(), np.uint32).reshape(self.options.height, image.bytesPerLine() // 4)
        return rows[:, : self.options.width] & np.uint32(0xFFFFFF)

    def array(self, frame: Frame) -> npt.NDArray[np.uint8]:
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
    pages = [_page(number, reel.slide_count, slide.scene) for number, slide in enumerate(reel.slides())]
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


def _page(number: int, count: int, scene: Scene) -> _Page:
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
