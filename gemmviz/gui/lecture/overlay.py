"""The overlay of a lecture: black or white screen, spotlight, ink, the circle to zoom to, a countdown, and messages; and the
map of all its steps.
"""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QElapsedTimer, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QHideEvent, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QListWidget, QListWidgetItem, QWidget

from gemmviz.gui.small_pictures import HEIGHT, WIDTH, icon_of
from gemmviz.gui.widgets.controls import MESSAGE_MS
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import tr
from gemmviz.render.qt.painter import font
from gemmviz.shots.shot import Shot
from gemmviz.teaching.captions import caption_of

Tool = Literal["", "spotlight", "ink", "zoom"]
_INK, _INK_WIDTH = "#E6461E", 5.0
_SHADE, _RADIUS = 0.72, 0.16  # how dark it is around the spotlight, and its share of the height
_LEAST_CIRCLE = 24.0  # pixels


class Overlay(QWidget):
    """A transparent widget over the picture. ``circled`` carries the box, in pixels, around what was circled."""

    circled = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)  # until a tool is in use
        self.tool: Tool = ""
        self.blank = ""  # "black", "white"
        self.keys: tuple[tuple[str, str], ...] = ()
        self.message = self.message_id = ""
        self._until = QTimer(self, singleShot=True, interval=MESSAGE_MS)
        self._until.timeout.connect(lambda: self.show_message(""))
        self.strokes: list[list[QPointF]] = []
        self._circle: list[QPointF] = []
        self._at = QPointF()
        self._left_s = 0
        self._since = QElapsedTimer()
        self._clock = QTimer(self, interval=200)
        self._clock.timeout.connect(self._tick)

    def use(self, tool: Tool) -> None:
        """Select a tool; the selected tool is put away."""
        self.tool = "" if self.tool == tool else tool
        self._circle = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not self.tool)
        self.setCursor(Qt.CursorShape.CrossCursor if self.tool in ("ink", "zoom") else Qt.CursorShape.ArrowCursor)
        self.update()

    def show_blank(self, colour: str) -> None:
        """Show a black or white screen, or the picture again."""
        self.blank = "" if self.blank == colour else colour
        self.update()

    def show_keys(self, keys: Sequence[tuple[str, str]]) -> None:
        """Show the list of keys, or hide it."""
        self.keys = () if self.keys else tuple(keys)
        self.update()

    def show_message(self, text: str, id: str = "") -> None:
        """Show a sentence at the top for some seconds; "" removes it. ``id`` is kept as long as the sentence is shown."""
        self.message, self.message_id = text, id
        self._until.start() if text else self._until.stop()
        self.update()

    def leave(self) -> None:
        """Remove what belongs to the step that is left: the ink and the spotlight."""
        self.clear()
        if self.tool == "spotlight":
            self.use("spotlight")

    def clear(self) -> None:
        """Remove all ink."""
        self.strokes = []
        self.update()

    def count_down(self, seconds: int) -> None:
        """Start a countdown of so many seconds; 0 ends it."""
        self._left_s = max(0, self.left_s) + seconds if seconds else 0
        self._since.start()
        self._clock.start() if self._left_s else self._clock.stop()
        self.update()

    @property
    def left_s(self) -> int:
        """Remaining seconds of the countdown."""
        return max(0, self._left_s - int(self._since.elapsed() // 1000)) if self._left_s else 0

    def _tick(self) -> None:
        if self.left_s == 0:
            self._clock.stop()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.tool == "ink":
            self.strokes.append([event.position()])
        elif self.tool == "zoom":
            self._circle = [event.position()]
        else:
            event.ignore()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._at = event.position()
        if event.buttons() & Qt.MouseButton.LeftButton:
            if self.tool == "ink" and self.strokes:
                self.strokes[-1].append(self._at)
            elif self.tool == "zoom":
                self._circle.append(self._at)
        if self.tool:
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.tool == "zoom" and self._circle:
            around = _bounding_box(self._circle)
            self.use("zoom")
            if min(around.width(), around.height()) >= _LEAST_CIRCLE:
                self.circled.emit(around)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.blank:
            painter.fillRect(self.rect(), QColor(self.blank))
            painter.end()
            return
        if self.tool == "spotlight":
            self._paint_spotlight(painter)
        painter.setPen(
            QPen(QColor(_INK), _INK_WIDTH, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin)
        )
        for stroke in (*self.strokes, self._circle):
            painter.drawPolyline(stroke)
        if self._left_s:
            self._paint_countdown(painter)
        if self.message:
            self._paint_message(painter)
        if self.keys:
            self._paint_keys(painter)
        painter.end()

    def _paint_message(self, painter: QPainter) -> None:
        """Paint the message in a dark box that is as high as its text."""
        size, at = 0.032 * self.height(), QRectF(0.2 * self.width(), 0.04 * self.height(), 0.6 * self.width(), 0)
        painter.setFont(font("regular", size))
        inside = at.adjusted(size, 0.7 * size, -size, self.height())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        needed = painter.boundingRect(inside, flags, self.message)
        ground = QColor("black")
        ground.setAlphaF(0.88)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(QRectF(at.x(), at.y(), at.width(), needed.height() + 1.4 * size), size, size)
        painter.setPen(QColor("white"))
        painter.drawText(inside, flags, self.message)

    def _paint_keys(self, painter: QPainter) -> None:
        size = 0.03 * self.height()
        box = QRectF(0, 0, 30 * size, (1.6 * len(self.keys) + 1.4) * size)
        box.moveCenter(QRectF(self.rect()).center())
        ground = QColor("black")
        ground.setAlphaF(0.88)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, size, size)
        painter.setPen(QColor("white"))
        for number, (key, what) in enumerate(self.keys):
            line = QRectF(box.x() + size, box.y() + (0.7 + 1.6 * number) * size, box.width() - 2 * size, 1.6 * size)
            for text, face, left in ((tr(key), "semibold", 0.0), (tr(what), "regular", 11 * size)):
                painter.setFont(font(face, size))  # type: ignore[arg-type]
                painter.drawText(line.adjusted(left, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)

    def _paint_spotlight(self, painter: QPainter) -> None:
        around, radius = QPainterPath(), _RADIUS * self.height()
        around.addRect(QRectF(self.rect()))
        around.addEllipse(self._at, radius, radius)
        shade = QColor("black")
        shade.setAlphaF(_SHADE)
        painter.fillPath(around, shade)

    def _paint_countdown(self, painter: QPainter) -> None:
        left, size = self.left_s, 0.07 * self.height()
        text = f"{left // 60}:{left % 60:02}" if left else tr("Time")
        box = QRectF(self.width() / 2 - 2 * size, 0.2 * size, 4 * size, 1.3 * size)
        ground = QColor("black")
        ground.setAlphaF(0.75)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, 0.2 * size, 0.2 * size)
        painter.setFont(font("semibold", size))
        painter.setPen(QColor("white" if left else _INK))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _bounding_box(points: list[QPointF]) -> QRectF:
    xs, ys = [point.x() for point in points], [point.y() for point in points]
    return QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys)))


# The map of a lecture: all its steps as small pictures, to jump to one of them.

_GAP, _LINES, _POINTS = 20, 3, 12
_MOVING = (
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
)  # fmt: skip


class StepMap(QListWidget):
    """The steps of the active lesson; their pictures come one after the other. ``chosen`` carries the index of a step. Keys
    that don't move in it are left to the lecture.
    """

    chosen = Signal(int)

    def __init__(self, model: WindowModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.lesson, self.pictures = model.active_lesson, model.step_pictures
        theme = model.theme
        self.setAccessibleName(tr("Map of all steps"))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(True)
        self.setIconSize(QSize(WIDTH, HEIGHT))
        self.setStyleSheet(
            f"QListWidget {{ background: {theme.background}; color: {theme.text}; font-size: {_POINTS}pt; padding: {_GAP}px; }}"
            f"QListWidget::item:selected {{ background: {theme.panel}; border: 2px solid {theme.text}; color: {theme.text}; }}"
        )
        self.ensurePolished()
        size = QSize(WIDTH + _GAP, HEIGHT + _GAP + _LINES * self.fontMetrics().lineSpacing())
        self.setGridSize(size + QSize(_GAP // 2, _GAP // 2))
        empty = QPixmap(WIDTH, HEIGHT)
        empty.fill(QColor(theme.panel))
        for number, step in enumerate(self.lesson.lesson.steps, 1):
            heading = f"{step.part}\n" if step.part else ""
            item = QListWidgetItem(icon_of(empty), f"{heading}{number}  {caption_of(step).title}")
            item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            item.setSizeHint(size)
            self.addItem(item)
        self.select(self.lesson.at or 0)
        self.itemClicked.connect(lambda item: self.chosen.emit(self.row(item)))
        self.pictures.changed.connect(self._show_picture)
        self._ask(model.theme_name)

    def _ask(self, theme: str) -> None:
        """Ask for the pictures, those near the present step first."""
        steps, at = self.lesson.lesson.steps, self.lesson.at or 0
        places = sorted(range(len(steps)), key=lambda place: abs(place - at))
        self.pictures.want([steps[place] for place in places], theme, self.lesson.engine)
        for step in steps:
            self._show_picture(step.shot)

    def _show_picture(self, shot: Shot) -> None:
        picture = self.pictures.of(shot)
        for place, step in enumerate(self.lesson.lesson.steps):
            if step.shot is shot and picture is not None:
                self.item(place).setIcon(icon_of(picture))

    def select(self, place: int) -> None:
        """Mark a step and scroll to it, if there is one at this index."""
        if 0 <= place < self.count():
            self.setCurrentRow(place)
            self.scrollToItem(self.item(place))

    def hideEvent(self, event: QHideEvent) -> None:
        """Draw no more pictures, and show none that comes late."""
        self.pictures.stop()
        self.pictures.changed.disconnect(self._show_picture, missing_ok=True)
        super().hideEvent(event)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Leave Tab to the lecture."""
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVING:
            super().keyPressEvent(event)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self.currentRow())
        else:
            event.ignore()
