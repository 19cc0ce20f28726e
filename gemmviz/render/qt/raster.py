"""Frames as pixels. Of a film the part that stands is painted once."""

from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QBuffer, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from gemmviz.render.format import RenderOptions
from gemmviz.render.qt.offscreen import start_qt
from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.render.reel import Frame
from gemmviz.scenes.kit.primitives import Scene


def png_of(image: QImage) -> bytes:
    """An image as a PNG file."""
    buffer = QBuffer()  # written to a file by Python, which says why that fails
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]
        raise OSError(None, "Qt can't write PNG here")
    return bytes(buffer.data().data())


class Raster:
    """Paints frames of one look, one after the other."""

    def __init__(self, look: RenderOptions) -> None:
        start_qt()
        self.look = look
        self._painter = ScenePainter()
        clear, opaque = QImage.Format.Format_ARGB32_Premultiplied, QImage.Format.Format_RGB32
        self._format = clear if look.is_transparent else opaque
        self._ground = QImage(look.width, look.height, self._format)
        self._painted: Scene | None = None

    def image(self, frame: Frame) -> QImage:
        """A picture of its own."""
        image = QImage(self.look.width, self.look.height, self._format)
        self._paint(image, frame)
        return image

    def paint_into(self, frame: Frame, pixels: Any, stride: int) -> None:
        """Writes blue, green, red and opacity of each pixel into memory, ``stride`` bytes a row."""
        self._paint(QImage(pixels, self.look.width, self.look.height, stride, self._format), frame)

    def array(self, frame: Frame) -> npt.NDArray[np.uint8]:
        """Red, green and blue, and opacity where the look is transparent: (height, width, 3 or 4)."""
        look = self.look
        kind = QImage.Format.Format_RGBA8888 if look.is_transparent else self._format
        image = self.image(frame).convertToFormat(kind)
        rows = np.frombuffer(image.constBits(), np.uint8).reshape(look.height, image.bytesPerLine() // 4, 4)
        return rows[:, : look.width].copy() if look.is_transparent else np.ascontiguousarray(rows[:, : look.width, 2::-1])

    def _paint(self, image: QImage, frame: Frame) -> None:
        look, scene = self.look, frame.still
        drawn = scene.clear if look.is_transparent else scene
        view = _middle(scene, look)
        area = QRectF(0, 0, look.width, look.height)
        if self._painted is not scene:
            self._ground.fill(Qt.GlobalColor.transparent if look.is_transparent else QColor(scene.background))
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


def _middle(scene: Scene, look: RenderOptions) -> Viewport:
    """The whole scene in the middle of the picture."""
    scale = look.scale(scene)
    return Viewport(scale, (look.width - scene.width * scale) / 2, (look.height - scene.height * scale) / 2)
