"""Redrawing of a widget, at most once per frame and only while it is visible."""

from collections.abc import Callable
from functools import partial, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

PANEL_MS = 40
_COVERED_PROPERTY = "covered"
_ShownWidget = TypeVar("_ShownWidget", bound=QWidget)
_waiting: WeakKeyDictionary[QWidget, dict[object, Callable[[], None]]] = WeakKeyDictionary()  # by window


class Refresh(QObject):
    """A scheduler of redraws. ``due`` requests a call of ``draw``; requests while the widget is hidden are served when it is
    shown.
    """

    def __init__(self, widget: QWidget, draw: Callable[[], None], every_ms: int = PANEL_MS) -> None:
        super().__init__(widget)
        self._widget, self._draw = widget, draw
        self._missed = True
        self._timer = QTimer(self, singleShot=True, interval=every_ms)
        self._timer.timeout.connect(self._on_due)
        widget.installEventFilter(self)

    def watch(self, child: QWidget) -> None:
        """Treat a child that covers the widget as the widget itself."""
        child.installEventFilter(self)

    def due(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def now(self) -> None:
        """Draw without waiting."""
        self._timer.stop()
        self._on_due()

    def _on_due(self) -> None:
        self._missed = not is_seen(self._widget)
        if not self._missed:
            self._draw()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Expose, QEvent.Type.Paint) and self._missed:
            self._missed = False
            self.due()
        return False


def cover(window: QWidget, is_covered: bool) -> None:
    """Tell the parts of a window whether another window, the lecture, covers all of it: then they need no redrawing."""
    window.setProperty(_COVERED_PROPERTY, is_covered)
    if not is_covered:
        for draw in _waiting.pop(window, {}).values():
            draw()
        window.update()
        for child in window.findChildren(QWidget):
            child.update()  # a redraw that was missed is made up when the widget is painted


def is_covered(widget: QWidget) -> bool:
    """Whether the widget's window is covered."""
    return bool(widget.window().property(_COVERED_PROPERTY))


def is_seen(widget: QWidget) -> bool:
    """Whether any part of the widget is visible: not closed, not behind another tab, and not covered by the lecture."""
    if not widget.isVisible() or is_covered(widget):
        return False
    if not widget.visibleRegion().isEmpty():
        return True
    return any(not each.visibleRegion().isEmpty() for each in widget.findChildren(QWidget))  # a child may cover it


def unless_covered(draw: Callable[[_ShownWidget], None]) -> Callable[..., None]:
    """Make a method of a widget do its work at once or, while the lecture covers the widget's window, once when that ends."""

    @wraps(draw)
    def follow(self: _ShownWidget, *_: object) -> None:
        if is_covered(self):
            _waiting.setdefault(self.window(), {})[self, draw] = partial(draw, self)
        else:
            draw(self)

    return follow
