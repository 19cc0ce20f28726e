"""A control for one field of a setup, whatever kind of field that is."""

from collections.abc import Callable

from PySide6.QtWidgets import QComboBox, QLineEdit, QSpinBox

from gemmviz.gui.widgets.controls import choice, number, quietly, tip_text
from gemmviz.state.fields import Field, FieldValue

FieldEditor = QSpinBox | QComboBox | QLineEdit


def control_for(field: Field, changed: Callable[[str, FieldValue], None], entered: Callable[[], None]) -> FieldEditor:
    """``changed`` is told name and value when a person sets it; ``entered`` when Enter ends the typing."""
    match field.kind:
        case "number":
            spin = number(field.label, field.tip, field.least, field.most)
            spin.valueChanged.connect(lambda value: changed(field.name, value))
            spin.lineEdit().returnPressed.connect(entered)
            return spin
        case "choice":
            box = choice(field.label, field.tip)
            box.currentIndexChanged.connect(lambda row: changed(field.name, box.itemData(row)))
            return box
        case "text":
            text = QLineEdit()
            text.setAccessibleName(field.label)
            text.setPlaceholderText(field.empty)
            text.setClearButtonEnabled(True)
            text.editingFinished.connect(lambda: changed(field.name, text.text()))
            text.returnPressed.connect(entered)
            return text


def show_field(control: FieldEditor, field: Field) -> None:
    """Shows what the field is now, and tells nobody."""
    quietly(control, lambda: _show(control, field))
    control.setEnabled(not field.why_not)
    control.setToolTip(tip_text(field.why_not or field.tip))


def _show(control: FieldEditor, field: Field) -> None:
    if isinstance(control, QSpinBox):
        control.setRange(field.least, field.most)
        control.setValue(int(field.value))
    elif isinstance(control, QComboBox):
        choices = list((field.choices or {}).items())
        if [control.itemData(row) for row in range(control.count())] != [value for value, _ in choices]:
            control.clear()
            for value, words in choices:
                control.addItem(words, value)
        control.setCurrentIndex([value for value, _ in choices].index(field.value))
    elif not control.isModified() or not control.hasFocus():
        control.setText(str(field.value))
