"""Keys that a field needs while it has the focus, which would otherwise trigger shortcuts of the window."""

from collections.abc import Container

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QLineEdit, QWidget

# Keys that move over the cells of a table, and the one that chooses a cell
TABLE_KEYS = frozenset(
    {
        Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown,
        Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Return, Qt.Key.Key_Enter,
    }
)  # fmt: skip
_OF_NUMBERS = "eE"  # letters that may stand in a number


def keep_typing(field: QWidget) -> None:
    """Give a field what is typed in it, and undo for as long as there is typing to undo. Letters are no part of a number: in a
    number field they are shortcuts of the window.
    """
    field.installEventFilter(_TypingFilter(field))


def keep_keys(field: QWidget, keys: Container[Qt.Key]) -> None:
    """Give a field these keys without modifiers, such as the arrows that move over the cells of a table."""
    field.installEventFilter(_KeyFilter(field, keys))


class _KeyFilter(QObject):
    def __init__(self, field: QWidget, keys: Container[Qt.Key]) -> None:
        super().__init__(field)
        self._keys = keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        is_own = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and Qt.Key(event.key()) in self._keys
        if is_own:
            event.accept()
        return is_own


class _TypingFilter(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return False
        takes = _takes(watched, event)
        if takes is not None:
            event.setAccepted(takes)
        return takes is not None


def _takes(field: QObject, event: QKeyEvent) -> bool | None:
    """Return whether a field takes a key itself; None if the field may decide."""
    editor = (
        field if isinstance(field, QLineEdit) else field.findChild(QLineEdit) if isinstance(field, QAbstractSpinBox) else None
    )
    if isinstance(editor, QLineEdit) and event.matches(QKeySequence.StandardKey.Undo):
        return editor.isUndoAvailable()
    if isinstance(editor, QLineEdit) and event.matches(QKeySequence.StandardKey.Redo):
        return editor.isRedoAvailable()
    if isinstance(editor, QLineEdit) and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        return True
    if isinstance(field, QAbstractSpinBox) and event.text().isalpha() and event.text() not in _OF_NUMBERS:
        return False
    return None
