"""Calls from other threads, delivered to the window's thread."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal


class Poster(QObject):
    """A queue of calls. ``post`` may be called from any thread; the call runs soon, on the thread that created the Poster."""

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
