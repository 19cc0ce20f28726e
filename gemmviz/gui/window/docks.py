"""The docks beside the stage, one for each panel of ``gemmviz.gui.panels``: the source at the left, all others as tabs of a
drawer at the right, which is closed at first.
"""

from collections.abc import Callable
from functools import cache

from PySide6.QtCore import QByteArray, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QStyle,
    QStyleOptionDockWidget,
    QStylePainter,
    QWidget,
)

from gemmviz.files.extensions import Catalog, extensions_in
from gemmviz.gui.panel import Panel
from gemmviz.gui.style import LETTERS
from gemmviz.gui.widgets.controls import scrolled
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import GemmvizError, tr

_SOURCE, _MOST_SOURCE, _LEAST_REST = 480, 0.21, 740  # pixels: 54 characters; of the width; pixels for all else
_RIGHT, _MOST_RIGHT = 340, 0.26  # pixels; of the width
_ROOM = 240, 154  # pixels: the least place of a panel, kept until it is made, so that the stage doesn't give way to it then
_AT_LEFT, _FIRST_OPEN = "source", "settings"
_LAYOUT_VERSION = 3  # layouts of earlier versions had panels on more sides


@cache
def panels() -> Catalog[Panel]:
    """Return the panels by id."""
    return extensions_in("gemmviz.gui.panels", "PANEL", Panel)


class _Dock(QDockWidget):
    """A dock whose title has the letters of the window. ``menu_requested`` carries the dock and the screen position of a right
    click in a floating dock. A docked one leaves the event to its window.
    """

    menu_requested = Signal(QWidget, QPoint)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        event.setAccepted(self.isFloating())
        if self.isFloating():
            self.menu_requested.emit(self, event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.isFloating():
            super().paintEvent(event)
            return
        option = QStyleOptionDockWidget()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.setFont(self.font())  # QDockWidget paints with the desktop's own font for titles
        painter.drawControl(QStyle.ControlElement.CE_DockWidgetTitle, option)
        painter.end()


class _Widgets(dict[str, QWidget]):
    """The widgets of panels, each made when it is asked for."""

    def __init__(self, make: Callable[[str], QWidget]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> QWidget:
        self[name] = widget = self._make(name)
        return widget


class Docks:
    """The docks of a window. ``all``: the docks by the id of their panel; ``widgets``: the panels' own widgets, made when their
    dock is shown first; ``panels``: the panels in use; ``broken``: one error for each panel that can't be used;
    ``last_open``: the ids of the panels that were in the drawer when it was closed, the one in front last.
    """

    def __init__(self, window: QMainWindow, model: WindowModel) -> None:
        self.window, self.model = window, model
        self.broken = list(panels().broken)
        self.panels = dict(panels())
        self.widgets = _Widgets(self._widget)
        self.all = {name: self._dock(name, panel) for name, panel in self.panels.items()}
        self.last_open: list[str] = []
        self._hidden: list[QDockWidget] | None = None

    def _dock(self, name: str, panel: Panel) -> _Dock:
        dock = _Dock(tr(panel.title), self.window)
        dock.setObjectName(name)
        room = QWidget()
        room.setMinimumSize(*_ROOM)
        dock.setWidget(room)
        self._put(dock)
        dock.toggleViewAction().triggered.connect(lambda on: self.favour(name) if on else None)  # Qt shows it behind others
        dock.visibilityChanged.connect(lambda on: self.widgets[name] if on else None)
        if name == _AT_LEFT:
            dock.visibilityChanged.connect(self.model.show_source)
        return dock

    def _put(self, dock: QDockWidget) -> None:
        """Put a dock into its place."""
        is_left = dock.objectName() == _AT_LEFT
        area = Qt.DockWidgetArea.LeftDockWidgetArea if is_left else Qt.DockWidgetArea.RightDockWidgetArea
        self.window.addDockWidget(area, dock)

    def _widget(self, name: str) -> QWidget:
        """The widget of a panel, in its dock. A faulty extension has an empty one, and no dock."""
        panel = self.panels[name]
        try:
            widget = panel.make(self.model)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            what = tr("the panel {name} is ignored: {reason}", name=f"{name!r}", reason=reason)
            self.broken.append(GemmvizError(what, remedy=tr("correct its file")))
            dock = self.all.pop(name)
            QTimer.singleShot(0, self.window, lambda: self.window.removeDockWidget(dock))  # not while it is being shown
            del self.panels[name]
            return QWidget()
        room = self.all[name].widget()
        if panel.scrolls:
            area = scrolled(widget, tr(panel.title))
            area.setMinimumWidth(panel.least_width)
            self.all[name].setWidget(area)
        else:
            self.all[name].setWidget(widget)
        room.deleteLater()
        return widget

    @property
    def drawer(self) -> list[QDockWidget]:
        """The docks of the drawer that are open."""
        docks = (self.all[name] for name in self.panels if name != _AT_LEFT)
        return [dock for dock in docks if not dock.isHidden() and not dock.isFloating()]

    def toggle_drawer(self) -> None:
        """Close the drawer, or open it with the panels that were open in it last."""
        if drawer := self.drawer:
            self.close(drawer)
        else:
            for name in [each for each in self.last_open if each in self.all] or [_FIRST_OPEN]:
                self.favour(name)

    def close(self, docks: list[QDockWidget]) -> None:
        """Close docks of the drawer, and remember them."""
        self.last_open = [dock.objectName() for dock in sorted(docks, key=lambda dock: not dock.visibleRegion().isEmpty())]
        for dock in docks:
            dock.hide()

    @property
    def are_hidden(self) -> bool:
        """Whether all docks are temporarily hidden."""
        return self._hidden is not None

    def hide(self, on: bool, but: str = "") -> None:
        """Hide all docks except the one with the id ``but``, or show again what was hidden this way."""
        if on and self._hidden is None:
            self._hidden = [dock for dock in self.all.values() if not dock.isHidden()]
            for dock in self._hidden:
                dock.setVisible(dock.objectName() == but)
        elif not on and self._hidden is not None:
            for dock in self._hidden:
                dock.show()
            self._hidden = None

    def layout_state(self) -> QByteArray:
        """Return the layout of the docks, for ``restore``."""
        return self.window.saveState(_LAYOUT_VERSION)

    def restore(self, state: QByteArray) -> None:
        """Restore a saved layout. A layout that is damaged or of another version is replaced by the default one."""
        if not self.window.restoreState(state, _LAYOUT_VERSION):
            self.reset()

    def reset(self) -> None:
        """Restore the default layout."""
        self._hidden = None
        layout = self.window.layout()
        assert layout is not None
        for dock in self.all.values():
            self.window.removeDockWidget(dock)
        layout.activate()  # also removes the tab bars
        layout.setEnabled(False)  # an active layout would create tab bars twice
        for name in self.panels:
            dock = self.all[name]
            dock.setFloating(False)
            dock.show()
            self._put(dock)
        first, *others = self.drawer
        for other in others:
            self.window.tabifyDockWidget(first, other)
        for each in (first, *others):
            each.hide()
        self.last_open = []
        layout.setEnabled(True)
        layout.activate()
        self.fit()

    def favour(self, name: str) -> None:
        """Show a panel, in front of its neighbours."""
        is_first = self.all[name].isHidden() and (name == _AT_LEFT or not self.drawer)
        self.all[name].show()
        self.all[name].raise_()
        if is_first:
            self.fit()

    def fit(self) -> None:
        """Size the docks for the current window; in small windows the stage keeps most of the space."""
        width = self.window.width()
        scale = QApplication.font().pixelSize() / LETTERS  # panels are as wide as their text needs
        source = max(_ROOM[0], min(round(_SOURCE * scale), round(_MOST_SOURCE * width), width - _LEAST_REST))
        right = max(296, min(round(_RIGHT * scale), round(_MOST_RIGHT * width)))
        docks = [self.all[_AT_LEFT], *self.drawer[:1]]
        self.window.resizeDocks(docks, [source, right][: len(docks)], Qt.Orientation.Horizontal)
