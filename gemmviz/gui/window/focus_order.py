"""The order in which Tab goes through a window: that of Qt, without docks that are tabs behind another one. Qt leaves their
widgets "visible" beyond the edge of the window, where nobody sees the focus.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget


def next_in_focus_order(window: QWidget, forward: bool) -> QWidget | None:
    """Return the widget that Tab leads to, or Shift+Tab if not ``forward``; None if there is no other one."""
    start = QApplication.focusWidget() or window
    widget = _neighbour(start, forward)
    while widget is not start:
        if _takes_tab(widget, window):
            return widget
        widget = _neighbour(widget, forward)
    return None


def _neighbour(widget: QWidget, forward: bool) -> QWidget:
    """Return the widget next to another one in the chain, which is closed."""
    neighbour = widget.nextInFocusChain() if forward else widget.previousInFocusChain()
    assert neighbour is not None
    return neighbour


def _takes_tab(widget: QWidget, window: QWidget) -> bool:
    """Whether Tab may stop at a widget: on macOS, a setting of the system limits it to texts and lists."""
    wanted = Qt.FocusPolicy.TabFocus
    if QGuiApplication.styleHints().tabFocusBehavior() != Qt.TabFocusBehavior.TabFocusAllControls:
        wanted = Qt.FocusPolicy.StrongFocus
    return (
        widget.focusPolicy() & wanted == wanted
        and widget.focusProxy() is None
        and widget.isVisibleTo(window)
        and widget.isEnabled()
        and widget.window() is window
        and not _is_behind(widget)
    )


def _is_behind(widget: QWidget) -> bool:
    """Whether a widget lies in a dock that is a tab behind another one."""
    dock: QWidget | None = widget
    while dock is not None and not isinstance(dock, QDockWidget):
        dock = dock.parentWidget()
    return dock is not None and dock.visibleRegion().isEmpty()
