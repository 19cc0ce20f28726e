"""Small controls that all panels use; and the redrawing of a widget, at most once per frame and only while it is visible."""

from collections.abc import Callable, Iterable
from functools import partial, wraps
from html import escape
from typing import Literal, TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QEvent, QLocale, QObject, Qt, QTimer
from PySide6.QtGui import QFont, QPalette
from PySide6.QtGui import Qt as Guessed
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
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
from gemmviz.model.messages import tr

# Redrawing of a widget, at most once per frame and only while it is visible.

PANEL_MS = 40
_COVERED_PROPERTY = "covered"
_ShownWidget = TypeVar("_ShownWidget", bound=QWidget)
SpinBox = TypeVar("SpinBox", bound=QSpinBox | QDoubleSpinBox)
_waiting: WeakKeyDictionary[QWidget, dict[object, Callable[[], None]]] = WeakKeyDictionary()  # by window


class Refresh(QObject):
    """A scheduler of redraws. ``due`` requests a call of ``draw``; requests while the widget is hidden are served when it is
    shown.
    """

    def __init__(self, widget: QWidget, draw: Callable[[], None], every_ms: int = PANEL_MS) -> None:
        super().__init__(widget)
        self._widget, self._draw = widget, draw
        self._missed = True
        self._timer = QTimer(self, singleShot=True, interval=every_ms)
        self._timer.timeout.connect(self._on_due)
        widget.installEventFilter(self)

    def watch(self, child: QWidget) -> None:
        """Treat a child that covers the widget as the widget itself."""
        child.installEventFilter(self)

    def due(self, *_: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def now(self) -> None:
        """Draw without waiting."""
        self._timer.stop()
        self._on_due()

    def _on_due(self) -> None:
        self._missed = not is_seen(self._widget)
        if not self._missed:
            self._draw()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Expose, QEvent.Type.Paint) and self._missed:
            self._missed = False
            self.due()
        return False


def cover(window: QWidget, is_covered: bool) -> None:
    """Tell the parts of a window whether another window, the lecture, covers all of it: then they need no redrawing."""
    window.setProperty(_COVERED_PROPERTY, is_covered)
    if not is_covered:
        for draw in _waiting.pop(window, {}).values():
            draw()
        window.update()
        for child in window.findChildren(QWidget):
            child.update()  # a redraw that was missed is made up when the widget is painted


def is_covered(widget: QWidget) -> bool:
    """Whether the widget's window is covered."""
    return bool(widget.window().property(_COVERED_PROPERTY))


def is_seen(widget: QWidget) -> bool:
    """Whether any part of the widget is visible: not closed, not behind another tab, and not covered by the lecture."""
    if not widget.isVisible() or is_covered(widget):
        return False
    if not widget.visibleRegion().isEmpty():
        return True
    return any(not each.visibleRegion().isEmpty() for each in widget.findChildren(QWidget))  # a child may cover it


def unless_covered(draw: Callable[[_ShownWidget], None]) -> Callable[..., None]:
    """Make a method of a widget do its work at once or, while the lecture covers the widget's window, once when that ends."""

    @wraps(draw)
    def follow(self: _ShownWidget, *_: object) -> None:
        if is_covered(self):
            _waiting.setdefault(self.window(), {})[self, draw] = partial(draw, self)
        else:
            draw(self)

    return follow


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
    return _as_entered(QSpinBox(minimum=least, maximum=most), name, tip)


def _as_entered(box: SpinBox, name: str, tip: str) -> SpinBox:
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
    return _as_entered(_Decimal(decimals=6, minimum=least, maximum=most, singleStep=0.1), name, tip)


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


def button_with_tip(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    return button


def close_button(name: str, tip: str) -> QToolButton:
    """Return a button with a cross; ``name``: for screen readers."""
    button = QToolButton(autoRaise=True)
    button.setText("✕")
    button.setAccessibleName(name)
    button.setToolTip(tip)
    return button


def step_button(text: str, tip: str) -> QPushButton:
    """Return a button that leaves the focus where it is when it is clicked."""
    button = button_with_tip(text, tip)
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


def side_by_side(*widgets: QWidget, spacing: int = -1) -> QWidget:
    """Return widgets in one row without a margin. ``spacing``: between them, in pixels; -1 for that of the style."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    for widget in widgets:
        layout.addWidget(widget)
    return row


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
