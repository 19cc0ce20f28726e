"""The GPU as the worker uses it: opened once, what was compiled and uploaded lately kept, all that it can do in one place."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from gemmviz.files.devices import load_device
from gemmviz.model.device import Device
from gemmviz.model.gpu import Gpu
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.lanes import Window
from gemmviz.model.schedule import Schedule
from gemmviz.model.timing import Timing, TraceCost, Transfer
from gemmviz.model.trace import Trace
from gemmviz.run.cuda.compiling import Compiler
from gemmviz.run.cuda.counting import DeviceCounts, count_on_device
from gemmviz.run.cuda.launching import check_resources, launch, spoken_errors, wait
from gemmviz.run.cuda.schedule import schedule_on_device
from gemmviz.run.cuda.timing import Timed, time_cublas, time_kernel, time_transfer
from gemmviz.run.cuda.tracing import trace_on_device
from gemmviz.run.cuda.workload import Workload, workload
from gemmviz.run.executor import Phases
from gemmviz.run.protocol import PATIENCE_S
from gemmviz.spec.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.spec.legality import settings_for

_MOST_WORKLOADS = 2
_WARM_BYTES = 1 << 20
Cancel = Callable[[], bool]
Result = TypeVar("Result")


class Engine:
    """One GPU. ``use`` gives the workload of a setting to a task; the other methods are such tasks. ``patience_s``: how long a
    launch may take.
    """

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.compiler = Compiler(gpu)
        self._workloads: OrderedDict[Any, Workload] = OrderedDict()

    def use(self, spec: KernelSpec, settings: Settings, device: Device, task: Callable[[Workload], Result]) -> Result:
        """What ``task`` makes of the workload. Raises LostContext where the GPU can't be used any more by this process."""
        with spoken_errors(spec.file):
            return task(self._workload(spec, settings, device))

    def trace(
        self,
        work: Workload,
        window: Window | None,
        *,
        phases: Phases = None,
        values: bool = False,
        origins: bool = True,
        limit_bytes: int,
        patience_s: float,
    ) -> tuple[Trace, TraceCost]:
        return trace_on_device(
            self.compiler, work, window, phases=phases, values=values, origins=origins, limit_bytes=limit_bytes,
            patience_s=patience_s,
        )  # fmt: skip

    def time(self, work: Workload, patience_s: float, cancelled: Cancel) -> Timed:
        return time_kernel(self.compiler, work, patience_s, cancelled)

    def cublas(self, work: Workload, patience_s: float, cancelled: Cancel) -> Timing:
        return time_cublas(self.compiler, work, patience_s, cancelled)

    def copy(self, work: Workload) -> Transfer:
        return time_transfer(work)

    def count(self, work: Workload, patience_s: float, progress: Callable[[int, int], None], cancelled: Cancel) -> DeviceCounts:
        return count_on_device(self.compiler, work, patience_s, progress, cancelled)

    def schedule(self, work: Workload, patience_s: float) -> Schedule:
        return schedule_on_device(self.compiler, work, patience_s)

    def warm_up(self) -> None:
        """Traces and times a little kernel, so that compilers and libraries are loaded before somebody waits."""
        spec = load_kernel(DEFAULT_KERNEL)

        def once(work: Workload) -> None:
            self.trace(work, None, limit_bytes=_WARM_BYTES, patience_s=PATIENCE_S)

        self.use(spec, settings_for(spec), load_device(), once)

    def launch_real(self, work: Workload, times: int) -> None:
        """Launches the real kernel so many times."""
        compiled = self.compiler(work.kernel_text, work.spec.file, work.entry, work.macros)
        check_resources(compiled, work.launch, work.spec.file)
        for _ in range(times):
            launch(compiled, work.launch, work.arguments)
        wait(PATIENCE_S, work.spec.file)

    def _workload(self, spec: KernelSpec, settings: Settings, device: Device) -> Workload:
        key = (
            spec.text,
            spec.file,
            str(settings.problem),
            tuple(sorted(settings.parameters.items())),
            settings.filling,
            device.name,
        )
        found = self._workloads.pop(key, None)
        while found is None and len(self._workloads) >= _MOST_WORKLOADS:
            self._workloads.popitem(last=False)
        self._workloads[key] = found = found or workload(spec, settings, device)
        return found
