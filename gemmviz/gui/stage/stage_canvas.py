"""The picture in the middle of the window: drag to pan, wheel to zoom, double click to fit, click a cell to follow a thread."""

from PySide6.QtCore import QObject, QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from gemmviz.gui.widgets.answer import announce
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.model.records import replace
from gemmviz.model.translation import tr
from gemmviz.render.qt.painter import Viewport
from gemmviz.scenes.kit.what_if import WHAT_IF
from gemmviz.scenes.kit.window import Lens
from gemmviz.session.session import Session
from gemmviz.session.spoken import Spoken
from gemmviz.state.shot import MOST_ZOOM, Camera

_DRAG_PIXELS = 4.0
# Pixels per unit of a frame: text keeps its size in a small window and grows with a large one. The scale follows the side that
# limits a square cross beside its text, so that a larger window never makes the cross smaller.
_CARD_WIDTH, _CARD_HEIGHT = 1240.0, 800.0
_LEAST_SCALE, _SHARE, _LIMITING_WIDTH, _LIMITING_HEIGHT = 0.54, 0.85, 1240.0, 900.0


class Stage(SceneWidget):
    """The interactive picture.

    Signals: ``looked`` with the requested Camera, ``lensed`` with the requested lens.
    """

    looked = Signal(object)
    lensed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Stage"), parent)
        self.setMinimumSize(320, 200)
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleDescription(tr("The replay. Wheel to zoom, drag to pan, F to fit, click a cell to follow its thread"))
        self.camera = Camera()
        self._type_scale = 1.0
        self.is_card = False  # whether it shows text and figures, which need a frame as large as a slide
        self.lens: Lens = "auto"  # which of the two is shown; "auto" if they are the same
        self._grabbed: QPointF | None = None
        self._dragged = 0.0

    def set_camera(self, camera: Camera) -> None:
        """Set the part of the picture that is visible."""
        if camera != self.camera:
            self.camera = camera
            self.forget_still()
            self.tables.changed()

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
        """Zoom around the position ``at`` in pixels, by default the middle."""
        at = at or QPointF(self.width() / 2, self.height() / 2)
        camera, (width, height) = self.camera, self.frame_size
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
        """The visible part (x, y, width, height) of a frame of ``frame_size``, in its units."""
        view = self._view_of(*self.frame_size, self.camera)
        return -view.dx / view.scale, -view.dy / view.scale, self.width() / view.scale, self.height() / view.scale

    @property
    def frame_size(self) -> tuple[float, float]:
        """Width and height of a frame that fills the widget, in units that keep text readable."""
        if self.is_card:
            scale = min(self.width() / _CARD_WIDTH, self.height() / _CARD_HEIGHT) * self._type_scale
            return max(1, round(self.width() / scale)), max(1, round(self.height() / scale))
        fitting = _SHARE * min(self.width() / _LIMITING_WIDTH, self.height() / _LIMITING_HEIGHT)
        scale = max(_LEAST_SCALE, fitting) * self._type_scale
        return max(1, round(self.width() / scale)), max(1, round(self.height() / scale))

    def set_type_scale(self, scale: float) -> None:
        """Set the scale of text; 1 is the default size."""
        self._type_scale = scale

    @property
    def unit(self) -> float:
        """Device pixels of a unit."""
        return self.width() * self.devicePixelRatioF() / self.frame_size[0]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom from the whole to the lens and further in, and back the same way."""
        turned = event.angleDelta().y()
        if self.camera == Camera() and self.lens == ("lens" if turned < 0 else "whole"):
            self.lensed.emit("whole" if turned < 0 else "lens")
            return
        self.zoom_by(2 ** (event.angleDelta().y() / 240), event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._grabbed, self._dragged = event.position(), 0.0
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is None:
            super().mouseMoveEvent(event)
            return
        if self._drag_value(event.position()):
            return
        moved = event.position() - self._grabbed
        self._dragged += abs(moved.x()) + abs(moved.y())
        if self._dragged > _DRAG_PIXELS:
            (width, height), camera = self.frame_size, self.camera
            view = self._view_of(width, height, camera)
            x = camera.x - moved.x() / (view.scale * width)
            y = camera.y - moved.y() / (view.scale * height)
            self._grabbed = event.position()
            self.looked.emit(replace(camera, x=_inside(x), y=_inside(y)))

    def _drag_value(self, at: QPointF) -> bool:
        """Drag a value along a curve and return True; False if the pointer is on something else."""
        hit = self.hit(at)
        if hit is None or not hit.cells.key.startswith(WHAT_IF):
            return False
        self._dragged = 0.0
        self.clicked.emit(hit)
        return True

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        clicked = self._grabbed is not None and self._dragged <= _DRAG_PIXELS
        self._grabbed = None
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        hit = self.hit(event.position()) if clicked and event.button() == Qt.MouseButton.LeftButton else None
        if hit is not None:
            self.clicked.emit(hit)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.hit(event.position()) is None:
            self.looked.emit(Camera())


def _inside(share: float) -> float:
    """Limit a share to 0 … 1, so that a part of the frame stays visible."""
    return max(0.0, min(share, 1.0))


# Says aloud what happens at the step that is shown, through the screen reader in use.

_REST_MS = 250  # a step that is passed sooner is not announced: nobody can follow a replay that is read aloud


class StepAnnouncer(QObject):
    """Announces each step of a session at which it rests, with the sentence that the picture has for it."""

    def __init__(self, stage: QWidget, session: Session) -> None:
        super().__init__(stage)
        self._stage, self._words = stage, Spoken(session)
        self._last_sentence = ""
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._say)
        for event in (session.position_changed, session.run_changed):
            event.connect(self._on_moved)

    def _on_moved(self) -> None:
        if QAccessible.isActive():
            self._rest.start()

    def _say(self) -> None:
        sentence = self._words.step()
        if sentence and sentence != self._last_sentence:
            self._last_sentence = sentence
            announce(self._stage, sentence)
