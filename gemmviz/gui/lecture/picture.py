"""The picture on the wall: a scene, or the way from one scene to the next. What doesn't move on that way is painted once and
kept as pixels, cut to the parts of the screen that it covers.
"""

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QElapsedTimer, QPointF, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.model.records import replace
from gemmviz.render.qt.painter import Viewport
from gemmviz.scenes.kit.primitives import Primitive, Scene
from gemmviz.scenes.kit.transition import PaintLayer, Transition

_FRAME_MS = 16
_GAP = 24  # empty rows of pixels that separate two pieces of a layer
Piece = tuple[QPointF, QPixmap]


class _Journey(Struct):
    """A transition under way, with the pixels of its layers that don't move."""

    transition: Transition
    duration_ms: float
    share: float = 0.0
    has_begun: bool = False
    ground: QPixmap | None = None
    pieces: dict[int, tuple[tuple[Primitive, ...], list[Piece]]] | None = None


class WallPicture(SceneWidget):
    """A picture that can move to the next one. ``arrived`` is emitted at the end of the way."""

    arrived = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self._journey: _Journey | None = None
        self._since = QElapsedTimer()
        self._clock = QTimer(self, interval=_FRAME_MS, timerType=Qt.TimerType.PreciseTimer)
        self._clock.timeout.connect(self._tick)

    @property
    def is_travelling(self) -> bool:
        return self._journey is not None

    @property
    def whole(self) -> Scene | None:
        """The present scene with what moves in it; None before the first."""
        return self.scene and replace(self.scene, primitives=(*self.scene.primitives, *self.motion))

    def travel(self, transition: Transition, duration_ms: float) -> None:
        """Move to the present scene. The time runs from the first painted frame."""
        self._journey = _Journey(transition, duration_ms, pieces={})
        self._clock.start()
        self.update()

    def finish(self) -> None:
        """Show the present scene at once."""
        if self._journey is not None:
            self._journey = None
            self._clock.stop()
            self.update()
            self.arrived.emit()

    def _tick(self) -> None:
        journey = self._journey
        if journey is not None and journey.has_begun:
            journey.share = self._since.elapsed() / journey.duration_ms
            if journey.share >= 1.0:
                self.finish()
            self.update()

    def _paint(self, painter: QPainter, scene: Scene, area: QRectF, asked: QRect) -> None:
        journey = self._journey
        if journey is None:
            super()._paint(painter, scene, area, asked)
            return
        view = self.view
        layers = journey.transition.at(min(1.0, journey.share))
        if journey.ground is None:
            journey.ground = self._ground(scene)
        painter.drawPixmap(0, 0, journey.ground)
        for layer in layers:
            self._paint_layer(painter, journey, layer, view, area)
        painter.setOpacity(1.0)
        if not journey.has_begun:
            journey.has_begun = True
            self._since.start()

    def _paint_layer(self, painter: QPainter, journey: _Journey, layer: PaintLayer, view: Viewport, area: QRectF) -> None:
        painter.setOpacity(layer.opacity)
        if layer.moves:
            self._painter.paint_over(painter, layer.primitives, view, area)
            return
        assert journey.pieces is not None
        key = id(layer.primitives)
        if key not in journey.pieces:
            journey.pieces[key] = layer.primitives, self._pieces(layer.primitives, view, area)
        for at, pixels in journey.pieces[key][1]:
            painter.drawPixmap(at, pixels)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.finish()
        super().resizeEvent(event)

    def _ground(self, scene: Scene) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(scene.background))
        return pixmap

    def _pieces(self, primitives: tuple[Primitive, ...], view: Viewport, area: QRectF) -> list[Piece]:
        """Return the pixels of primitives as few rectangles without large empty parts."""
        ratio = self.devicePixelRatioF()
        image = QImage(round(self.width() * ratio), round(self.height() * ratio), QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        brush = QPainter(image)
        self._painter.paint_over(brush, primitives, view, area)
        brush.end()
        return [(QPointF(box.x() / ratio, box.y() / ratio), QPixmap.fromImage(image.copy(box))) for box in covered(image)]


def covered(image: QImage) -> list[QRect]:
    """Return rectangles that hold all that isn't transparent in an image, one for each group of rows."""
    high, wide = image.height(), image.width()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(high, image.bytesPerLine() // 4)[:, :wide]
    rows = np.flatnonzero(pixels.any(axis=1))
    if not len(rows):
        return []
    ends = np.flatnonzero(np.diff(rows) > _GAP)
    found = []
    for first, last in zip([rows[0], *rows[ends + 1]], [*rows[ends], rows[-1]], strict=True):
        columns = np.flatnonzero(pixels[first : last + 1].any(axis=0))
        left, right = int(columns[0]), int(columns[-1])
        found.append(QRect(left, int(first), right - left + 1, int(last - first) + 1))
    return found
