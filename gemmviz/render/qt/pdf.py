"""Pictures as pages of a PDF file, with Qt's SVG reader and PDF writer."""

import re
import zlib
from pathlib import Path

from msgspec import Struct
from PySide6.QtCore import QBuffer, QByteArray, QHashSeed, QIODevice, QMarginsF, QRectF, QSizeF
from PySide6.QtGui import QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgRenderer

from gemmviz.model.translation import tr
from gemmviz.render.qt.painter import load_fonts
from gemmviz.render.qt.raster import start_qt
from gemmviz.render.reel import Reel
from gemmviz.render.svg import scene_svg
from gemmviz.render.xml import xmp
from gemmviz.scenes.kit.primitives import Scene

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
