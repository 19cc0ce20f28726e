"""The panel with the kernel's source, the current access highlighted, and the variables of the watched thread."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter

from gemmviz.gui.panel import Panel
from gemmviz.gui.widgets.refresh import Refresh, unless_covered
from gemmviz.gui.widgets.source_text import SourceTextEdit
from gemmviz.gui.widgets.variables import Variables
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.errors import UsageError
from gemmviz.model.translation import marked
from gemmviz.subjects.pointing import step_at_text


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
        model.theme_changed.connect(lambda: self.text.set_theme(model.theme))
        self.sync()

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
        """Go to the next step of the clicked access."""
        session = self.model.session
        now, shown = session.now, session.shown
        if now is None or shown is None or self.text.text != shown.setup.kernel.text:
            return
        try:
            session.player.jump(step_at_text(now, line, column))
        except UsageError as error:
            session.say(str(error))


_TOUR = (
    marked("Source"),
    marked(
        "The source code of the kernel, with the current access highlighted. Click a line to go to its next "
        "step. The variables of the watched thread are below."
    ),
)
PANEL = Panel(marked("Source"), "right", Source, order=2, tour=_TOUR)
