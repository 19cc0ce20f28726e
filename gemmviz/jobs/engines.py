"""The engines of this machine, the CPU and a GPU if there is one, and the choice between them for each kernel."""

from typing import Literal

from psygnal import Signal

from gemmviz.files.devices import device_of
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.jobs.trust import Trust
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import DeviceError, GemmvizError
from gemmviz.model.gpu import Gpu
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.translation import tr
from gemmviz.run.choosing import engine_for, has_cupy
from gemmviz.run.engine import Cancel, Engine, FallbackEngine
from gemmviz.run.measure.recorded import RecordedTimes

EngineName = Literal["cpu", "gpu"]


class Engines:
    """The engines that a session can use, and which of them runs a kernel.

    ``look`` searches for the GPU in a worker process; ``gpu_known`` is emitted once it is found or known to be missing.
    ``changed`` is emitted when kernels run on another engine from now on. Kernels that don't ship with gemmviz run in the
    interpreter until ``trust`` includes them.
    """

    gpu_known = Signal()
    changed = Signal()

    def __init__(self, post: Post, requested: EngineName = "gpu") -> None:
        from gemmviz.run.worker.remote import RemoteGpu

        self.remote = RemoteGpu(ahead=True)
        self.requested: EngineName = requested
        self.trust = Trust()
        self.gpu: Gpu | None = None
        self.gpu_error: GemmvizError | None = None
        self.has_cupy = False
        self.recorded = RecordedTimes()
        self.cpu = engine_for("cpu")
        self._gpu = FallbackEngine(self.remote, self.cpu)
        self.worker: LatestTask[Gpu] = LatestTask(post, self.on_gpu_found, self.on_gpu_missing)

    @property
    def chosen(self) -> EngineName:
        """The engine that runs kernels now: the requested one, or the CPU while no GPU is known."""
        return self.requested if self.gpu is not None else "cpu"

    def engine_for(self, kernel: KernelSpec) -> Engine:
        """The engine that runs this kernel."""
        return self._gpu if self.chosen == "gpu" and self.trust.includes(kernel) else self.cpu

    def needs_permission(self, kernel: KernelSpec) -> bool:
        """Whether this kernel would run on the GPU if the user allowed it."""
        return self.chosen == "gpu" and not self.trust.includes(kernel)

    def allow_on_gpu(self, kernel: KernelSpec) -> None:
        """Trusts this kernel: it runs on the GPU from now on."""
        self.trust.add(kernel)
        self.changed.emit()

    @property
    def device(self) -> str:
        """Name of the device file of this machine's GPU, or of the default device."""
        return (device_of(self.gpu) if self.gpu is not None else None) or DEFAULT_DEVICE

    def choose(self, engine: EngineName) -> None:
        """Requests an engine. Without a GPU, the CPU runs the kernels."""
        before, self.requested = self.chosen, engine
        if self.chosen != before:
            self.changed.emit()

    def set_timeout(self, seconds: float) -> None:
        """Limits one launch on the GPU to this many seconds."""
        self.remote.timeout_s = seconds

    def look(self) -> None:
        """Searches for a GPU in the background."""
        from gemmviz.files.extras import cupy_command

        if has_cupy():
            self.has_cupy = True
            self.worker.start(self._open_gpu)
        else:
            self.on_gpu_missing(DeviceError(tr("CuPy is not installed"), remedy=cupy_command()))

    def close(self) -> None:
        self.worker.close()
        self.remote.close()

    def _open_gpu(self, cancelled: Cancel) -> Gpu:
        gpu = self.remote.gpu(cancelled)
        self.remote.warm_up()
        return gpu

    def on_gpu_found(self, gpu: Gpu) -> None:
        self.gpu, self.gpu_error = gpu, None
        self.gpu_known.emit()
        if self.chosen == "gpu":
            self.changed.emit()

    def on_gpu_missing(self, error: GemmvizError) -> None:
        self.gpu_error = error
        self.gpu_known.emit()
