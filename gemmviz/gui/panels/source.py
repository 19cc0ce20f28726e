"""The panel with the kernel's source, the current access highlighted, and the variables of the watched thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QSplitter, QVBoxLayout, QWidget

from gemmviz.analysis.replay.focus import thread_text
from gemmviz.gui.panel import Panel
from gemmviz.gui.widgets.controls import Refresh, line, unless_covered
from gemmviz.gui.widgets.fact_table import Table
from gemmviz.gui.widgets.source_text import SourceTextEdit
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import UsageError, marked, tr
from gemmviz.model.trace import VariableValue
from gemmviz.shots.answers import branch_answer
from gemmviz.shots.subject import step_at_text

# The table of the variables of one thread at the current step.

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
            tr("Variables as the thread makes this access. Click an element of the result to follow its thread")
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
        now, watched = self.model.session.now, self.model.session.completion.watched
        if now is None or watched is None:
            why = self.model.session.completion.unwatched
            self.title.setText(tr("No variables: {why}", why=why) if why else tr("Variables: …"))
            self.table.setRowCount(0)
            return
        thread = thread_text(now.scope.first_thread, now.trace.launch)
        self.title.setText(tr("Variables of thread {thread}", thread=thread))
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


class Source(QSplitter):
    """The source of the kernel."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.model = model
        self.text, self.variables = SourceTextEdit(), Variables(model)
        self.addWidget(self.text)
        self.addWidget(self.variables)
        self.setStretchFactor(0, 4)
        self.setStretchFactor(1, 2)
        self.setChildrenCollapsible(False)
        self.text.place_clicked.connect(self._on_clicked)
        session = model.session
        self._running = Refresh(self.text, self.show_running)
        for event in (session.shot_changed, session.notices.changed, session.run_changed):
            event.connect(self.sync)
        session.position_changed.connect(self._running.due)
        model.theme_changed.connect(self._wear_theme)
        self._wear_theme()
        self.sync()

    def _wear_theme(self) -> None:
        self.text.set_theme(self.model.theme)

    @unless_covered
    def sync(self) -> None:
        session = self.model.session
        is_asking = session.display.counted <= 0.0  # comments may answer an open question
        self.text.load(session.shot.setup.kernel.text, hides_comments=is_asking)
        self.text.show_error(session.notices.place)
        self._running.due()

    def show_running(self) -> None:
        """Highlight the current access if the text belongs to the run that is shown."""
        session = self.model.session
        now, shown = session.now, session.shown
        if now is None or shown is None or self.text.text != shown.setup.kernel.text:
            return
        theme = self.model.theme
        accent = theme.faint if now.main is None else theme.accent(now.main.array.name)
        self.text.show_running(now.site.place, accent)

    def _on_clicked(self, line: int, column: int) -> None:
        """Go to the next step of the clicked access, and answer what is known of a clicked branch."""
        session = self.model.session
        now, shown = session.now, session.shown
        if now is None or shown is None or self.text.text != shown.setup.kernel.text:
            return
        answer = branch_answer(shown.whole, line, column)
        try:
            session.player.jump(step_at_text(now, line, column))
        except UsageError as error:
            answer = answer or str(error)
        if answer:
            session.say(answer)


PANEL = Panel(marked("Source"), Source, order=2)
