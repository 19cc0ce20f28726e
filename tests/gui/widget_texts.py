"""The texts of a widget, each with what it is."""

from collections.abc import Iterator

from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QDockWidget,
    QGroupBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMainWindow,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QTabBar,
    QTableWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

Text = tuple[str, str]


def texts_below(widget: QWidget) -> Iterator[tuple[QWidget, str, str]]:
    """Each text of a widget and of those in it: the widget, what the text is, and the text. Qt's own parts are left out."""
    for each in (widget, *widget.findChildren(QWidget)):
        if not each.objectName().startswith(("qt_", "Scroll")):
            yield from ((each, kind, text) for kind, text in _texts(each) if text)


def _texts(widget: QWidget) -> Iterator[Text]:
    yield "tip", widget.toolTip()
    yield "name", widget.accessibleName()
    yield "description", widget.accessibleDescription()
    for action in widget.actions():
        yield "action", action.text()
        yield "tip of an action", action.toolTip()
    match widget:
        case QLabel() | QAbstractButton():
            yield "text", widget.text()
        case QLineEdit() | QPlainTextEdit():
            yield "placeholder", widget.placeholderText()
        case QMenu() | QGroupBox():
            yield "title", widget.title()
        case QDockWidget() | QDialog() | QMainWindow():
            yield "title", widget.windowTitle()
        case QSpinBox():
            yield "suffix", widget.suffix()
        case QComboBox():
            yield from (("item", widget.itemText(row)) for row in range(widget.count()))
        case QTabBar():
            for row in range(widget.count()):
                yield from (("tab", widget.tabText(row)), ("tip of a tab", widget.tabToolTip(row)))
        case QListWidget():
            for row in range(widget.count()):
                yield from (("item", widget.item(row).text()), ("tip of an item", widget.item(row).toolTip()))
        case QTableWidget():
            yield from _in_table(widget)
        case QTreeWidget():
            for row in range(widget.topLevelItemCount()):
                yield from _in_tree(widget.topLevelItem(row))


def _in_table(table: QTableWidget) -> Iterator[Text]:
    items = [table.horizontalHeaderItem(column) for column in range(table.columnCount())]
    items += [table.item(row, column) for row in range(table.rowCount()) for column in range(table.columnCount())]
    for item in items:
        if item is not None:
            yield from (("cell", item.text()), ("tip of a cell", item.toolTip()))


def _in_tree(item: QTreeWidgetItem | None) -> Iterator[Text]:
    if item is None:
        return
    for column in range(item.columnCount()):
        yield from (("entry", item.text(column)), ("tip of an entry", item.toolTip(column)))
    for row in range(item.childCount()):
        yield from _in_tree(item.child(row))
