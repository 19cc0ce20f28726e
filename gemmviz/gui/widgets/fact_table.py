"""A table over a picture that has no pixels of its own: keys move over the cells of the picture, and screen readers read them.

It is a table of Qt, so that every platform's accessibility knows its rows, columns and cells; only the places of the cells are
those of the picture. The mouse passes through it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from msgspec import Struct
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QAccessible, QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QFrame,
    QHeaderView,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from gemmviz.gui.widgets.controls import tip_text
from gemmviz.gui.widgets.input import RING, TABLE_KEYS, draw_ring, keep_keys
from gemmviz.model.messages import UNKNOWN, marked, told, tr
from gemmviz.scenes.kit.primitives import Cells, Hit, Scene
from gemmviz.scenes.kit.table import lines_of, own_text, place_text, table_name, tables_of

_Index = QModelIndex | QPersistentModelIndex
_KEY_STEPS = {
    Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_PageUp: (-8, 0), Qt.Key.Key_PageDown: (8, 0),
}  # fmt: skip


class FactGrid(Struct, frozen=True, eq=False):
    """The content of a table. ``text`` gives the whole text of a cell, ``box`` its place in pixels of the picture, both by row
    and column; ``columns``: the names of columns that have one.
    """

    name: str
    rows: int
    count: int
    text: Callable[[int, int], str]
    box: Callable[[int, int], QRectF]
    columns: tuple[str, ...] = ()
    source: Any = None  # what the grid is made of, for those who point at one of its cells


class _Model(QAbstractTableModel):
    """The cells of a grid; a text is made when it is asked for."""

    def __init__(self, grid: FactGrid) -> None:
        super().__init__()
        self.grid = grid

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008  # as Qt has it
        return 0 if parent.isValid() else self.grid.rows

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else self.grid.count

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) and index.isValid():
            return self.grid.text(index.row(), index.column())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Horizontal:
            return self.grid.columns[section] if section < len(self.grid.columns) else tr("column {number}", number=section)
        return tr("row {number}", number=section)


class FactTable(QTableView):
    """The table of a grid. ``pointed`` carries row and column of the cell that has the focus, None when it leaves the table;
    ``chosen`` a cell on which Return was pressed; ``left`` follows Escape.
    """

    pointed = Signal(object)
    chosen = Signal(int, int)
    left = Signal()

    def __init__(self, grid: FactGrid, over: QWidget) -> None:
        super().__init__(over)
        self._cells = _Model(grid)
        self.setModel(self._cells)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        for each in (self, self.viewport()):
            each.setAutoFillBackground(False)
            each.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        keep_keys(self, TABLE_KEYS | {Qt.Key.Key_Escape})  # here the arrows move over the cells, not over the steps
        self._name()
        self.show()

    @property
    def grid(self) -> FactGrid:
        return self._cells.grid

    def show_grid(self, grid: FactGrid) -> None:
        """Show other content. The cell with the focus keeps it if it is still there."""
        before, at = self.grid, self.currentIndex()
        place = (at.row(), at.column()) if at.isValid() else None
        if (before.rows, before.count) == (grid.rows, grid.count):
            self._cells.grid = grid
            last = self._cells.index(grid.rows - 1, grid.count - 1)
            self._cells.dataChanged.emit(self._cells.index(0, 0), last)
        else:
            self._cells.beginResetModel()
            self._cells.grid = grid
            self._cells.endResetModel()
            if place is not None:
                self._go(*place)
        self._name()
        self.viewport().update()

    def _name(self) -> None:
        grid = self.grid
        if self.accessibleName() != grid.name:
            self.setAccessibleName(grid.name)
        size = tr("{rows} rows, {columns} columns", rows=grid.rows, columns=grid.count)
        self.setAccessibleDescription(tr("{size}. Arrow keys move, Return follows, Escape leaves", size=size))

    # Places: those of the picture

    def visualRect(self, index: _Index) -> QRect:
        return self._box(index.row(), index.column()).toAlignedRect() if index.isValid() else QRect()

    def indexAt(self, at: QPoint) -> QModelIndex:
        """Return the cell at a position, an invalid index if there is none. All cells are of one size."""
        first, last = self._box(0, 0), self._box(self.grid.rows - 1, self.grid.count - 1)
        if not first.united(last).contains(at):
            return QModelIndex()
        row, column = (at.y() - first.y()) / first.height(), (at.x() - first.x()) / first.width()
        return self._cells.index(min(int(row), self.grid.rows - 1), min(int(column), self.grid.count - 1))

    def scrollTo(self, index: _Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible) -> None:
        """Nothing scrolls: the picture has its own camera."""

    def _box(self, row: int, column: int) -> QRectF:
        """The place of a cell in this widget."""
        return self.grid.box(row, column).translated(-self.x(), -self.y())

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at, grid = self.currentIndex(), self.grid
        match event.key():
            case Qt.Key.Key_Escape:
                self.left.emit()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.chosen.emit(at.row(), at.column())
            case Qt.Key.Key_Home:
                self._go(at.row(), 0)
            case Qt.Key.Key_End:
                self._go(at.row(), grid.count - 1)
            case key if key in _KEY_STEPS:
                down, right = _KEY_STEPS[Qt.Key(key)]
                self._go(at.row() + down, at.column() + right)
            case _:
                event.ignore()

    def _go(self, row: int, column: int) -> None:
        """Move to a cell, or to the nearest one."""
        row, column = max(0, min(row, self.grid.rows - 1)), max(0, min(column, self.grid.count - 1))
        self.setCurrentIndex(self._cells.index(row, column))

    def currentChanged(self, current: _Index, previous: _Index) -> None:
        super().currentChanged(current, previous)
        self.viewport().update()
        if self.hasFocus():
            self.pointed.emit((current.row(), current.column()) if current.isValid() else None)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid():
            self._go(0, 0)
        self.pointed.emit((self.currentIndex().row(), self.currentIndex().column()))
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.pointed.emit(None)
        self.viewport().update()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ring around the cell with the focus."""
        if not self.hasFocus() or not self.currentIndex().isValid():
            return
        painter = QPainter(self.viewport())
        inside = QRectF(self.viewport().rect()).adjusted(RING, RING, -RING, -RING)  # a text's cell is the whole picture
        box = self._box(self.currentIndex().row(), self.currentIndex().column()).adjusted(-2, -2, 2, 2)
        draw_ring(painter, box.intersected(inside), self.palette())
        painter.end()


# Tables of texts and numbers.

_UNTITLED = marked("Quantity")  # of a column without a title, for screen readers
NUMBER = Qt.ItemDataRole.UserRole
PLACE = NUMBER + 1  # of the access in the source that a row is about
_ROW = 1.7  # of the height of a letter
_TABLE_STYLE = (
    "QTableWidget::item { padding-left: 6px; }"
    "QTableWidget::item:focus { border: 2px solid palette(text); padding-left: 4px; }"
    "QHeaderView::section { background: palette(window); color: palette(placeholder-text); border: none; padding: 2px 6px; }"
)


class _TableCell(QTableWidgetItem):
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
        self.setStyleSheet(_TABLE_STYLE)
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
            item = _TableCell()
            if right:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.setItem(row, column, item)
        if self.is_covered and column > 0 and number is not None:
            text = UNKNOWN
        text, tip = told(text, 0.0), told(tip, 0.0)
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


_AFTER_MS = 20  # the picture is painted first


class Words(Protocol):
    """What a picture says about itself."""

    @property
    def arrays(self) -> tuple[str, ...]: ...
    def picture(self, scene: Scene) -> str: ...
    def table(self, hit: Hit) -> str: ...
    def cell(self, hit: Hit) -> str: ...


class OwnWords:
    """The words of a picture that is not of a session: those that are drawn in it."""

    arrays: tuple[str, ...] = ()

    def picture(self, scene: Scene) -> str:
        return scene.description or "\n".join(lines_of(scene))

    def table(self, hit: Hit) -> str:
        return table_name(hit.cells)

    def cell(self, hit: Hit) -> str:
        return own_text(hit) or tr("{table}, {place}: empty", table=table_name(hit.cells), place=place_text(hit))


class Described(Protocol):
    """A picture that tells its tables: ``words_of`` describes all of it, ``grids`` gives the tables by a key that they keep."""

    def words_of(self) -> str: ...
    def grids(self) -> Mapping[str, FactGrid]: ...


class PictureTables(QObject):
    """The tables of the picture ``of``, over the widget ``over``. ``on_point`` gets the source, row and column of the cell that
    has the focus, None when it leaves; ``on_choose`` those of the cell on which Return was pressed.
    """

    def __init__(
        self, of: Described, over: QWidget, on_point: Callable[[Hit | None], None] = lambda hit: None,
        on_choose: Callable[[Hit], None] = lambda hit: None,
    ) -> None:  # fmt: skip
        super().__init__(over)
        # Of a scroll area, Qt's accessibility shows the children of the viewport.
        self._inside = over.viewport() if isinstance(over, QAbstractScrollArea) else over
        self._of, self._over, self._on_point, self._on_choose = of, over, on_point, on_choose
        self._tables: dict[str, FactTable] = {}
        self._due = QTimer(over, singleShot=True, interval=_AFTER_MS)
        self._due.timeout.connect(self.update)

    @property
    def tables(self) -> list[FactTable]:
        """The tables in their order."""
        return list(self._tables.values())

    def changed(self) -> None:
        """Follow the picture after it has changed. Tables that nobody needs any more are dropped."""
        if QAccessible.isActive() or any(table.hasFocus() for table in self._tables.values()):
            self._due.start()
        elif self._tables:
            self._show({})

    def enter(self) -> None:
        """Make the tables for the keyboard."""
        if not self._tables:
            self.update()

    def update(self) -> None:
        """Show the tables of the present picture."""
        self._over.setAccessibleDescription(self._of.words_of())
        self._show(self._of.grids())

    def _show(self, grids: Mapping[str, FactGrid]) -> None:
        """Show grids, and keep the tables of those that were shown before."""
        before, self._tables = self._tables, {}
        last, is_as_before = self._over, list(before) == list(grids)
        for key, grid in grids.items():
            table = before.pop(key, None)
            if table is None:
                table = self._table(grid)
            else:
                table.show_grid(grid)
            if not is_as_before:
                QWidget.setTabOrder(last, table)
            table.setGeometry(self._inside.rect())
            self._tables[key] = last = table
        for table in before.values():
            if table.hasFocus():
                self._over.setFocus()
            table.hide()
            table.deleteLater()

    def _table(self, grid: FactGrid) -> FactTable:
        table = FactTable(grid, self._inside)
        table.pointed.connect(lambda place: self._on_point(_hit(table, place)))
        table.chosen.connect(lambda row, column: self._choose(table, row, column))
        table.left.connect(lambda: self._over.setFocus())
        return table

    def _choose(self, table: FactTable, row: int, column: int) -> None:
        hit = _hit(table, (row, column))
        if hit is not None:
            self._on_choose(hit)


def scene_grids(scene: Scene, words: Words, box_of: Callable[[Hit], QRectF], whole: QRectF) -> Iterator[tuple[str, FactGrid]]:
    """Yield the tables of a scene. ``box_of`` gives the place of a cell in the widget; ``whole`` is that of the scene."""
    seen: Counter[str] = Counter()
    for cells in tables_of(scene, words.arrays):
        seen[cells.key] += 1
        rows, columns = cells.fill.shape
        text, box = partial(_cell_words, words, cells), partial(_cell_box, box_of, cells)
        yield f"{cells.key} {seen[cells.key]}", FactGrid(words.table(Hit(cells, 0, 0)), rows, columns, text, box, source=cells)
    lines = lines_of(scene)
    if lines:
        yield "texts", FactGrid(
            tr("Texts"), len(lines), 1, lambda row, column: lines[row], lambda row, column: whole, (tr("text"),)
        )  # fmt: skip


def _cell_words(words: Words, cells: Cells, row: int, column: int) -> str:
    return words.cell(Hit(cells, row, column))


def _cell_box(box_of: Callable[[Hit], QRectF], cells: Cells, row: int, column: int) -> QRectF:
    return box_of(Hit(cells, row, column))


def _hit(table: FactTable, place: tuple[int, int] | None) -> Hit | None:
    """Return the cell of the picture at a place of a table; None for texts."""
    cells = table.grid.source
    return Hit(cells, *place) if place is not None and isinstance(cells, Cells) else None
