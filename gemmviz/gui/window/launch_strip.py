"""The line above the picture that says how the kernel of a plain file is launched, with a button that corrects it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gemmviz.gui.widgets.controls import choice, line, quietly, set_look
from gemmviz.gui.widgets.refresh import unless_covered
from gemmviz.gui.window_model import WindowModel
from gemmviz.launch.confirmation import not_confirmed
from gemmviz.launch.given_launch import GivenLaunch
from gemmviz.launch.launch_line import launch_line
from gemmviz.model.kernel import KernelSpec, LaunchOrigin
from gemmviz.model.translation import marked, tr

_LINES, _FILLED = 2, 0.78  # of the sentence; the part of a line that wrapped words fill
_LEADS: dict[LaunchOrigin, tuple[str, str]] = {
    "header": ("", ""),
    "read": (marked("Read"), marked("Read from the file. With these roles of the arguments the result is right")),
    "guessed": (marked("Guessed"), marked("The project launches this kernel nowhere. With this launch the result is right")),
    "unsure": (
        marked("Read"),
        marked("Read from the file. The result is not right"),
    ),
    "unchecked": (marked("Read"), marked("Read from the file. The result is not checked, since no problem fits it")),
    "given": (marked("Given"), marked("As you described it")),
}


class LaunchStrip(QWidget):
    """A row with the kernels of the file, the launch as one line, and the buttons Edit and Insert header. Hidden for kernels
    whose header describes the launch.
    """

    def __init__(self, model: WindowModel) -> None:
        super().__init__()
        self.model, self.sentence = model, ""
        self.setAccessibleName(tr("Launch"))
        self.kernels = choice(tr("Kernel of the file"), tr("Kernels of this file"))
        self.text = line()
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.text.setAccessibleDescription(tr("Launch"))
        self.edit = _button(tr("Ed&it …"), tr("Correct what the arguments are, and the launch"))
        self.insert = _button(tr("Insert header"), tr("Write this launch into the file, as a header"))
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 3, 6, 3)
        for widget in (self.kernels, self.text, self.edit, self.insert):
            row.addWidget(widget, 1 if widget is self.text else 0)
        self.kernels.activated.connect(self._on_kernel)
        self.edit.clicked.connect(model.opening.edit_launch)
        self.insert.clicked.connect(self._on_insert)
        model.session.shot_changed.connect(self.sync)
        self.sync()

    @unless_covered
    def sync(self) -> None:
        """Show the launch of the session's kernel."""
        kernel = self.model.session.shot.setup.kernel
        self.setVisible(kernel.launch_from != "header" and not self.model.session.display.is_benchmark)
        lead, tip = map(tr, _LEADS[kernel.launch_from])
        if (doubt := not_confirmed(kernel)) is not None:
            lead, tip = tr("Not confirmed"), doubt.message
        self.sentence = f"{lead}: {launch_line(kernel)}"
        self.text.setToolTip(f"{tip}\n{self.sentence}")
        self.text.setAccessibleName(self.sentence)  # what is shown may be shortened
        self._fit()
        set_look(self.text, "message" if kernel.unconfirmed else "")
        self.insert.setVisible(self.model.opening.can_insert_header)
        quietly(self.kernels, lambda: self._fill(kernel))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Show as much of the sentence as two lines hold; its tip has all of it."""
        room = int(_LINES * self.text.width() * _FILLED)
        self.text.setText(self.text.fontMetrics().elidedText(self.sentence, Qt.TextElideMode.ElideRight, room))

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


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAccessibleName(text.replace("&", ""))
    button.setAccessibleDescription(tip)
    return button
