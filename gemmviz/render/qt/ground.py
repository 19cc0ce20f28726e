"""The still part of a picture as pixels: of the next one, only the places that differ are painted.

All primitives that lie at such a place are painted again, clipped to it, so that the pixels are those of a new picture.
"""

import numpy as np
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPixmap

from gemmviz.render.qt.bounds import Bounds
from gemmviz.render.qt.changes import Drawn, Place, changed_places, drawn, merged, size_of, whole_pixels
from gemmviz.render.qt.painter import ScenePainter, Viewport
from gemmviz.scenes.kit.primitives import Scene

_BEYOND = 24.0  # pixels around a place within which no text is left out
_MOST_SHARE = 0.7  # of the area: where more differs, all of it is painted


class Ground:
    """The primitives of a scene below what moves, as pixels of a size seen by a view."""

    def __init__(self, painter: ScenePainter, size: QSize, view: Viewport) -> None:
        self.view, self.size = view, size
        self._painter = painter
        self._pixmap = QPixmap(round(size.width() * view.ratio), round(size.height() * view.ratio))
        self._pixmap.setDevicePixelRatio(view.ratio)
        self._area: Place = (0, 0, size.width(), size.height())
        self._scene: Scene | None = None
        self._drawn: list[Drawn] = []

    def of(self, scene: Scene) -> QPixmap:
        """Return the pixels of a scene, the last one or another."""
        if scene is not self._scene:
            before, self._drawn = self._drawn, drawn(scene.primitives, self._drawn, self.view)
            places = changed_places(before, self._drawn, self.view) if self._is_near(scene) else None
            self._paint(scene.background, [self._area] if places is None else self._inside(places))
            self._scene = scene
        return self._pixmap

    def _is_near(self, scene: Scene) -> bool:
        """Whether a part of the last scene can be kept. A clip that cuts device pixels would change antialiased lines."""
        return self._scene is not None and self._scene.background == scene.background and self.view.ratio.is_integer()

    def _inside(self, places: list[Bounds]) -> list[Place]:
        """Return few rectangles over all places; the whole area if they are most of it."""
        inside = (whole_pixels(each, self.size.width(), self.size.height()) for each in places)
        found = merged(each for each in inside if size_of(each))
        return [self._area] if sum(map(size_of, found)) > _MOST_SHARE * size_of(self._area) else found

    def _paint(self, background: str, places: list[Place]) -> None:
        bounds = np.array([each.bounds for each in self._drawn]).reshape(-1, 4)
        brush = QPainter(self._pixmap)
        for left, top, right, bottom in places:
            is_here = ((bounds[:, :2] < (right, bottom)) & (bounds[:, 2:] > (left, top))).all(axis=1)
            place = QRectF(left, top, right - left, bottom - top)
            around = place.adjusted(-_BEYOND, -_BEYOND, _BEYOND, _BEYOND)
            brush.setClipRect(place)
            brush.fillRect(around, QColor(background))
            here = (self._drawn[number].primitive for number in np.flatnonzero(is_here).tolist())
            self._painter.paint_over(brush, here, self.view, around)
        brush.end()
