"""Small controls that all panels use."""

from collections.abc import Callable, Iterable
from html import escape
from typing import Literal

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QFont, QPalette
from PySide6.QtGui import Qt as Guessed
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gemmviz.gui.widgets.input import keep_typing
from gemmviz.model.translation import tr

MESSAGE_MS = 8000  # for which a message is shown
TextRole = Literal["", "message", "notice", "faint", "heading"]
_LOOKS: dict[TextRole, tuple[QPalette.ColorRole, bool]] = {
    "": (QPalette.ColorRole.WindowText, False), "message": (QPalette.ColorRole.BrightText, True),
    "notice": (QPalette.ColorRole.WindowText, True), "faint": (QPalette.ColorRole.PlaceholderText, False),
    "heading": (QPalette.ColorRole.WindowText, True),
}  # fmt: skip
MENU_SHEET = (  # without a rule for items, Qt squeezes the indicators into bars
    "QMenu { border: 1px solid palette(placeholder-text); }"
    "QMenu::item { padding: 4px 20px 4px 6px; }"
    "QMenu { icon-size: 44px; }"
    "QMenu::icon { margin-left: 6px; }"
    "QMenu::icon:checked { border: 3px solid palette(text); margin-left: 3px; }"
    "QMenu::item:selected { background: palette(highlight); color: palette(highlighted-text); }"
    "QMenu::item:disabled { color: palette(placeholder-text); }"
    "QMenu::separator { height: 1px; background: palette(mid); margin: 3px 0; }"
    "QMenu::indicator { width: 15px; height: 15px; margin-left: 4px; }"  # a rule with a border would replace the check mark
)


def set_name(field: QWidget, name: str) -> None:
    """Name a field for screen readers, and the parts that Qt gives it: the list of a drop-down list, the button that clears."""
    field.setAccessibleName(name)
    if isinstance(field, QComboBox):
        field.view().setAccessibleName(name)
    for button in field.findChildren(QToolButton) if isinstance(field, QLineEdit) else ():
        button.setAccessibleName(tr("Clear: {name}", name=name))


def choice(name: str, tip: str, entries: Iterable[tuple[str, object]] = ()) -> QComboBox:
    """Return a drop-down list of (text, value) pairs."""
    box = QComboBox()
    set_name(box, name)
    box.setToolTip(tip)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for words, value in entries:
        box.addItem(words, value)
    return box


def number_field(name: str, tip: str, least: int = 0, most: int = 2**31 - 1) -> QSpinBox:
    """Return a number field that emits once per entry: typing 40 is one change, not 4 and then 40."""
    box = QSpinBox()
    box.setRange(least, most)
    box.setAccelerated(True)
    box.setKeyboardTracking(False)
    box.setAccessibleName(name)
    box.setToolTip(tip)
    keep_typing(box)
    return box


class _Decimal(QDoubleSpinBox):
    """A number field that shows only the decimals that its value has."""

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "f", QLocale.FloatingPointPrecisionOption.FloatingPointShortest.value)


def decimal_field(name: str, tip: str, least: float, most: float) -> QDoubleSpinBox:
    """Return a number field as ``number_field`` does, for values with up to six decimals."""
    box = _Decimal()
    box.setDecimals(6)
    box.setRange(least, most)
    box.setSingleStep(0.1)
    box.setAccelerated(True)
    box.setKeyboardTracking(False)
    box.setAccessibleName(name)
    box.setToolTip(tip)
    keep_typing(box)
    return box


def plain(text: str = "") -> QLabel:
    """Return a label that shows plain text, because texts from files must not be read as HTML."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def tip_text(text: str) -> str:
    """Return the text of a tooltip, escaped, because Qt reads text that looks like HTML as HTML."""
    might_be_html: bool = Guessed.mightBeRichText(text)  # type: ignore[attr-defined]
    return f"<p style='white-space: pre-wrap'>{escape(text)}</p>" if might_be_html else text


def line(look: TextRole = "", tip: str = "") -> QLabel:
    """Return a label that wraps."""
    label = plain()
    label.setWordWrap(True)
    set_look(label, look)
    label.setToolTip(tip)
    return label


def selectable_line(look: TextRole = "") -> QLabel:
    """Return a label that wraps, with text that can be copied."""
    label = line(look)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def step_button(text: str, tip: str) -> QPushButton:
    """Return a button that leaves the focus where it is when it is clicked."""
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button


def set_look(label: QLabel, look: TextRole) -> None:
    """Make a label stand out or recede, in the colours of every theme."""
    role, is_strong = _LOOKS[look]
    label.setForegroundRole(role)
    letters = QFont()
    letters.setWeight(QFont.Weight.DemiBold if is_strong else QFont.Weight.Normal)
    label.setFont(letters)


class Section(QWidget):
    """A part of a form that its ``heading`` opens and closes. ``column``: what is in it."""

    def __init__(self, title: str, tip: str) -> None:
        super().__init__()
        self.heading = QToolButton(autoRaise=True, arrowType=Qt.ArrowType.RightArrow)
        self.heading.setText(title)
        self.heading.setCheckable(True)
        self.heading.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.heading.setToolTip(tip)
        self.heading.setAccessibleName(title)
        self._body = QWidget(visible=False)
        self.column = QVBoxLayout(self._body)
        rows = QVBoxLayout(self)
        for layout in (self.column, rows):
            layout.setContentsMargins(0, 0, 0, 0)
        rows.addWidget(self.heading)
        rows.addWidget(self._body)
        self.heading.toggled.connect(self._on_toggled)

    def _on_toggled(self, is_open: bool) -> None:
        self.heading.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self._body.setVisible(is_open)


def scrolled(widget: QWidget, name: str) -> QScrollArea:
    """Return an area without a frame that scrolls a widget up and down, with a name for screen readers."""
    area = QScrollArea()
    area.setAccessibleName(name)
    area.setWidget(widget)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    return area


def quietly(widget: QWidget, action: Callable[[], object]) -> None:
    """Change a control with its signals blocked."""
    before = widget.blockSignals(True)
    try:
        action()
    finally:
        widget.blockSignals(before)


def set_quietly(box: QSpinBox, value: int | None, most: int) -> None:
    """Set the limits of a number field, and its value if there is one, with its signals blocked."""

    def act() -> None:
        box.setMaximum(most)
        if value is not None:
            box.setValue(value)

    quietly(box, act)
