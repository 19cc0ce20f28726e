"""The list of shipped kernels: grouped by lesson, with titles, and searched by typing."""

import os
from pathlib import Path

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gemmviz.cuda.launch.catalog import all_kernel_names
from gemmviz.gui.widgets.controls import line, set_name, tip_text
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import marked, tr
from gemmviz.teaching.lesson_file import KernelGroup, kernel_groups

KERNEL_TIP = marked("Kernel to run (Ctrl+O opens a file). Open it and type to search")
_WIDTH, _HEIGHT = 620, 560
_NAME_ROLE = Qt.ItemDataRole.UserRole
_MOVES = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


def kernel_box() -> "KernelBox":
    """Return the field that shows the kernel's name, and opens the list."""
    box = KernelBox()
    set_name(box, tr("Kernel"))
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for name in all_kernel_names():
        box.addItem(name, name)
    return box


class KernelBox(QComboBox):
    """A drop-down list of kernels. It opens as a KernelPicker."""

    picker: "KernelPicker | None" = None

    def showPopup(self) -> None:
        if self.picker is None:
            self.picker = KernelPicker(self)
            self.picker.chosen.connect(self._on_chosen)
        self.picker.show_below(self, self.currentText())

    def _on_chosen(self, name: str) -> None:
        row = self.findData(name)
        self.setCurrentIndex(row)
        self.activated.emit(row)


class KernelPicker(QFrame):
    """A window below its field with a search field and the groups. ``chosen`` carries the name of a kernel."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(tr("Kernels"))
        self.search = QLineEdit(placeholderText=tr("Search names and titles"), clearButtonEnabled=True)
        set_name(self.search, tr("Search kernels"))
        self.list = QTreeWidget(columnCount=2)
        self.list.setHeaderHidden(True)
        self.list.setRootIsDecorated(False)
        self.list.setIndentation(14)
        self.list.setAccessibleName(tr("Kernels by lesson"))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self.search)
        column.addWidget(self.list)
        self._fill(kernel_groups())
        self.search.textChanged.connect(self.filter)
        self.search.installEventFilter(self)
        self.list.itemClicked.connect(self._choose)
        self.list.itemActivated.connect(self._choose)
        self.search.returnPressed.connect(lambda: self._choose(self.list.currentItem()))

    def _fill(self, groups: tuple[KernelGroup, ...]) -> None:
        self._headings: list[QTreeWidgetItem] = []
        for group in groups:
            heading = QTreeWidgetItem(self.list, [group.title])
            self._headings.append(heading)
            heading.setFirstColumnSpanned(True)
            heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
            letters = heading.font(0)
            letters.setWeight(QFont.Weight.DemiBold)
            heading.setFont(0, letters)
            for kernel in group.kernels:
                item = QTreeWidgetItem(heading, [kernel.name, tr(kernel.title)])
                item.setData(0, _NAME_ROLE, kernel.name)
                item.setToolTip(1, tip_text(tr(kernel.title)))
        self.list.expandAll()
        self.list.resizeColumnToContents(0)

    def show_below(self, field: QWidget, current: str) -> None:
        """Show the list below a field, within its screen, with the current kernel selected."""
        room = field.screen().availableGeometry()
        self.resize(min(_WIDTH, room.width()), min(_HEIGHT, room.height() * 3 // 4))
        at = field.mapToGlobal(QPoint(0, field.height()))
        self.move(
            min(at.x(), room.right() - self.width()), max(room.top(), min(at.y(), room.bottom() - self.height()))
        )  # fmt: skip
        self.search.clear()
        self.filter("")
        self._select(next((item for item in self.items if item.data(0, _NAME_ROLE) == current), None))
        self.show()
        self.search.setFocus()

    @property
    def items(self) -> list[QTreeWidgetItem]:
        """All kernels, in order."""
        return [heading.child(row) for heading in self._headings for row in range(heading.childCount())]

    def filter(self, text: str) -> None:
        """Show the kernels whose name, title or group contains all words of the text, and select the first."""
        words = text.lower().split()
        first = None
        for item in self.items:
            group = item.parent()
            whole = f"{item.text(0)} {item.text(1)} {group.text(0)}".lower()
            item.setHidden(not all(word in whole for word in words))
            first = first or (None if item.isHidden() else item)
        for heading in self._headings:
            heading.setHidden(all(heading.child(row).isHidden() for row in range(heading.childCount())))
        self._select(first)

    def _select(self, item: QTreeWidgetItem | None) -> None:
        if item is None:
            self.list.clearSelection()
            self.list.setCurrentIndex(QModelIndex())
        else:
            self.list.setCurrentItem(item)
            self.list.scrollToItem(item, QTreeWidget.ScrollHint.PositionAtCenter)

    def _choose(self, item: QTreeWidgetItem | None) -> None:
        name = None if item is None else item.data(0, _NAME_ROLE)
        if name:
            self.hide()
            self.chosen.emit(name)

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Move through the list with the keys of the search field."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() in _MOVES:
            shown = [item for item in self.items if not item.isHidden()]
            now = self.list.currentItem()
            if shown:
                distance = {_MOVES[0]: 1, _MOVES[1]: -1, _MOVES[2]: 8, _MOVES[3]: -8}[event.key()]  # type: ignore[index]
                place = shown.index(now) + distance if now in shown else 0
                self._select(shown[max(0, min(place, len(shown) - 1))])
            return True
        return False


# The dialog that chooses one of the kernel files of a folder.


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
