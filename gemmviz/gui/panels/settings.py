"""The panel of settings: what to run, which threads to watch, and where to run."""

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.gui.panel import Panel
from gemmviz.gui.setup_form import FocusForm, RunnerForm, SetupForm
from gemmviz.gui.widgets.input import WheelGuard
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import marked


class Settings(QWidget):
    """The forms ``focus``, ``setup`` and ``runner``, one below the other."""

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.focus, self.setup, self.runner = FocusForm(model), SetupForm(model), RunnerForm(model)
        self.setup.advanced.column.addWidget(self.runner)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.focus)
        column.addWidget(self.setup, 1)
        self.wheel = WheelGuard(self, model.released.emit)
        model.session.shot_changed.connect(self._guard)
        self._guard()

    def event(self, event: QEvent) -> bool:
        handled = super().event(event)
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit_height()
        return handled

    def _fit_height(self) -> None:
        """Be as high as wrapped text needs, so that the panel scrolls instead of cutting it."""
        self.setup.fit_launch()
        column = self.layout()
        assert column is not None
        height = column.totalHeightForWidth(self.width())
        if height != self.minimumHeight():
            self.setMinimumHeight(height)

    def _guard(self) -> None:
        self.wheel.guard(self)  # another kernel may have other parameters


PANEL = Panel(marked("Settings"), Settings, order=1, least_width=284, scrolls=True)
