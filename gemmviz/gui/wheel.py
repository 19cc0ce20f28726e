"""Keeps the wheel from changing a setting that it only passes over while a panel is scrolled."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QWidget


class WheelGuard(QObject):
    """The wheel turns what has the focus; anything else lets it through to what scrolls."""

    def guard(self, root: QWidget) -> None:
        """All lists and number fields within ``root``."""
        for kind in (QComboBox, QAbstractSpinBox):
            for box in root.findChildren(kind):
                box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                box.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False
