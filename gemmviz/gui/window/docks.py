"""The docks around the stage: every panel of ``gemmviz.gui.panels`` has one."""

from functools import cache
from itertools import pairwise

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QScrollArea, QWidget

import gemmviz.gui.panels as folder
from gemmviz.files.extensions import Extensions, extensions_in
from gemmviz.gui.panel import DockArea, Panel
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.errors import GemmvizError

_AREAS: dict[DockArea, Qt.DockWidgetArea] = {
    "left": Qt.DockWidgetArea.LeftDockWidgetArea, "right": Qt.DockWidgetArea.RightDockWidgetArea,
    "bottom": Qt.DockWidgetArea.BottomDockWidgetArea,
}  # fmt: skip


@cache
def panel_extensions() -> Extensions[Panel]:
    """All panels, and the modules of ``gemmviz.gui.panels`` that could not be used."""
    return extensions_in(folder, "PANEL", Panel)


def panels() -> tuple[Panel, ...]:
    """All panels, in their order."""
    return tuple(panel_extensions().items.values())


class Docks:
    """Makes the docks of a window and lays them out. ``widgets``: the panels' own, by title; ``broken``: one error for each
    panel that was left out.
    """

    def __init__(self, window: QMainWindow, desk: WindowModel) -> None:
        self.window = window
        self.widgets: dict[str, QWidget] = {}
        self.all: dict[str, QDockWidget] = {}
        self.broken = list(panel_extensions().broken)
        for panel in panels():
            try:
                self.all[panel.title] = self._dock(panel, desk)
            except Exception as error:  # an extension's fault costs only its own panel
                reason = f"{type(error).__name__}: {error}"
                self.broken.append(GemmvizError(f"the panel {panel.title!r} is left out: {reason}", remedy="mend its file"))
        self.panels = tuple(panel for panel in panels() if panel.title in self.all)
        self._hidden: list[QDockWidget] | None = None

    def _dock(self, panel: Panel, desk: WindowModel) -> QDockWidget:
        self.widgets[panel.title] = widget = panel.make(desk)
        dock = QDockWidget(panel.title, self.window)
        dock.setObjectName(panel.title)
        dock.setWidget(_scrolled(widget, panel.least_width) if panel.scrolls else widget)
        self.window.addDockWidget(_AREAS[panel.area], dock)
        return dock

    def in_area(self, area: DockArea) -> list[QDockWidget]:
        """Those that have a place of their own there."""
        return [self.all[panel.title] for panel in self.panels if panel.area == area and not panel.behind]

    @property
    def are_hidden(self) -> bool:
        """Whether they are out of the way for now."""
        return self._hidden is not None

    def hide(self, on: bool, but: str = "") -> None:
        """Hides all docks, for a hall; or shows those again that were hidden so. ``but``: a panel that stays."""
        if on and self._hidden is None:
            self._hidden = [dock for dock in self.all.values() if not dock.isHidden()]
            for dock in self._hidden:
                dock.setVisible(dock.objectName() == but)
        elif not on and self._hidden is not None:
            for dock in self._hidden:
                dock.show()
            self._hidden = None

    def restore(self, state: QByteArray) -> None:
        """The docks as they lay when the window's state was kept; where they were at first for a state that is none."""
        if not self.window.restoreState(state):
            self.reset()

    def reset(self) -> None:
        """All docks where they were at first."""
        self._hidden = None
        layout = self.window.layout()
        assert layout is not None
        for dock in self.all.values():
            self.window.removeDockWidget(dock)
        layout.activate()  # takes the bars of tabs away with them
        layout.setEnabled(False)  # a layout that is half done has a bar of tabs made twice
        for panel in self.panels:
            dock = self.all[panel.title]
            dock.setFloating(False)
            dock.show()
            self.window.addDockWidget(_AREAS[panel.area], dock)
        self.window.setCorner(Qt.Corner.BottomLeftCorner, _AREAS["left"])
        self.window.setCorner(Qt.Corner.BottomRightCorner, _AREAS["right"])
        for area in ("left", "right"):
            side = self.in_area(area)  # type: ignore[arg-type]
            for above, below in pairwise(side):
                self.window.splitDockWidget(above, below, Qt.Orientation.Vertical)
        first, *others = self.in_area("bottom")
        for dock in others:
            self.window.tabifyDockWidget(first, dock)
        first.raise_()
        for panel in self.panels:
            if panel.behind in self.all:
                self.window.tabifyDockWidget(self.all[panel.behind], self.all[panel.title])
                self.all[panel.behind].raise_()
        layout.setEnabled(True)
        layout.activate()
        self.fit()

    def favour(self, title: str) -> None:
        """Brings a panel of the right side to the front and gives it most of that side's height."""
        dock, below, height = self.all[title], self.in_area("right")[1], self.window.height()
        dock.show()
        dock.raise_()
        self.window.resizeDocks([dock, below], [height * 3 // 4, height // 4], Qt.Orientation.Vertical)

    def fit(self) -> None:
        """Gives the docks their share of the window as it is; small windows keep the room for the stage."""
        width, height = self.window.width(), self.window.height()
        left, right, bottom = self.in_area("left"), self.in_area("right"), self.in_area("bottom")
        across = [max(284, min(300, width // 4)), max(300, min(460, width // 4))]
        self.window.resizeDocks([left[0], right[0]], across, Qt.Orientation.Horizontal)
        low = min(176, height // 5 if height > 700 else height // 7)
        self.window.resizeDocks([bottom[0]], [low], Qt.Orientation.Vertical)
        self.window.resizeDocks(right[:2], [height * 55 // 100, height * 45 // 100], Qt.Orientation.Vertical)


def _scrolled(widget: QWidget, least_width: int) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(widget)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setMinimumWidth(least_width)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    return area
