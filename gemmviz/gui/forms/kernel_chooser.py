"""The dialog that chooses one of the kernel files of a folder."""

import os
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gemmviz.gui.widgets.controls import line, tip_text
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.translation import tr


class KernelChooser(QDialog):
    """A list of files, by their names below the folder that they share."""

    def __init__(self, model: WindowModel, files: list[Path], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.setWindowTitle(tr("Open a kernel of the folder"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 420)
        folder = Path(os.path.commonpath([path.parent for path in files]))
        heading = line("heading")
        heading.setText(tr("{files} files with kernels in {folder}", files=len(files), folder=folder))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Kernel files"))
        for path in files:
            item = QListWidgetItem(path.relative_to(folder).as_posix())
            item.setData(Qt.ItemDataRole.UserRole, str(path))
            item.setToolTip(tip_text(str(path)))
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.itemActivated.connect(lambda item: self._on_open())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self._on_open)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        for widget in (heading, self.list, buttons):
            column.addWidget(widget)

    def _on_open(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.accept()
            self.model.opening.open(Path(item.data(Qt.ItemDataRole.UserRole)))
            self.model.released.emit()
