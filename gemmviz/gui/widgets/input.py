"""What keys, the wheel and the focus do in widgets."""

from collections.abc import Callable, Container

from PySide6.QtCore import QEvent, QMargins, QObject, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, QScrollArea, QTextEdit, QWidget

# Wheel and keyboard handling of drop-down lists and number fields.


class WheelGuard(QObject):
    """An event filter: only a focused control turns with the wheel; others leave the wheel to their scroll area. ``released``
    is called after a choice from a list.
    """

    def __init__(self, parent: QObject, released: Callable[[], None]) -> None:
        super().__init__(parent)
        self._released = released

    def guard(self, root: QWidget) -> None:
        """Guard all lists and number fields within ``root``, each once."""
        for kind in (QComboBox, QAbstractSpinBox):
            for box in root.findChildren(kind):
                if not box.property("guarded"):
                    box.setProperty("guarded", True)
                    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                    box.installEventFilter(self)
                    if isinstance(box, QComboBox):
                        box.activated.connect(lambda _: self._released())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


# Keys that a field needs while it has the focus, which would otherwise trigger shortcuts of the window.

# Keys that move over the cells of a table, and the one that chooses a cell
TABLE_KEYS = frozenset(
    {
        Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown,
        Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Return, Qt.Key.Key_Enter,
    }
)  # fmt: skip
OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)  # keys that open what is marked in a list
_OF_NUMBERS = "eE"  # letters that may stand in a number


def keep_typing(field: QWidget) -> None:
    """Give a field what is typed in it, and undo for as long as there is typing to undo. Letters are no part of a number: in a
    number field they are shortcuts of the window.
    """
    field.installEventFilter(_TypingFilter(field))


def keep_keys(field: QWidget, keys: Container[Qt.Key]) -> None:
    """Give a field these keys without modifiers, such as the arrows that move over the cells of a table."""
    field.installEventFilter(_KeyFilter(field, keys))


class _KeyFilter(QObject):
    def __init__(self, field: QWidget, keys: Container[Qt.Key]) -> None:
        super().__init__(field)
        self._keys = keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        is_own = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and Qt.Key(event.key()) in self._keys
        if is_own:
            event.accept()
        return is_own


class _TypingFilter(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        takes = _takes(watched, event)
        if takes is not None:
            event.setAccepted(takes)
        return takes is not None


def _takes(field: QObject, event: QKeyEvent) -> bool | None:
    """Return whether a field takes a key itself; None if the field may decide."""
    editor = (
        field if isinstance(field, QLineEdit) else field.findChild(QLineEdit) if isinstance(field, QAbstractSpinBox) else None
    )
    if isinstance(editor, QLineEdit) and event.matches(QKeySequence.StandardKey.Undo):
        return editor.isUndoAvailable()
    if isinstance(editor, QLineEdit) and event.matches(QKeySequence.StandardKey.Redo):
        return editor.isRedoAvailable()
    if isinstance(editor, QLineEdit) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        return True
    if isinstance(field, QAbstractSpinBox) and event.text().isalpha() and event.text() not in _OF_NUMBERS:
        return False
    return None


# A ring around a widget that Tab reached and that shows no focus itself: a scrolling panel, or a text without a cursor; or
# around a widget that is pointed out for a moment.

RING, _ROOM = 3.0, 6  # pixels: width of a ring's inner line; between a widget that is pointed out and its ring
_BARE = (QScrollArea, QPlainTextEdit, QTextEdit)


def draw_ring(painter: QPainter, box: QRectF, palette: QPalette) -> None:
    """Draw a ring in two colours, so that one of them stands out on any other."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for role, width in ((QPalette.ColorRole.Base, RING + 3.0), (QPalette.ColorRole.Text, RING)):
        painter.setPen(QPen(palette.color(role), width))
        painter.drawRect(box)


class FocusRing(QWidget):
    """The ring of a window. It lies over the widget that it surrounds, and goes when the focus does, or after a time."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._inner: QWidget | None = None
        self._room = 0  # pixels between the widget and the ring
        self._end = QTimer(self, singleShot=True)
        self._end.timeout.connect(self._leave)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def surround(self, widget: QWidget) -> None:
        """Show the ring around a widget with the focus, if the widget shows nothing itself."""
        self._leave()
        if isinstance(widget, _BARE) and widget.hasFocus():
            self._begin(widget)

    def mark(self, widget: QWidget, for_ms: int) -> None:
        """Show the ring around a widget for a time."""
        self._leave()
        self._begin(widget, _ROOM)
        self._end.start(for_ms)

    def _begin(self, widget: QWidget, room: int = 0) -> None:
        self._inner, self._room = widget, room
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
            self.setGeometry(QRect(at, self._inner.size()).marginsAdded(QMargins(*[self._room] * 4)))
            self.show()
            self.raise_()

    def _leave(self) -> None:
        self._end.stop()
        if self._inner is not None:
            self._inner.removeEventFilter(self)
        self._inner = None
        self.hide()
