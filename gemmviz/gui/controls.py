"""Small controls as every panel has them."""

from collections.abc import Callable, Iterable

from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QSpinBox, QWidget


def choice(name: str, tip: str, entries: Iterable[tuple[str, object]] = ()) -> QComboBox:
    """A drop-down list of (words, value)."""
    box = QComboBox()
    box.setAccessibleName(name)
    box.setToolTip(tip)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for words, value in entries:
        box.addItem(words, value)
    return box


def number(name: str, tip: str, least: int = 0, most: int = 2**31 - 1) -> QSpinBox:
    """A number field that tells a change once: 40 is one change, not 4 and then 40."""
    box = QSpinBox()
    box.setRange(least, most)
    box.setAccelerated(True)
    box.setKeyboardTracking(False)
    box.setAccessibleName(name)
    box.setToolTip(tip)
    return box


def line(object_name: str = "", tip: str = "") -> QLabel:
    """A text that breaks into lines."""
    label = QLabel()
    label.setWordWrap(True)
    label.setObjectName(object_name)
    label.setToolTip(tip)
    return label


def ruler() -> QFrame:
    made = QFrame()
    made.setFrameShape(QFrame.Shape.HLine)
    made.setObjectName("ruler")
    return made


def quietly(widget: QWidget, action: Callable[[], object]) -> None:
    """Does something to a control without its telling anybody."""
    before = widget.blockSignals(True)
    try:
        action()
    finally:
        widget.blockSignals(before)


def set_quietly(box: QSpinBox, value: int | None, most: int) -> None:
    """Bounds a number field, and sets it where there is a value."""

    def act() -> None:
        box.setMaximum(most)
        if value is not None:
            box.setValue(value)

    quietly(box, act)
