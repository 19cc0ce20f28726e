"""The menu of a right click on a picture, a table or the timeline."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from gemmviz.gui.stage.timeline import TimelineSlider
from gemmviz.gui.widgets.controls import tip_text
from gemmviz.gui.widgets.fact_table import PLACE, Table
from gemmviz.gui.widgets.scene_widget import SceneWidget
from gemmviz.gui.window.docks import Docks
from gemmviz.model.errors import Place
from gemmviz.session.commands import Commands
from gemmviz.session.pointed import Deed, Pointed, deeds


def pointed_in(widget: QWidget | None, at: QPoint) -> Pointed | None:
    """Return what lies at a place of the screen in a widget or one around it; None if it is no picture, table or timeline."""
    while widget is not None:
        here = widget.mapFromGlobal(at)
        if isinstance(widget, SceneWidget):
            return Pointed(widget.hit(QPointF(here)), widget.text_at(QPointF(here)))
        if isinstance(widget, Table):
            item = widget.itemAt(widget.viewport().mapFromGlobal(at))
            first = None if item is None else widget.item(item.row(), 0)
            place = None if first is None else first.data(PLACE)
            return Pointed(None, "" if item is None else item.text(), place if isinstance(place, Place) else None)
        if isinstance(widget, TimelineSlider):
            return Pointed(step=widget.step_at(here.x()))
        widget = None if widget.isWindow() else widget.parentWidget()
    return None


def point_menu(pointed: Pointed, commands: Commands, docks: Docks, export: QAction, parent: QWidget) -> QMenu:
    """Return the menu. Entries that do nothing here are disabled, with the reason as their tooltip."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    for each in deeds(pointed, commands, lambda: _show(docks, "source"), QGuiApplication.clipboard().setText):
        _add(menu, each)
    menu.addSeparator()
    menu.addAction(export)
    return menu


def _add(menu: QMenu, deed: Deed) -> None:
    run: Callable[[], object] = deed.run
    entry = menu.addAction(deed.title)
    entry.setObjectName(deed.id)
    entry.setEnabled(not deed.why_not)
    entry.setToolTip(tip_text(deed.why_not))
    entry.triggered.connect(lambda: run())


def _show(docks: Docks, name: str) -> None:
    """Show a panel, in front of others."""
    dock = docks.all[name]
    if dock.isHidden():
        dock.toggleViewAction().trigger()
    dock.raise_()
