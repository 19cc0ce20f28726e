"""The engine that runs kernels on this machine's GPU, through a worker process."""

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from gemmviz.files.codec import from_plain
from gemmviz.files.devices import device_of
from gemmviz.files.trace_file import read_from_folder
from gemmviz.launch.legality import device_for
from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled, DeviceError
from gemmviz.model.gpu import Gpu
from gemmviz.model.outcome import Outcome
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.model.schedule import Schedule
from gemmviz.model.setup import Setup
from gemmviz.model.sinks import LaunchSink
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.threads import BlockRange
from gemmviz.model.timing import Counters, KernelSpeed, Measured, Resources, Timing, TraceCost, Transfer
from gemmviz.model.trace import Check
from gemmviz.run.cpu.executor import origins
from gemmviz.run.engine import Cancel, CannotAnswer, Engine, Progress
from gemmviz.run.protocol import TIMEOUT_S, Payload
from gemmviz.run.recording import Recording
from gemmviz.run.worker import profiler
from gemmviz.run.worker.link import WorkerLink

_MEMORY = "/dev/shm"
_LEAST_ROOM = 4 << 30


class RemoteGpu(Engine):
    """The GPU of this machine, owned by a worker.

    ``timeout_s`` limits one launch. With ``ahead``, the worker compiles after each trace for the nearest other settings.
    Methods raise as ``WorkerLink.run`` does.
    """

    name = "the GPU"

    def __init__(self, link: WorkerLink | None = None, timeout_s: float = TIMEOUT_S, ahead: bool = False) -> None:
        self.ahead = ahead
        self.link = link or WorkerLink()
        self.host_link = WorkerLink()  # times the CPU while the GPU's worker stays free
        self.timeout_s = timeout_s
        self.last_cost: TraceCost | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        """Terminates the workers. The engine can't be used afterwards."""
        self.link.close()
        self.host_link.close()
        if self._folder is not None:
            self._folder.cleanup()

    @contextlib.contextmanager
    def _folder_for_result(self) -> Iterator[Path]:
        """A temporary folder for the worker's files. The folder of a cancelled job stays until the next job is done."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gemmviz-", dir=_in_memory(), ignore_cleanup_errors=True)
        before = list(Path(self._folder.name).iterdir())
        result = Path(tempfile.mkdtemp(dir=self._folder.name))
        yield result
        for folder in (*before, result):
            shutil.rmtree(folder, ignore_errors=True)

    def gpu(self, cancelled: Cancel = is_cancelled) -> Gpu:
        """The GPU of the worker. Raises DeviceError if there is none or software is missing."""
        return from_plain(self.link.run("hello", cancelled=cancelled)["gpu"], Gpu)

    def warm_up(self) -> None:
        """Compiles and loads in advance what the first trace needs."""
        self.link.run("warm")

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        """The trace of ``blocks``. Raises KernelFault if the kernel faults; unlike the interpreter, without a partial trace.

        The origins of shared cells are computed in this process, from the source, while the GPU runs.
        """
        recording, over = recording or Recording(), threading.Event()
        with self._folder_for_result() as folder, ThreadPoolExecutor(1) as beside:
            facts = {
                "blocks": blocks,
                "recording": replace(recording, origins=False),
                "output": str(folder),
                "ahead": self.ahead,
            }
            origin = beside.submit(origins, setup, blocks, lambda: over.is_set() or cancelled()) if recording.origins else None
            try:
                result = self._run("trace", setup, facts, cancelled)
                self.last_cost = from_plain(result["cost"], TraceCost)
                trace = read_from_folder(folder)
                return Outcome(trace if origin is None else replace(trace, **origin.result()), trace.by)
            finally:
                over.set()

    def count(
        self,
        setup: Setup,
        counter: LaunchSink,
        *,
        progress: Progress = lambda done, total: None,
        cancelled: Cancel = is_cancelled,
    ) -> None:
        counts = self._run("count", setup, {}, cancelled, progress)
        sites = from_plain(counts["sites"], tuple[Site, ...])
        sums = {(sites[site], place, phase): tuple(each) for site, place, phase, *each in counts["sums"]}
        counter.add_sums(from_plain(counts["arrays"], tuple[MemoryArray, ...]), sums)

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        """Times of the kernel, cuBLAS and the copies. Raises CannotAnswer if the setup's device is not this machine's GPU."""
        gpu = self.gpu(cancelled)
        if device_for(setup).name != gpu.name:
            remedy = "choose it as device" if device_of(gpu) is not None else "gemmviz has no file for it; run gemmviz bench"
            raise CannotAnswer(f"this machine's GPU is a different device, {gpu.name}", remedy=remedy)
        measured = self.time_kernel(setup, cancelled)
        try:
            cublas: Timing | None = self.time_cublas(setup, cancelled)
        except DeviceError:
            cublas = None
        measured = replace(measured, transfer=self.time_copies(setup, cancelled))
        share = None if cublas is None or measured.timing is None else cublas.median_ms / measured.timing.median_ms
        return KernelSpeed(measured, share, f"measured here on {gpu.label}")

    def time_kernel(self, setup: Setup, cancelled: Cancel = is_cancelled) -> Measured:
        """Time, resources and check of the real kernel."""
        result = self._run("time", setup, {}, cancelled)
        timing, resources = from_plain(result["timing"], Timing), from_plain(result["resources"], Resources)
        return Measured.of_kernel(setup, timing, resources, from_plain(result["check"], Check), result["reads_c"])

    def time_cublas(self, setup: Setup, cancelled: Cancel = is_cancelled) -> Timing:
        """Time of cuBLAS SGEMM in full float32 on the matrices of this setup. Raises DeviceError without cuBLAS."""
        return from_plain(self._run("cublas", setup, {}, cancelled), Timing)

    def time_copies(self, setup: Setup, cancelled: Cancel = is_cancelled) -> Transfer:
        """Times of the copies of A and B to the GPU and of C back."""
        return from_plain(self._run("copy", setup, {}, cancelled), Transfer)

    def time_host(self, method: str, problem: Problem, cancelled: Cancel = is_cancelled) -> Timing:
        """Time of the multiplication on this machine's CPU by one of ``host_speed.METHODS``."""
        try:
            timing = self.host_link.run("host", {"method": method, "problem": problem}, cancelled=cancelled)
        except Cancelled:
            self.host_link.stop()  # it can't interrupt a multiplication
            raise
        return from_plain(timing, Timing)

    def schedule(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> Schedule:
        with self._folder_for_result() as folder:
            output = folder / "schedule.npz"
            result = self._run("schedule", setup, {"output": str(output)}, cancelled)
            with np.load(output, allow_pickle=False) as arrays:
                return Schedule(arrays["sm"], arrays["start_ns"], arrays["stop_ns"], result["tick_ns"])

    def verify(self, setups: list[Setup]) -> list[Counters]:
        return profiler.counters_of(setups)

    def _run(
        self, do: str, setup: Setup, facts: dict[str, Any], cancelled: Cancel, progress: Progress | None = None
    ) -> Payload:
        facts = {**facts, "setup": setup, "timeout_s": self.timeout_s}
        return self.link.run(do, facts, cancelled=cancelled, progress=progress)


def _in_memory() -> str | None:
    """A folder in memory with at least 4 GiB of free space; None if this system has none."""
    try:
        has_room = shutil.disk_usage(_MEMORY).free > _LEAST_ROOM
    except OSError:
        return None
    return _MEMORY if has_room and os.access(_MEMORY, os.W_OK | os.X_OK) else None
