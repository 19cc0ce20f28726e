"""The tables over a picture: one for each of its tables of cells, and one with its texts.

They exist only while an assistive technology is in use, or once the keyboard goes into the picture (Tab), so that they cost
nothing otherwise.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, QRectF, QTimer
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from gemmviz.gui.widgets.fact_table import FactGrid, FactTable
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.primitives import Cells, Hit, Scene
from gemmviz.scenes.kit.table import lines_of, own_text, place_text, table_name, tables_of

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
