"""The large picture in the middle: drag to pan, wheel to zoom, double click beside the cells to fit, click a cell to follow
its thread.
"""

from dataclasses import replace

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gemmviz.gui.scene_widget import SceneWidget
from gemmviz.render.qt.painter import Viewport
from gemmviz.scenes.frame import WIDTH
from gemmviz.show.shot import MOST_ZOOM, Camera

_DRAG_PIXELS = 4.0


class Stage(SceneWidget):
    """``looked`` carries the Camera that a person asks for; ``clicked`` tells a Hit."""

    looked = Signal(object)
    clicked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Stage", parent)
        self.setMinimumSize(320, 200)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleDescription("The replay. Wheel zooms, drag pans, F fits, a click on a cell follows its thread")
        self.camera = Camera()
        self._grabbed: QPointF | None = None
        self._dragged = 0.0

    def set_camera(self, camera: Camera) -> None:
        """Looks at the picture so."""
        if camera != self.camera:
            self.camera = camera
            self.forget_still()

    @property
    def view(self) -> Viewport:
        assert self.scene is not None
        return self._view_of(self.scene.width, self.scene.height, self.camera)

    def _view_of(self, width: float, height: float, camera: Camera) -> Viewport:
        scale = min(self.width() / width, self.height() / height) * camera.zoom
        dx = self.width() / 2 - camera.x * width * scale
        dy = self.height() / 2 - camera.y * height * scale
        return Viewport(scale, dx, dy, self.devicePixelRatioF(), camera.zoom)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zooms so that what is under ``at`` (default: the middle) stays there."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        camera, width, height = self.camera, WIDTH, self.frame_height
        zoom = min(MOST_ZOOM, max(1.0, camera.zoom * factor))
        if zoom == 1.0:
            self.looked.emit(Camera())
            return
        before = self._view_of(width, height, camera)
        x, y = (at.x() - before.dx) / before.scale, (at.y() - before.dy) / before.scale
        scale = before.scale * zoom / camera.zoom
        middle_x, middle_y = x + (self.width() / 2 - at.x()) / scale, y + (self.height() / 2 - at.y()) / scale
        self.looked.emit(Camera(zoom, _inside(middle_x / width), _inside(middle_y / height)))

    @property
    def clip(self) -> tuple[float, float, float, float]:
        """The part of a frame of ``frame_height`` that can be seen, in its units."""
        view = self._view_of(WIDTH, self.frame_height, self.camera)
        return -view.dx / view.scale, -view.dy / view.scale, self.width() / view.scale, self.height() / view.scale

    @property
    def frame_height(self) -> float:
        """The height of a frame 1600 units wide that fills the widget, within what still reads well."""
        return round(max(700.0, min(1360.0, WIDTH * self.height() / max(1, self.width()))))

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.zoom_by(2 ** (event.angleDelta().y() / 240), event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._grabbed, self._dragged = event.position(), 0.0
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is None:
            super().mouseMoveEvent(event)
            return
        moved = event.position() - self._grabbed
        self._dragged += abs(moved.x()) + abs(moved.y())
        if self._dragged > _DRAG_PIXELS:
            view, camera = self._view_of(WIDTH, self.frame_height, self.camera), self.camera
            x = camera.x - moved.x() / (view.scale * WIDTH)
            y = camera.y - moved.y() / (view.scale * self.frame_height)
            self._grabbed = event.position()
            self.looked.emit(replace(camera, x=_inside(x), y=_inside(y)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._grabbed is not None and self._dragged <= _DRAG_PIXELS
        self._grabbed = None
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        found = self.hit(event.position()) if clicked and event.button() == Qt.MouseButton.LeftButton else None
        if found is not None:
            self.clicked.emit(found)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.hit(event.position()) is None:
            self.looked.emit(Camera())


def _inside(share: float) -> float:
    """Some of the frame stays in sight."""
    return max(0.0, min(share, 1.0))
