"""The line above the picture that says how the kernel of a plain file is launched, with a button that corrects it."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gemmviz.gui.widgets.controls import choice, quietly, set_look, tip_text
from gemmviz.gui.window_model import WindowModel
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.launch_line import launch_line
from gemmviz.model.kernel import KernelSpec, LaunchOrigin

_LEADS: dict[LaunchOrigin, str] = {
    "header": "",
    "read": "As launched in the file",
    "guessed": "Launched nowhere; this gives a right result",
    "unsure": "No roles give a right result; likeliest",
    "given": "As you described",
}


class LaunchStrip(QWidget):
    """A row with the kernels of the file, the launch as one line, and the buttons Edit and Insert header. Hidden for kernels
    whose header describes the launch.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model = model
        self.setAccessibleName("Launch")
        self.kernels = choice("Kernel of the file", "Kernels of this file")
        self.text = _Line()
        self.edit = _button("&Edit …", "Correct what the arguments are, and the launch")
        self.insert = _button("Insert &header", "Write this launch into the file, as a header")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 3, 6, 3)
        for widget in (self.kernels, self.text, self.edit, self.insert):
            row.addWidget(widget, 1 if widget is self.text else 0)
        self.kernels.activated.connect(self._on_kernel)
        self.edit.clicked.connect(model.opening.edit_launch)
        self.insert.clicked.connect(self._on_insert)
        model.session.shot_changed.connect(self.sync)
        self.sync()

    def sync(self) -> None:
        """Show the launch of the session's kernel."""
        kernel = self.model.session.shot.setup.kernel
        self.setVisible(kernel.launch_from != "header" and not self.model.session.display.is_benchmark)
        self.text.show_line(f"{_LEADS[kernel.launch_from]}: {launch_line(kernel)}")
        set_look(self.text, "message" if kernel.launch_from == "unsure" else "")
        self.insert.setVisible(self.model.opening.can_insert_header)
        quietly(self.kernels, lambda: self._fill(kernel))

    def _fill(self, kernel: KernelSpec) -> None:
        names = self.model.opening.names
        self.kernels.clear()
        self.kernels.addItems(list(names))
        self.kernels.setCurrentIndex(self.kernels.findText(kernel.function))
        self.kernels.setVisible(len(names) > 1)

    def _on_kernel(self, row: int) -> None:
        kernel = self.model.session.shot.setup.kernel
        self.model.opening.choose_kernel(kernel.file, GivenLaunch(entry=self.kernels.itemText(row)))
        self.model.released.emit()

    def _on_insert(self) -> None:
        self.model.opening.insert_header()
        self.model.released.emit()


class _Line(QLabel):
    """A line of plain text that is cut off at the right, and shown as a whole in its tooltip."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("Launch")
        self.whole = ""

    def show_line(self, text: str) -> None:
        self.whole = text
        self.setToolTip(tip_text(text))
        self._cut()

    def _cut(self) -> None:
        self.setText(self.fontMetrics().elidedText(self.whole, Qt.TextElideMode.ElideRight, self.width()))

    def resizeEvent(self, event: object) -> None:
        self._cut()

    def minimumSizeHint(self) -> QSize:
        return QSize(100, super().minimumSizeHint().height())


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAccessibleName(text.replace("&", ""))
    button.setAccessibleDescription(tip)
    return button
