"""The worker's interface to the GPU, with caches of compiled functions and uploaded matrices."""

from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from gemmviz.files.codec import to_json
from gemmviz.launch.catalog import DEFAULT_KERNEL, load_kernel
from gemmviz.launch.legality import other_choices, setup_for
from gemmviz.model.gpu import Gpu
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange
from gemmviz.model.timing import Timing, TraceCost, Transfer
from gemmviz.model.trace import Trace
from gemmviz.run.cpu.executor import requests_phases
from gemmviz.run.cuda.compiling import Nvrtc
from gemmviz.run.cuda.counting import DeviceCounts, count_on_device
from gemmviz.run.cuda.launches import check_resources, launch, spoken_errors, wait
from gemmviz.run.cuda.scheduling import schedule_on_device
from gemmviz.run.cuda.stopwatch import TimedLaunch, time_cublas, time_kernel, time_transfer
from gemmviz.run.cuda.tracing import trace_on_device, twin_unit
from gemmviz.run.cuda.workload import Workload, workload
from gemmviz.run.engine import Cancel
from gemmviz.run.protocol import TIMEOUT_S
from gemmviz.run.recording import Recording

_MOST_WORKLOADS = 2
_MOST_AHEAD = 8
_WARM_BYTES = 1 << 20
Result = TypeVar("Result")


class CudaRunner:
    """One GPU. ``use`` passes the workload of a setup to a task; the other methods are such tasks. ``timeout_s``: time limit of
    a launch.
    """

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.nvrtc = Nvrtc(gpu)
        self._workloads: OrderedDict[bytes, Workload] = OrderedDict()

    def close(self) -> None:
        """Stops compiling ahead."""
        self.nvrtc.close()

    def use(self, setup: Setup, task: Callable[[Workload], Result]) -> Result:
        """The result of ``task`` for the workload. Raises LostContext if this process can't use the GPU any more."""
        with spoken_errors(setup.kernel.file):
            return task(self._workload(setup))

    def trace(
        self, work: Workload, blocks: BlockRange | None, recording: Recording, timeout_s: float
    ) -> tuple[Trace, TraceCost]:
        return trace_on_device(self.nvrtc, work, blocks, recording, timeout_s)

    def compile_ahead(self, setup: Setup) -> None:
        """Compiles, in the background, the code for tracing the nearest other choices of the kernel's parameters."""
        nearest = islice(other_choices(setup), _MOST_AHEAD)
        self.nvrtc.compile_ahead(twin_unit(changed, False, requests_phases(setup)) for _, _, changed in nearest)

    def time(self, work: Workload, timeout_s: float, cancelled: Cancel) -> TimedLaunch:
        return time_kernel(self.nvrtc, work, timeout_s, cancelled)

    def cublas(self, work: Workload, timeout_s: float, cancelled: Cancel) -> Timing:
        return time_cublas(self.nvrtc, work, timeout_s, cancelled)

    def copy(self, work: Workload) -> Transfer:
        return time_transfer(work)

    def count(self, work: Workload, timeout_s: float, progress: Callable[[int, int], None], cancelled: Cancel) -> DeviceCounts:
        return count_on_device(self.nvrtc, work, timeout_s, progress, cancelled)

    def schedule(self, work: Workload, timeout_s: float) -> Schedule:
        return schedule_on_device(self.nvrtc, work, timeout_s)

    def warm_up(self) -> None:
        """Traces a small kernel, which loads compilers and libraries before the first request."""

        def once(work: Workload) -> None:
            self.trace(work, None, Recording(limit_bytes=_WARM_BYTES), TIMEOUT_S)

        self.use(setup_for(load_kernel(DEFAULT_KERNEL)), once)

    def launch_real(self, work: Workload, times: int) -> None:
        """Launches the real kernel ``times`` times."""
        file = work.setup.kernel.file
        compiled = self.nvrtc(work.unit)
        check_resources(compiled, work.launch, file)
        work.fill_symbols(compiled)
        for _ in range(times):
            launch(compiled, work.launch, work.real_arguments)
        wait(TIMEOUT_S, file)

    def _workload(self, setup: Setup) -> Workload:
        """The cached workload, which is the same for setups that differ only in what is recorded."""
        key = to_json([setup.kernel, setup.problem, dict(sorted(setup.parameters.items())), setup.filling, setup.device])
        cached = self._workloads.pop(key, None)
        while cached is None and len(self._workloads) >= _MOST_WORKLOADS:
            self._workloads.popitem(last=False)
        self._workloads[key] = cached = cached or workload(setup)
        return cached.of(setup)
