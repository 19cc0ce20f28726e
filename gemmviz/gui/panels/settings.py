"""What is run, whom to watch, and who runs it."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gemmviz.gui.forms.focus_form import FocusForm
from gemmviz.gui.forms.runner_form import RunnerForm
from gemmviz.gui.forms.setup_form import SetupForm
from gemmviz.gui.panel import Panel
from gemmviz.gui.widgets.wheel import WheelGuard
from gemmviz.gui.window_model import WindowModel


class Settings(QWidget):
    """``focus``, ``setup`` and ``runner`` are its forms."""

    def __init__(self, desk: WindowModel) -> None:
        super().__init__()
        self.focus, self.setup, self.runner = FocusForm(desk), SetupForm(desk), RunnerForm(desk)
        self.setup.below.addWidget(self.runner)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.focus)
        column.addWidget(self.setup, 1)
        self.wheel = WheelGuard(self, desk.released.emit)
        desk.session.shot_changed.connect(self._guard)
        self._guard()

    def _guard(self) -> None:
        self.wheel.guard(self)  # the kernel may have other parameters now


_TOUR = (
    "Settings",
    "Change a size or a tile: the kernel runs again and the picture answers at once. What can't run says which limit it breaks "
    "and offers the nearest that works. Above: whom to watch, and what colours tell.",
)
PANEL = Panel("Settings", "left", Settings, order=1, least_width=284, scrolls=True, tour=_TOUR)
