"""The list of a benchmark's curves, a kernel's together: which are shown is for the person to choose."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem

from gemmviz.analysis.speeds import Curve


class CurveList(QTreeWidget):
    """``toggled`` when a curve was chosen or put away. What was chosen is kept from one chart to the next."""

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.curves: list[Curve] = []
        self._chosen: dict[str, bool] = {}
        self.setHeaderHidden(True)
        self.setToolTip("Which curves are shown: open a kernel to see all that was measured of it")
        self.setAccessibleName("Curves")
        self.itemChanged.connect(self._on_changed)

    @property
    def shown(self) -> list[Curve]:
        return [curve for curve in self.curves if self._is_shown(curve)]

    def _is_shown(self, curve: Curve) -> bool:
        return self._chosen.get(curve.label, curve.shown)

    def fill(self, curves: list[Curve], colour: Callable[[Curve], QColor]) -> None:
        """Lists these curves, each family open as it was."""
        opened = {item.text(0) for item in self._families() if item.isExpanded()}
        scrolled = self.verticalScrollBar().value()
        self.curves = curves
        self.blockSignals(True)
        self.clear()
        for family in dict.fromkeys(curve.family for curve in curves):
            several = [curve for curve in curves if curve.family == family]
            top = self._entry(self, family, any(map(self._is_shown, several)), colour(several[0]), family)
            for curve in several if len(several) > 1 else ():
                short = curve.label.removeprefix(family).strip(" ,") or "alone"
                self._entry(top, short, self._is_shown(curve), colour(curve), curve.label)
            top.setExpanded(family in opened)
        self.blockSignals(False)
        self.verticalScrollBar().setValue(scrolled)

    def _families(self) -> list[QTreeWidgetItem]:
        return [self.topLevelItem(row) for row in range(self.topLevelItemCount())]

    @staticmethod
    def _entry(parent: QTreeWidget | QTreeWidgetItem, text: str, shown: bool, colour: QColor, label: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(parent, [text])
        item.setCheckState(0, Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked)
        item.setForeground(0, colour)
        item.setToolTip(0, label)
        return item

    def _on_changed(self, item: QTreeWidgetItem) -> None:
        """A kernel's own box shows what stands for it, or hides all of it."""
        wanted = item.checkState(0) == Qt.CheckState.Checked
        if item.parent() is None:
            for curve in (curve for curve in self.curves if curve.family == item.text(0)):
                self._chosen[curve.label] = wanted and curve.main
        else:
            self._chosen[item.toolTip(0)] = wanted
        QTimer.singleShot(0, self.toggled.emit)  # the item must outlive this
