"""Who can run kernels on this machine: the CPU always, a GPU where one is found; and which of them a person wants."""

from typing import Literal

from psygnal import Signal

from gemmviz.files.devices import device_of
from gemmviz.jobs.events import Post
from gemmviz.jobs.tasks import LatestTask
from gemmviz.jobs.trust import Trust
from gemmviz.model.device import DEFAULT_DEVICE
from gemmviz.model.errors import DeviceError, GemmvizError
from gemmviz.model.gpu import INSTALL_CUPY, Gpu
from gemmviz.model.kernel import KernelSpec
from gemmviz.run.choosing import has_cupy
from gemmviz.run.cpu.interpreter import Interpreter
from gemmviz.run.engine import Cancel, Engine, FirstToAnswer
from gemmviz.run.measure.recorded import Recorded
from gemmviz.run.worker.remote import RemoteGpu

Runner = Literal["cpu", "gpu"]


class Runners:
    """The GPU is looked for once, in a process of its own. ``known`` tells when it was found or is known to be missing,
    ``changed`` when another engine is to answer. What comes from elsewhere runs in the interpreter until ``trust`` includes it.
    """

    gpu_known = Signal()
    changed = Signal()

    def __init__(self, post: Post, wanted: Runner = "gpu") -> None:
        self.remote = RemoteGpu(ahead=True)
        self.wanted: Runner = wanted
        self.trust = Trust()
        self.gpu: Gpu | None = None
        self.why_not: GemmvizError | None = None
        self.is_meant = False  # whether somebody installed what a GPU needs
        self.recorded = Recorded()
        self.cpu = FirstToAnswer(Interpreter(), self.recorded)
        self._gpu = FirstToAnswer(self.remote, *self.cpu.engines)
        self.worker: LatestTask[Gpu] = LatestTask(post, self.on_found, self.on_missing)

    @property
    def chosen(self) -> Runner:
        """Who runs kernels now."""
        return self.wanted if self.gpu is not None else "cpu"

    def engine_for(self, kernel: KernelSpec) -> Engine:
        """Who runs this one."""
        return self._gpu if self.chosen == "gpu" and self.trust.includes(kernel) else self.cpu

    def keeps_from_gpu(self, kernel: KernelSpec) -> bool:
        """Whether it would run on the GPU if a person said so."""
        return self.chosen == "gpu" and not self.trust.includes(kernel)

    def let_on_gpu(self, kernel: KernelSpec) -> None:
        """A person says so."""
        self.trust.extend(kernel)
        self.changed.emit()

    @property
    def device(self) -> str:
        """The device file of the GPU that is here."""
        return (device_of(self.gpu) if self.gpu is not None else None) or DEFAULT_DEVICE

    def choose(self, runner: Runner) -> None:
        before, self.wanted = self.chosen, runner
        if self.chosen != before:
            self.changed.emit()

    def set_timeout(self, seconds: float) -> None:
        """How long one launch may run on the GPU."""
        self.remote.timeout_s = seconds

    def look(self) -> None:
        """Looks for a GPU."""
        if has_cupy():
            self.is_meant = True
            self.worker.start(self._found)
        else:
            self.on_missing(DeviceError("CuPy is not installed", remedy=INSTALL_CUPY))

    def close(self) -> None:
        self.worker.close()
        self.remote.close()

    def _found(self, cancelled: Cancel) -> Gpu:
        found = self.remote.gpu(cancelled)
        self.remote.warm_up()
        return found

    def on_found(self, gpu: Gpu) -> None:
        self.gpu, self.why_not = gpu, None
        self.gpu_known.emit()
        if self.chosen == "gpu":
            self.changed.emit()

    def on_missing(self, error: GemmvizError) -> None:
        self.why_not = error
        self.gpu_known.emit()
