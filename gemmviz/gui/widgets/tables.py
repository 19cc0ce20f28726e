"""Tables of texts and numbers."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from gemmviz.gui.widgets.controls import tip_text
from gemmviz.gui.widgets.typing import TABLE_KEYS, keep_keys
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.counting import UNKNOWN, counted_text

_UNTITLED = marked("Quantity")  # of a column without a title, for screen readers
NUMBER = Qt.ItemDataRole.UserRole
_ROW = 1.7  # of the height of a letter
_SHEET = (
    "QTableWidget::item { padding-left: 6px; }"
    "QTableWidget::item:focus { border: 2px solid palette(text); padding-left: 4px; }"
    "QHeaderView::section { background: palette(window); color: palette(placeholder-text); border: none; padding: 2px 6px; }"
)


class _Item(QTableWidgetItem):
    """A cell that sorts by its number if it has one."""

    def __lt__(self, other: QTableWidgetItem) -> bool:
        mine, theirs = self.data(NUMBER), other.data(NUMBER)
        return bool(mine < theirs) if mine is not None and theirs is not None else self.text() < other.text()


class Table(QTableWidget):
    """A read-only table. ``stretched``: the column that takes the remaining width; ``is_covered``: whether the numbers of all
    columns but the first read "?".
    """

    def __init__(self, name: str, columns: list[str], rows: int = 0, stretched: int = 0) -> None:
        super().__init__(rows, len(columns))
        self.is_covered = False
        self.setAccessibleName(name)
        self.setHorizontalHeaderLabels(columns)
        for column, text in enumerate(columns):
            heading = self.horizontalHeaderItem(column)
            if heading is not None and not text:
                heading.setData(Qt.ItemDataRole.AccessibleTextRole, tr(_UNTITLED))
        self.verticalHeader().hide()
        self._fit_font()
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setTabKeyNavigation(False)
        keep_keys(self, TABLE_KEYS)
        self.setShowGrid(False)
        self.setFrameShape(QTableWidget.Shape.NoFrame)
        self.setStyleSheet(_SHEET)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(24)
        self.setMinimumWidth(120)
        for column in range(len(columns)):
            mode = QHeaderView.ResizeMode.Stretch if column == stretched else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(column, mode)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_font()

    def _fit_font(self) -> None:
        """Make rows as high as their text needs."""
        self.verticalHeader().setDefaultSectionSize(round(_ROW * self.font().pixelSize()))
        if self.minimumHeight() == self.maximumHeight():
            self.fit_rows()

    def put(
        self, row: int, column: int, text: str, number: float | None = None, *, right: bool = False, tip: str = ""
    ) -> QTableWidgetItem:
        """Set the text of a cell and the number that it is sorted by. The cell is created on first use."""
        item = self.item(row, column)
        if item is None:
            item = _Item()
            if right:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.setItem(row, column, item)
        if self.is_covered and column > 0 and number is not None:
            text, tip = UNKNOWN, counted_text(tip, 0.0)
        if item.text() != text:
            item.setText(text)
        item.setData(NUMBER, number)
        if tip:
            item.setToolTip(tip_text(tip))
        return item

    def fit_rows(self) -> None:
        """Set the height to show all rows."""
        rows = self.rowCount() * self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(rows + self.horizontalHeader().sizeHint().height() + 4)
