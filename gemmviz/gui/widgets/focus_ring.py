"""A ring around a widget that Tab reached and that shows no focus itself: a scrolling panel, or a text without a cursor."""

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QPlainTextEdit, QScrollArea, QTextEdit, QWidget

RING = 3.0  # pixels: width of a ring's inner line
_BARE = (QScrollArea, QPlainTextEdit, QTextEdit)


def draw_ring(painter: QPainter, box: QRectF, palette: QPalette) -> None:
    """Draw a ring in two colours, so that one of them stands out on any other."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for role, wide in ((QPalette.ColorRole.Base, RING + 3.0), (QPalette.ColorRole.Text, RING)):
        painter.setPen(QPen(palette.color(role), wide))
        painter.drawRect(box)


class FocusRing(QWidget):
    """The ring of a window. It lies over the widget that it surrounds, and goes when the focus does."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._inner: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def surround(self, widget: QWidget) -> None:
        """Show the ring around a widget with the focus, if the widget shows nothing itself."""
        self._leave()
        if isinstance(widget, _BARE) and widget.hasFocus():
            self._inner = widget
            widget.installEventFilter(self)
            self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        match event.type():
            case QEvent.Type.FocusOut | QEvent.Type.Hide:
                self._leave()
            case QEvent.Type.Resize | QEvent.Type.Move:
                self._place()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_ring(painter, QRectF(self.rect()).adjusted(RING, RING, -RING, -RING), self.palette())
        painter.end()

    def _place(self) -> None:
        if self._inner is not None:
            at = self._inner.mapTo(self.window(), self._inner.rect().topLeft())
            self.setGeometry(at.x(), at.y(), self._inner.width(), self._inner.height())
            self.show()
            self.raise_()

    def _leave(self) -> None:
        if self._inner is not None:
            self._inner.removeEventFilter(self)
        self._inner = None
        self.hide()
