"""The widget that shows a scene: drag to pan, wheel to zoom, double click to fit."""

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gemmviz.render.qt import ScenePainter, View, font
from gemmviz.scene.primitives import Scene

_MOST_ZOOM = 64.0


class Stage(QWidget):
    """``zoom_changed`` tells the power of two next to the zoom, by which labels may be added."""

    zoom_changed = Signal(float)
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumSize(320, 200)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Stage")
        self.setToolTip("Drag to pan, wheel to zoom, double-click or F to fit")
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.scene: Scene | None = None
        self.stale = ""
        self.zoom = 1.0
        self._shift = QPointF()
        self._grabbed: QPointF | None = None
        self._painter = ScenePainter()

    def set_scene(self, scene: Scene) -> None:
        self.scene = scene
        self.update()

    def set_stale(self, why: str) -> None:
        """Dims the picture and says why it is not that of the present settings; an empty text ends that."""
        if why != self.stale:
            self.stale = why
            self.update()

    def fit(self) -> None:
        """Shows the whole frame."""
        self._set_zoom(1.0)
        self._shift = QPointF()
        self.update()

    @property
    def view(self) -> View:
        assert self.scene is not None
        fitted = View.fit(self.scene, self.width(), self.height())
        scale = fitted.scale * self.zoom
        dx = (self.width() - self.scene.width * scale) / 2 + self._shift.x()
        dy = (self.height() - self.scene.height * scale) / 2 + self._shift.y()
        return View(scale, dx, dy, self.devicePixelRatioF(), self.zoom)

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Zooms so that what is under ``at`` (default: the middle) stays there."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        before = self.zoom
        self._set_zoom(min(_MOST_ZOOM, max(1.0, before * factor)))
        middle = QPointF(self.width() / 2, self.height() / 2)
        self._shift = (at - middle) - ((at - middle) - self._shift) * (self.zoom / before)
        if self.zoom == 1.0:
            self._shift = QPointF()
        self.update()

    def _set_zoom(self, zoom: float) -> None:
        before, self.zoom = self.label_zoom, zoom
        if self.label_zoom != before:
            self.zoom_changed.emit(self.label_zoom)

    @property
    def label_zoom(self) -> float:
        """The largest power of two that is not above the zoom."""
        return float(1 << (int(self.zoom).bit_length() - 1))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        area = QRectF(self.rect())
        if self.scene is None:
            painter.fillRect(area, QColor("#12161C"))
        else:
            self._painter.paint(painter, self.scene, self.view, area)
            if self.stale:
                self._veil(painter, area, self.scene)
        painter.end()

    def _veil(self, painter: QPainter, area: QRectF, scene: Scene) -> None:
        veil = QColor(scene.background)
        veil.setAlphaF(0.72)
        painter.fillRect(area, veil)
        painter.setFont(font("semibold", 22))
        painter.setPen(self.palette().text().color())
        inside = area.adjusted(40, 40, -40, -40)
        painter.drawText(inside, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.stale)

    @property
    def frame_height(self) -> float:
        """The height of a frame 1600 units wide that fills the widget, within what still reads well."""
        return round(max(820.0, min(1360.0, 1600.0 * self.height() / max(1, self.width()))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.resized.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.zoom_by(2 ** (event.angleDelta().y() / 240), event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._grabbed = event.position()
        self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is not None:
            self._shift += event.position() - self._grabbed
            self._grabbed = event.position()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grabbed = None
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()
