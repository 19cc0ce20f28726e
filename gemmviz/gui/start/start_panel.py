"""The panel beside the first picture: the shelf of lessons, and buttons to open a kernel and to explore tiles."""

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gemmviz.gui.start.shelf import Shelf
from gemmviz.gui.widgets import dialogs
from gemmviz.gui.widgets.controls import line
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import marked, tr
from gemmviz.render.qt.fonts import font

_LEAST, _MOST = 300, 520
_ABOUT = marked(
    "See what every thread of a CUDA kernel does: the source runs as it is, and each number is counted from the run."
)


class StartPanel(QWidget):
    """The start: beside the picture, in place of all other panels. ``explore`` shows the tiled multiplication with all panels;
    ``open`` asks for a kernel of the user.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.setAccessibleName(tr("Start"))
        self.setMinimumWidth(_LEAST)
        self.setMaximumWidth(_MOST)
        title = line("heading")
        title.setText("gemmviz")
        title.setFont(font("semibold", 24))
        about = line("faint")
        about.setText(tr(_ABOUT))
        self.explore = _button(tr("Explore tiles"), tr("Show all panels, and change the tiled multiplication"))
        self.open = _button(tr("Open my kernel …"), tr("Open a .cu file, a trace, a saved view or a lesson (Ctrl+O)"))
        self.open.clicked.connect(lambda: dialogs.ask_to_open(model, self.window()))
        buttons = QHBoxLayout()
        buttons.addWidget(self.explore)
        buttons.addWidget(self.open)
        self.shelf = Shelf(model)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 10, 10)
        column.setSpacing(10)
        for widget in (title, about):
            column.addWidget(widget)
        column.addLayout(buttons)
        column.addWidget(self.shelf, 1)


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setMinimumHeight(34)
    return button
