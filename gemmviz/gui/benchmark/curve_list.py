"""The list of a benchmark's curves, grouped by kernel, with a check box for each curve."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem

from gemmviz.gui.widgets.controls import tip_text
from gemmviz.model.chart import Curve
from gemmviz.model.translation import tr

_KEY = Qt.ItemDataRole.UserRole  # the family of a kernel, the label of a curve
_SHEET = (
    "QTreeView::indicator { border: 1px solid palette(placeholder-text); border-radius: 2px; width: 11px; height: 11px; }"
    "QTreeView::indicator:checked { background: palette(link); border-color: palette(link); }"
)


class CurveList(QTreeWidget):
    """A tree of curves below their kernels. ``toggled`` carries {label: whether the curve is shown}."""

    toggled = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.curves: Sequence[Curve] = ()
        self.setHeaderHidden(True)
        self.setStyleSheet(_SHEET)
        self.setToolTip(tr("Curves to show. Expand a kernel to see all its curves"))
        self.setAccessibleName(tr("Curves"))
        self.itemChanged.connect(self._on_changed)

    def fill(self, curves: Sequence[Curve], chosen: Mapping[str, bool], colours: Mapping[str, str]) -> None:
        """List these curves and keep expanded families expanded. ``colours`` are by family."""
        expanded = {item.data(0, _KEY) for item in self._families() if item.isExpanded()}
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
                short = tr(curve.label.removeprefix(family).strip(" ,")) or tr("only")
                self._entry(top, short, shown[curve.label], colour, curve.label)
            top.setExpanded(family in expanded)
        self.blockSignals(False)
        self.verticalScrollBar().setValue(scrolled)

    def _families(self) -> list[QTreeWidgetItem]:
        items = (self.topLevelItem(row) for row in range(self.topLevelItemCount()))
        return [item for item in items if item is not None]

    @staticmethod
    def _entry(parent: QTreeWidget | QTreeWidgetItem, text: str, shown: bool, colour: QColor, key: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem(parent, [text])
        item.setData(0, _KEY, key)
        item.setCheckState(0, Qt.CheckState.Checked if shown else Qt.CheckState.Unchecked)
        item.setForeground(0, colour)
        item.setToolTip(0, tip_text(key))
        return item

    def _on_changed(self, item: QTreeWidgetItem) -> None:
        """Emit what was checked. The box of a kernel shows its main curves, or hides all of them."""
        is_checked = item.checkState(0) == Qt.CheckState.Checked
        if item.parent() is None:
            family = [curve for curve in self.curves if curve.family == item.data(0, _KEY)]
            changes = {curve.label: is_checked and curve.main for curve in family}
        else:
            changes = {item.data(0, _KEY): is_checked}
        QTimer.singleShot(0, lambda: self.toggled.emit(changes))  # the item must outlive this call
