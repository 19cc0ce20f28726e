"""An editor for one field of a setup, by the kind of the field."""

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox

from gemmviz.gui.widgets.controls import choice, decimal_field, number_field, quietly, set_name, tip_text
from gemmviz.gui.widgets.typing import keep_typing
from gemmviz.state.fields import FieldValue, FormField

FieldEditor = QSpinBox | QDoubleSpinBox | QComboBox | QCheckBox | QLineEdit

SpinBox = TypeVar("SpinBox", QSpinBox, QDoubleSpinBox)


def control_for(field: FormField, changed: Callable[[str, FieldValue], None], entered: Callable[[], None]) -> FieldEditor:
    """Return an editor. ``changed`` is called with the name and the value after an edit, ``entered`` after Enter."""
    match field.kind:
        case "number":
            return _spin(number_field(field.label, field.tip, int(field.least), int(field.most)), field, changed, entered)
        case "decimal":
            return _spin(decimal_field(field.label, field.tip, field.least, field.most), field, changed, entered)
        case "switch":
            check = QCheckBox()
            check.setAccessibleName(field.label)
            check.toggled.connect(lambda on: changed(field.name, on))
            return check
        case "choice":
            box = choice(field.label, field.tip)
            box.currentIndexChanged.connect(lambda row: changed(field.name, box.itemData(row)))
            return box
        case _:
            text = QLineEdit()
            text.setPlaceholderText(field.empty)
            text.setClearButtonEnabled(True)
            set_name(text, field.label)
            text.editingFinished.connect(lambda: changed(field.name, text.text()))
            text.returnPressed.connect(entered)
            keep_typing(text)
            return text


def _spin(box: SpinBox, field: FormField, changed: Callable[[str, FieldValue], None], entered: Callable[[], None]) -> SpinBox:
    box.valueChanged.connect(lambda value: changed(field.name, value))
    box.lineEdit().returnPressed.connect(entered)
    return box


def show_field(control: FieldEditor, field: FormField) -> None:
    """Show the value of a field with signals blocked."""
    quietly(control, lambda: _show(control, field))
    control.setEnabled(not field.why_not)
    control.setToolTip(tip_text(field.why_not or field.tip))


def _show(control: FieldEditor, field: FormField) -> None:
    if isinstance(control, QSpinBox):
        control.setRange(int(field.least), int(field.most))
        control.setValue(int(field.value))
    elif isinstance(control, QDoubleSpinBox):
        control.setRange(field.least, field.most)
        control.setValue(float(field.value))
    elif isinstance(control, QCheckBox):
        control.setChecked(bool(field.value))
    elif isinstance(control, QComboBox):
        choices = list((field.choices or {}).items())
        if [control.itemData(row) for row in range(control.count())] != [value for value, _ in choices]:
            control.clear()
            for value, words in choices:
                control.addItem(words, value)
        control.setCurrentIndex([value for value, _ in choices].index(field.value))
    elif not control.isModified() or not control.hasFocus():
        control.setText(str(field.value))
