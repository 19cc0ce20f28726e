"""The table of the variables of one thread, after the current step."""

from PySide6.QtWidgets import QHeaderView, QVBoxLayout, QWidget

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.gui.widgets.controls import line
from gemmviz.gui.widgets.refresh import Refresh
from gemmviz.gui.widgets.tables import Table
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import tr
from gemmviz.model.watched import VariableValue

_MOST_SHOWN, _MOST_IN_TIP = 6, 256


class Variables(QWidget):
    """A table with a row for each variable in scope."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.title = line("faint")
        self.title.setText(tr("Variables"))
        self.table = Table(tr("Variables"), ["", ""], stretched=1)
        self.table.setToolTip(
            tr("Variables of the thread after this step. Click an element of the result to follow its thread")
        )
        self.table.horizontalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        column = QVBoxLayout(self)
        column.addWidget(self.title)
        column.addWidget(self.table, 1)
        self._refresh = Refresh(self, self.draw)
        for event in (model.session.run_changed, model.session.analysis_changed, model.session.position_changed):
            event.connect(self._refresh.due)

    def draw(self) -> None:
        """Show the values; none while the thread's block is running, or if it can't run to its end."""
        now, watched = self.model.session.now, self.model.session.slot.watched
        if now is None or watched is None:
            why = self.model.session.slot.unwatched
            self.title.setText(tr("No variables: {why}", why=why) if why else tr("Variables: …"))
            self.table.setRowCount(0)
            return
        x, y, _ = now.focus.block
        thread = thread_text(now.scope.first_thread, now.trace.launch)
        self.title.setText(tr("Variables of block ({x}, {y}), thread {thread} after this step", x=x, y=y, thread=thread))
        values = watched.at(now.step, now.site)
        self.table.setRowCount(len(values))
        for row, (name, value) in enumerate(values):
            self.table.put(row, 0, name)
            self.table.put(row, 1, value_text(value), tip=value_text(value, _MOST_IN_TIP))


def value_text(value: VariableValue, most: int = _MOST_SHOWN) -> str:
    """Format a value as a debugger does; arrays show their first ``most`` elements."""
    if value is None:
        return tr("not set yet")
    if isinstance(value, tuple):
        shown = ", ".join("–" if each is None else value_text(each) for each in value[:most])
        return f"{{{shown}{', …' if len(value) > most else ''}}}"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)
