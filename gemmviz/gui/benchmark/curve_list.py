"""The list of a benchmark's curves, a kernel's together: which are shown is for the person to choose."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem

from gemmviz.gui.widgets.controls import tip_text
from gemmviz.model.chart import Curve

_SHEET = (
    "QTreeView::indicator { border: 1px solid palette(placeholder-text); border-radius: 2px; width: 11px; height: 11px; }"
    "QTreeView::indicator:checked { background: palette(link); border-color: palette(link); }"
)


class CurveList(QTreeWidget):
    """``toggled`` tells which curves, by label, are to be shown or put away."""

    toggled = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.curves: Sequence[Curve] = ()
        self.setHeaderHidden(True)
        self.setStyleSheet(_SHEET)
        self.setToolTip("Which curves are shown: open a kernel to see all that was measured of it")
        self.setAccessibleName("Curves")
        self.itemChanged.connect(self._on_changed)

    def fill(self, curves: Sequence[Curve], chosen: Mapping[str, bool], colours: Mapping[str, str]) -> None:
        """Lists these curves, each family open as it was; ``colours`` by family."""
        opened = {item.text(0) for item in self._families() if item.isExpanded()}
        scrolled = self.verticalScrollBar().value()
        self.curves = curves
        shown = {curve.label: chosen.get(curve.label, curve.shown) for curve in curves}
        self.blockSignals(True)
        self.clear()
        for family in dict.fromkeys(curve.family for curve in curves):
            several = [curve for curve in curves if curve.family == family]
            colour = QColor(colours[family])
            top = self._entry(self, family, any(shown[curve.label] for curve in several), colour, family)
            for curve in several if len(several) > 1 else ():
                short = curve.label.removeprefix(family).strip(" ,") or "alone"
                self._entry(top, short, shown[curve.label], colour, curve.label)
            top.setExpanded(family in opened)
        self.blockSignals(False)
        self.verticalScrollBar().setValue(scrolled)

    def _families(self) -> list[QTreeWidgetItem]:
        found = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return [item for item in found if item is not None]

    @staticmethod
    def _entry(parent: QTreeWidget | QTreeWidgetItem, text: str, shown: bool, colour: QColor, label: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(parent, [text])
        item.setCheckState(0, Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked)
        item.setForeground(0, colour)
        item.setToolTip(0, tip_text(label))
        return item

    def _on_changed(self, item: QTreeWidgetItem) -> None:
        """A kernel's own box shows what stands for it, or hides all of it."""
        wanted = item.checkState(0) == Qt.CheckState.Checked
        if item.parent() is None:
            family = [curve for curve in self.curves if curve.family == item.text(0)]
            found = {curve.label: wanted and curve.main for curve in family}
        else:
            found = {item.toolTip(0): wanted}
        QTimer.singleShot(0, lambda: self.toggled.emit(found))  # the item must outlive this
