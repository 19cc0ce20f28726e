"""Pictures as pages of a PDF file, with Qt's SVG reader and PDF writer."""

import re
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRectF, QSizeF
from PySide6.QtGui import QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgRenderer

from gemmviz.render.qt.fonts import load_fonts
from gemmviz.render.qt.offscreen import start_qt
from gemmviz.render.reel import Reel
from gemmviz.render.svg import scene_svg
from gemmviz.scenes.kit.primitives import Scene

_DPI = 144
_POINTS_HIGH = 540.0  # 13.33 x 7.5 inches for a slide
_VARIABLE = {
    re.compile(rb"(?<=Date \(D:)\d{14}"): b"20000101000000",
    re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"): b"2000-01-01T00:00:00",
    re.compile(rb"(?<=uuid:)[0-9a-f-]{36}"): b"0" * 36,
    re.compile(rb"(?<=<)[0-9a-f]{72}(?=>)"): b"0" * 72,
}  # dates and random ids


def write_pdf(reel: Reel, path: Path) -> None:
    """Write a page for each slide. The same slides give the same bytes. Raises OSError if the file can't be written."""
    start_qt()
    buffer = QBuffer()  # Qt's writer doesn't report a full disk
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_DPI)
    writer.setTitle(reel.name)
    writer.setCreator("gemmviz")
    painter = QPainter()
    try:
        for number, slide in enumerate(reel.slides()):
            _set_page(writer, slide.scene)
            if number:
                writer.newPage()
            elif not painter.begin(writer):
                raise OSError(None, "Qt can't draw a PDF")
            drawn = QSvgRenderer(QByteArray(scene_svg(slide.scene, "named", families=load_fonts()).encode()))
            drawn.render(painter, QRectF(0, 0, writer.width() + 1, writer.height() + 1))
    finally:
        painter.end()
    data = bytes(buffer.data().data())
    for pattern, constant in _VARIABLE.items():
        data = pattern.sub(constant, data)
    path.write_bytes(data)


def _set_page(writer: QPdfWriter, scene: Scene) -> None:
    """Set a page in the format of the picture, without margins."""
    size = QSizeF(_POINTS_HIGH * scene.width / scene.height, _POINTS_HIGH)
    writer.setPageSize(QPageSize(size, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
