"""The GPU as the window and the command line see it: through a worker."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz.files.trace_file import read_check, read_site, take_over
from gemmviz.model.errors import Cancelled
from gemmviz.model.gpu import Gpu
from gemmviz.model.kernel import KernelSpec, Settings
from gemmviz.model.lanes import Window
from gemmviz.model.problem import Problem
from gemmviz.model.schedule import Schedule
from gemmviz.model.timing import Measured, Resources, Timing, TraceCost, Transfer
from gemmviz.model.trace import MemoryArray, Site, Trace
from gemmviz.run.executor import Phases
from gemmviz.run.link import WorkerLink
from gemmviz.run.protocol import PATIENCE_S, Facts, kernel_facts
from gemmviz.run.recorder import DEFAULT_BYTES
from gemmviz.run.simt.interpreter import never

Cancel = Callable[[], bool]
Progress = Callable[[int, int], None]


class RemoteGpu:
    """One worker's GPU. ``patience_s``: how long a kernel may run. Everything raises as ``WorkerLink.request`` does."""

    def __init__(self, link: WorkerLink | None = None, patience_s: float = PATIENCE_S) -> None:
        self.link = link or WorkerLink()
        self.host_link = WorkerLink()  # the CPU's turns must not keep the GPU waiting
        self.patience_s = patience_s
        self.last_cost: TraceCost | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        """Ends the workers, for good."""
        self.link.close()
        self.host_link.close()
        if self._folder is not None:
            self._folder.cleanup()

    @contextlib.contextmanager
    def _room(self) -> Iterator[Path]:
        """A folder for what the worker hands over. One that was called off is left to the worker until the next is done."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gemmviz-", ignore_cleanup_errors=True)
        before = list(Path(self._folder.name).iterdir())
        room = Path(tempfile.mkdtemp(dir=self._folder.name))
        yield room
        for folder in (*before, room):
            shutil.rmtree(folder, ignore_errors=True)

    def gpu(self, cancelled: Cancel = never) -> Gpu:
        """The GPU. Raises DeviceError saying what is missing."""
        return Gpu(**self.link.request("hello", cancelled=cancelled)["gpu"])

    def warm_up(self) -> None:
        """Makes the first trace as quick as the next ones."""
        self.link.request("warm")

    def trace(
        self,
        spec: KernelSpec,
        settings: Settings,
        window: Window | None = None,
        *,
        device: str,
        phases: Phases = None,
        values: bool = False,
        origins: bool = True,
        limit_bytes: int = DEFAULT_BYTES,
        cancelled: Cancel = never,
    ) -> Trace:
        """As ``trace_kernel``, recorded by the GPU."""
        with self._room() as folder:
            facts = {
                "window": None if window is None else (window.x, window.y, window.z),
                "phases": phases,
                "values": values,
                "origins": origins,
                "limit_bytes": limit_bytes,
                "output": str(folder),
            }
            result = self._run("trace", spec, settings, device, facts, cancelled)
            self.last_cost = TraceCost(**result["cost"])
            return take_over(folder)

    def time(self, spec: KernelSpec, settings: Settings, *, device: str, cancelled: Cancel = never) -> Measured:
        """The real kernel, checked and timed."""
        found = self._run("time", spec, settings, device, {}, cancelled)
        timing, resources = Timing(**found["timing"]), Resources.read(found["resources"])
        return Measured.of_kernel(spec, settings, timing, resources, read_check(found["check"]), found["reads_c"])

    def cublas(self, spec: KernelSpec, settings: Settings, *, device: str, cancelled: Cancel = never) -> Timing:
        """SGEMM of cuBLAS in full float32, on the matrices of these settings."""
        return Timing(**self._run("cublas", spec, settings, device, {}, cancelled))

    def copy(self, spec: KernelSpec, settings: Settings, *, device: str, cancelled: Cancel = never) -> Transfer:
        """The copies of A and B to the GPU and of C back."""
        return Transfer(**self._run("copy", spec, settings, device, {}, cancelled))

    def count(
        self,
        spec: KernelSpec,
        settings: Settings,
        *,
        device: str,
        progress: Progress | None = None,
        cancelled: Cancel = never,
    ) -> tuple[tuple[MemoryArray, ...], dict[tuple[Site, int], tuple[int, ...]]]:
        """The arrays, and the counts of the whole launch by site and phase, in the order of ``Counts``."""
        found = self._run("count", spec, settings, device, {}, cancelled, progress)
        sites = [read_site(facts) for facts in found["sites"]]
        arrays = tuple(MemoryArray(**{**facts, "shape": tuple(facts["shape"])}) for facts in found["arrays"])
        return arrays, {(sites[site], phase): tuple(sums) for site, phase, *sums in found["sums"]}

    def schedule(self, spec: KernelSpec, settings: Settings, *, device: str, cancelled: Cancel = never) -> Schedule:
        """Where and when each block ran."""
        with self._room() as folder:
            output = folder / "schedule.npz"
            result = self._run("schedule", spec, settings, device, {"output": str(output)}, cancelled)
            with np.load(output, allow_pickle=False) as arrays:
                return Schedule(arrays["sm"], arrays["start_ns"], arrays["stop_ns"], result["tick_ns"])

    def host(self, method: str, problem: Problem, cancelled: Cancel = never) -> Timing:
        """The same multiplication on this machine's CPU, by one of ``host_speed.METHODS``."""
        try:
            found = self.host_link.request("host", {"method": method, "problem": problem.sizes}, cancelled=cancelled)
        except Cancelled:
            self.host_link.stop()  # it would go on for long
            raise
        return Timing(**found)

    def _run(
        self,
        do: str,
        spec: KernelSpec,
        settings: Settings,
        device: str,
        facts: dict[str, Any],
        cancelled: Cancel,
        progress: Progress | None = None,
    ) -> Facts:
        facts = {**facts, "kernel": kernel_facts(spec, settings, device), "patience_s": self.patience_s}
        return self.link.request(do, facts, cancelled=cancelled, progress=progress)
