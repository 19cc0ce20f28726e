"""Work off the GUI thread: newer work calls off older work, and every outcome arrives as a signal."""

import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

from gemmviz.model.errors import Cancelled, GemmvizError

Task = Callable[[Callable[[], bool]], Any]


class Worker(QObject):
    """Runs one task at a time; ``submit`` cancels what runs and forgets its result."""

    done = Signal(object)
    failed = Signal(object)
    busy = Signal(bool)
    _outcome = Signal(object, object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._cancel = threading.Event()
        self._outcome.connect(self._deliver)

    def submit(self, task: Task) -> None:
        """Starts ``task`` as soon as what runs has noticed that it is cancelled."""
        self.cancel()
        self._cancel = threading.Event()
        self.busy.emit(True)
        self._pool.start(_Run(task, self._cancel, self._outcome.emit))

    def cancel(self) -> None:
        self._cancel.set()
        self._pool.clear()
        self.busy.emit(False)

    def stop(self) -> None:
        """Cancels and waits: for the end of the program."""
        self.cancel()
        self._pool.waitForDone()

    def _deliver(self, cancel: threading.Event, result: object, error: object) -> None:
        if cancel is not self._cancel or cancel.is_set():
            return
        self.busy.emit(False)
        if error is None:
            self.done.emit(result)
        else:
            self.failed.emit(error)


class _Run(QRunnable):
    def __init__(self, task: Task, cancel: threading.Event, report: Callable[[object, object, object], None]) -> None:
        super().__init__()
        self.task, self.cancel, self.report = task, cancel, report

    def run(self) -> None:
        try:
            result, error = self.task(self.cancel.is_set), None
        except Cancelled:
            return
        except GemmvizError as caught:
            result, error = None, caught
        except MemoryError:
            result, error = (
                None,
                GemmvizError("there is not enough memory for this", remedy="choose smaller sizes or fewer blocks"),
            )
        except Exception as caught:  # the loop that must not let one task's bug end the program
            result, error = None, GemmvizError(f"gemmviz failed here: {type(caught).__name__}: {caught}")
        try:
            self.report(self.cancel, result, error)
        except RuntimeError:
            return  # the window is gone
