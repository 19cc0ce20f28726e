"""The large picture in the middle: drag to pan, wheel to zoom, double click beside the cells to fit, click a cell to follow
its thread.
"""

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gemmviz.gui.scene_widget import SceneWidget
from gemmviz.render.qt.painter import View
from gemmviz.scene.frame import WIDTH

_MOST_ZOOM = 256.0
_DRAG_PIXELS = 4.0


class Stage(SceneWidget):
    """``looked_elsewhere`` after zooming and panning: labels may be added, and other parts be seen; ``clicked`` tells a Hit."""

    looked_elsewhere = Signal()
    clicked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Stage", parent)
        self.setMinimumSize(320, 200)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleDescription("The replay. Wheel zooms, drag pans, F fits, a click on a cell follows its thread")
        self.zoom = 1.0
        self._shift = QPointF()
        self._grabbed: QPointF | None = None
        self._dragged = 0.0

    def fit(self) -> None:
        """Shows the whole frame."""
        self._shift = QPointF()
        self.zoom = 1.0
        self._look()

    @property
    def view(self) -> View:
        assert self.scene is not None
        return self._view_of(self.scene.width, self.scene.height)

    def _view_of(self, width: float, height: float) -> View:
        scale = min(self.width() / width, self.height() / height) * self.zoom
        dx = (self.width() - width * scale) / 2 + self._shift.x()
        dy = (self.height() - height * scale) / 2 + self._shift.y()
        return View(scale, dx, dy, self.devicePixelRatioF(), self.zoom)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zooms so that what is under ``at`` (default: the middle) stays there."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        before = self.zoom
        zoom = min(_MOST_ZOOM, max(1.0, before * factor))
        middle = QPointF(self.width() / 2, self.height() / 2)
        self._shift = (at - middle) - ((at - middle) - self._shift) * (zoom / before)
        if zoom == 1.0:
            self._shift = QPointF()
        self.zoom = zoom
        self._look()

    def _look(self) -> None:
        self.forget_still()
        self.looked_elsewhere.emit()

    @property
    def clip(self) -> tuple[float, float, float, float] | None:
        """The part of a frame of ``frame_height`` that can be seen, in its units; None where that is all."""
        if self.zoom == 1.0:
            return None
        view = self._view_of(WIDTH, self.frame_height)
        return -view.dx / view.scale, -view.dy / view.scale, self.width() / view.scale, self.height() / view.scale

    @property
    def label_zoom(self) -> float:
        """The largest power of two that is not above the zoom."""
        return float(1 << (int(self.zoom).bit_length() - 1))

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
            self._shift += moved
            self._grabbed = event.position()
            self._look()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._grabbed is not None and self._dragged <= _DRAG_PIXELS
        self._grabbed = None
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        found = self.hit(event.position()) if clicked and event.button() == Qt.MouseButton.LeftButton else None
        if found is not None:
            self.clicked.emit(found)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.hit(event.position()) is None:
            self.fit()
