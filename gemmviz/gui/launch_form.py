"""The dialog that describes or corrects a launch: what each argument is, block, grid and shared memory."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from gemmviz.cuda.launch.launch_form import LaunchField, LaunchForm
from gemmviz.gui.widgets.controls import line, plain, scrolled, set_look, set_name
from gemmviz.gui.window_model import WindowModel
from gemmviz.model.messages import GemmvizError, marked, tr

_HINT = marked("Formulas may use the sizes, the kernel's parameters, + - * / %, ceil_div(a, b), min and max.")
_AXIS_LETTERS = "xyz"


class LaunchDialog(QDialog):
    """The fields of a LaunchForm, each with its candidates. Accepting it opens the kernel with the launch as it was filled in;
    an error leaves the dialog open.
    """

    def __init__(self, model: WindowModel, form: LaunchForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model, self.form = model, form
        self.setWindowTitle(tr("Launch of the kernel"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(620, 640)
        self.setMinimumWidth(480)
        self.controls: dict[str, QComboBox | QLineEdit] = {}
        self._kinds = self._kinds_box()
        self.columns = {name: QCheckBox(name) for name in form.arrays}
        self.message = line("message")
        self.message.hide()
        column = QVBoxLayout(self)
        column.addWidget(scrolled(self._fields(), tr("Launch")), 1)
        hint = line("faint")
        hint.setText(tr(_HINT))
        column.addWidget(hint)
        column.addWidget(self.message)
        column.addWidget(self._buttons())

    def _fields(self) -> QWidget:
        form, rows = self.form, QWidget()
        layout = QFormLayout(rows)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        layout.addRow(tr("&Kernel"), self._list("entry", tr("Kernel"), form.entries, form.entry))
        layout.addRow(tr("&Problem"), self._kinds)
        layout.addRow(_heading_label(tr("What each argument is")))
        for field in form.parameters:
            layout.addRow(plain(field.label), self._editable(field))
        layout.addRow(_heading_label(tr("Launch")))
        layout.addRow(tr("&Block"), self._extents("block", form.block))
        layout.addRow(tr("&Grid"), self._extents("grid", form.grid))
        layout.addRow(tr("&Shared bytes"), self._text("shared", tr("Dynamic shared memory in bytes"), form.shared_bytes))
        if form.arrays:
            layout.addRow(tr("Stored by columns"), self._layouts())
        return rows

    def _list(self, name: str, label: str, entries: tuple[str, ...], present: str) -> QComboBox:
        box = QComboBox()
        box.addItems(list(entries))
        box.setCurrentIndex(max(0, box.findText(present)))
        set_name(box, label)
        self.controls[name] = box
        return box

    def _kinds_box(self) -> QComboBox:
        box = self._list("kind", tr("Problem"), (), "")
        for kind in self.form.kinds:
            box.addItem(tr(kind.title), kind.name)
        box.setCurrentIndex(max(0, box.findData(self.form.kind)))
        return box

    def _editable(self, field: LaunchField) -> QComboBox:
        box = self._list(field.name, field.label, field.candidates, field.value)
        box.setEditable(True)
        box.setEditText(field.value)
        return box

    def _text(self, name: str, label: str, value: str) -> QLineEdit:
        box = QLineEdit(value)
        box.setAccessibleName(label)
        self.controls[name] = box
        return box

    def _extents(self, part: str, values: tuple[str, str, str]) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        for axis, value in zip(_AXIS_LETTERS, values, strict=True):
            layout.addWidget(self._text(f"{part}.{axis}", f"{part}, {axis}", value), 1 if axis == "z" else 3)
        return row

    def _layouts(self) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        for name, box in self.columns.items():
            box.setChecked(name in self.form.column_major)
            layout.addWidget(box)
        layout.addStretch(1)
        return row

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        run = buttons.addButton(tr("&Run"), QDialogButtonBox.ButtonRole.AcceptRole)
        run.setDefault(True)
        buttons.accepted.connect(self._on_run)
        buttons.rejected.connect(self.reject)
        return buttons

    def _on_run(self) -> None:
        values = {name: _entered_text(control).strip() for name, control in self.controls.items()}
        values["kind"] = self._kinds.currentData() or self.form.kind
        columns = frozenset(name for name, box in self.columns.items() if box.isChecked())
        try:
            given = self.form.given(values, columns)
        except GemmvizError as error:
            self.message.setText(str(error))
            self.message.show()
            return
        self.accept()
        self.model.opening.choose_kernel(self.form.file, given)
        self.model.released.emit()


def _entered_text(control: QComboBox | QLineEdit) -> str:
    return control.currentText() if isinstance(control, QComboBox) else control.text()


def _heading_label(text: str) -> QWidget:
    label = plain(text)
    set_look(label, "heading")
    return label
