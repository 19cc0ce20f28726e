"""Brings calls from other threads to the window's."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal


class Poster(QObject):
    """``post`` may be called from any thread; what it is given runs on the thread that made this, soon."""

    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._posted.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def post(self, action: Callable[[], None]) -> None:
        try:
            self._posted.emit(action)
        except RuntimeError:
            return  # the window is gone

    def _run(self, action: Callable[[], None]) -> None:
        action()
