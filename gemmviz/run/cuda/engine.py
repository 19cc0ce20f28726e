"""The GPU as the worker uses it: opened once, what was compiled and uploaded lately kept."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from gemmviz.model.device import Device, load_device
from gemmviz.model.gpu import Gpu
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.run.cuda.compiling import Compiler
from gemmviz.run.cuda.launching import check_resources, launch, spoken_errors, wait
from gemmviz.run.cuda.tracing import trace_on_device
from gemmviz.run.cuda.workload import Workload, workload
from gemmviz.run.protocol import PATIENCE_S
from gemmviz.source.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.source.launching import settings_for

_MOST_WORKLOADS = 2
_WARM_BYTES = 1 << 20


class Engine:
    """One GPU. ``use`` gives the workload of a setting; its errors are sentences."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.compiler = Compiler(gpu)
        self._workloads: OrderedDict[Any, Workload] = OrderedDict()

    def use(self, spec: KernelSpec, settings: Settings, device: Device, task: Callable[[Workload], Any]) -> Any:
        """What ``task`` makes of the workload. Raises LostContext where the GPU can't be used any more by this process."""
        with spoken_errors(spec.file):
            return task(self._workload(spec, settings, device))

    def warm_up(self) -> None:
        """Traces and times a little kernel, so that compilers and libraries are loaded before somebody waits."""
        spec = load_kernel(DEFAULT_KERNEL)

        def once(work: Workload) -> None:
            trace_on_device(self.compiler, work, None, limit_bytes=_WARM_BYTES, patience_s=PATIENCE_S)

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
