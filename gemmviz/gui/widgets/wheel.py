"""Wheel and keyboard handling of drop-down lists and number fields."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QWidget


class WheelGuard(QObject):
    """An event filter: only a focused control turns with the wheel; others leave the wheel to their scroll area. ``released``
    is called after a choice from a list.
    """

    def __init__(self, parent: QObject, released: Callable[[], None]) -> None:
        super().__init__(parent)
        self._released = released

    def guard(self, root: QWidget) -> None:
        """Guard all lists and number fields within ``root``, each once."""
        for kind in (QComboBox, QAbstractSpinBox):
            for box in root.findChildren(kind):
                if not box.property("guarded"):
                    box.setProperty("guarded", True)
                    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                    box.installEventFilter(self)
                    if isinstance(box, QComboBox):
                        box.activated.connect(lambda _: self._released())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False
