"""The GPU, as the window knows it: looked for once, in a process of its own, while the first picture is on the screen."""

import importlib.util
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gemmviz.gui.work import Worker
from gemmviz.model.errors import DeviceError, GemmvizError
from gemmviz.model.gpu import INSTALL_CUPY, Gpu
from gemmviz.run.remote import RemoteGpu

_NO_CUPY = DeviceError("CuPy is not installed", remedy=INSTALL_CUPY)


class GpuStation(QObject):
    """``known`` carries the Gpu, or the DeviceError that says what is missing."""

    known = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.remote = RemoteGpu()
        self.gpu: Gpu | None = None
        self.why_not: GemmvizError | None = None
        self.is_meant = False  # whether somebody installed what a GPU needs
        self._worker = Worker(self)
        self._worker.done.connect(self._on_found)
        self._worker.failed.connect(self._on_missing)

    def look(self) -> None:
        """Looks for a GPU; the answer comes as a signal."""
        if importlib.util.find_spec("cupy") is None:
            self._on_missing(_NO_CUPY)
        else:
            self.is_meant = True
            self._worker.submit(self._found)

    def stop(self) -> None:
        self._worker.cancel()
        self.remote.close()
        self._worker.stop()

    def _found(self, cancelled: Callable[[], bool]) -> Gpu:
        found = self.remote.gpu(cancelled)
        self.remote.warm_up()
        return found

    def _on_found(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.known.emit(gpu)

    def _on_missing(self, error: GemmvizError) -> None:
        self.why_not = error
        self.known.emit(error)
