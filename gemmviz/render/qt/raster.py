"""Frames as pixels. The still part of a film is painted once."""

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter

from gemmviz.render.qt.painter import ScenePainter, Viewport, font
from gemmviz.render.reel import Frame, RenderOptions
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
