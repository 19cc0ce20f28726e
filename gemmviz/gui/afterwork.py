"""What is worked out after a picture is on the screen, one thing after the other, each off the GUI thread."""

from PySide6.QtCore import QObject, QTimer, Signal

from gemmviz.analysis.replay import Replay
from gemmviz.gui import session
from gemmviz.gui.session import Details, Look, Setup, Whole
from gemmviz.gui.work import Worker
from gemmviz.model.trace import Trace
from gemmviz.run.remote import RemoteGpu

_AFTER_PICTURE_MS = 80


class Afterwork(QObject):
    """First what the focus needs (costs, variables), then what the trace tells (hazards, values), then the counts of the whole
    launch; the latter two once for each trace; and meanwhile how fast the real kernel is.

    Signals carry a Look, Details, a Whole and a RealKernel. ``gpu``: who does the work, None for the interpreter.
    """

    looked = Signal(object)
    detailed = Signal(object)
    counted = Signal(object)
    measured = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.look: Look | None = None
        self.whole: Whole | None = None
        self._setup: Setup | None = None
        self._replay: Replay | None = None
        self.gpu: RemoteGpu | None = None
        self._measured: Trace | None = None  # whose kernel was timed, or is being timed
        self._workers = looker, detailer, counter, measurer = Worker(self), Worker(self), Worker(self), Worker(self)
        self._looker, self._detailer, self._counter, self._measurer = self._workers
        self._due = QTimer(self, singleShot=True, interval=_AFTER_PICTURE_MS)
        self._due.timeout.connect(self._look)
        looker.done.connect(self._on_looked)
        detailer.done.connect(self._on_detailed)
        counter.done.connect(self._on_counted)
        measurer.done.connect(self.measured)
        for worker in self._workers:
            worker.failed.connect(self.failed)

    def begin(self, setup: Setup, replay: Replay) -> None:
        """Another replay is shown: of another trace, or of the same through another focus."""
        if self._replay is None or self._replay.trace is not replay.trace:
            self.cancel()
            self.whole = self._measured = None
        self._setup, self._replay, self.look = setup, replay, None
        self._due.start()

    def again(self) -> None:
        """Goes on with what was cancelled: the picture stays after all."""
        if self._replay is not None:
            self._due.start()

    def cancel(self) -> None:
        self._due.stop()
        for worker in self._workers:
            worker.cancel()

    def stop(self) -> None:
        """Cancels and waits: for the end of the program."""
        self._due.stop()
        for worker in self._workers:
            worker.stop()

    def _look(self) -> None:
        setup, replay = self._setup, self._replay
        if setup is not None and replay is not None:
            self._looker.submit(lambda cancelled: session.look_closer(setup, replay, cancelled))

    def _on_looked(self, look: Look) -> None:
        if look.replay is not self._replay:
            return
        self.look = look
        self.looked.emit(look)
        setup, trace = self._setup, look.replay.trace
        if self.whole is None and trace.stop is None and setup is not None:
            gpu = self.gpu
            self._detailer.submit(lambda cancelled: session.find_details(setup, trace, gpu, cancelled))
            if self._measured is not trace:
                self._measured = trace
                self._measurer.submit(lambda cancelled: session.measure(setup, gpu, cancelled))

    def _on_detailed(self, details: Details) -> None:
        setup = self._setup
        if self._replay is None or setup is None or details.trace is not self._replay.trace:
            return
        self._replay.value, self._replay.conflicts = details.value, details.conflicts
        self.detailed.emit(details)
        gpu = self.gpu
        self._counter.submit(lambda cancelled: session.count_whole(setup, details.trace, gpu, cancelled))

    def _on_counted(self, whole: Whole) -> None:
        if self._replay is not None and whole.trace is self._replay.trace:
            self.whole = whole
            self.counted.emit(whole)
