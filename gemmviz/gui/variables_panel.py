"""The variables of one thread as they are after the step that is shown."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from gemmviz.analysis.focus import thread_text
from gemmviz.analysis.replay import Replay
from gemmviz.run.watch import Value, Watched

_MOST_SHOWN = 6


class VariablesPanel(QWidget):
    """A row for each variable that can be seen from where the kernel is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = QLabel("Variables")
        self.title.setWordWrap(True)
        self.title.setObjectName("faint")
        self.table = QTableWidget(0, 2)
        self.table.setAccessibleName("Variables")
        self.table.setToolTip("What the thread's variables hold after this step; click an element of C to follow its thread")
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(22)
        self.table.horizontalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.table.setShowGrid(False)
        layout = QVBoxLayout(self)
        layout.addWidget(self.title)
        layout.addWidget(self.table, 1)

    def show_step(self, replay: Replay, watched: Watched | None, step: int) -> None:
        """``watched`` is None while the thread's block is being run, and where it can't be run to its end."""
        if watched is None:
            self.title.setText("Variables: …" if replay.trace.stop is None else "No variables: the run ended early")
            self.table.setRowCount(0)
            return
        who = f"block ({replay.block[0]}, {replay.block[1]}), thread {thread_text(replay.first_thread, replay.trace)}"
        self.title.setText(f"Variables of {who} after this step")
        values = watched.at(step, replay.trace.site_of(step))
        self.table.setRowCount(len(values))
        for row, (name, value) in enumerate(values):
            self._put(row, 0, name)
            self._put(row, 1, value_text(value), value_text(value, most=256))

    def _put(self, row: int, column: int, text: str, tip: str = "") -> None:
        item = self.table.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            self.table.setItem(row, column, item)
        if item.text() != text:
            item.setText(text)
            item.setToolTip(tip)


def value_text(value: Value, most: int = _MOST_SHOWN) -> str:
    """A value as a debugger would show it."""
    if value is None:
        return "not set yet"
    if isinstance(value, tuple):
        shown = ", ".join("–" if each is None else value_text(each) for each in value[:most])
        return f"{{{shown}{', …' if len(value) > most else ''}}}"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
