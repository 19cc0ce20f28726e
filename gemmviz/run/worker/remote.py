"""The engine that asks the GPU of this machine, through a worker."""

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
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
    """One worker's GPU. ``timeout_s``: how long a kernel may run; ``ahead``: after each trace, compile what the nearest other
    settings will need. Everything raises as ``WorkerLink.run`` does.
    """

    name = "the GPU"

    def __init__(self, link: WorkerLink | None = None, timeout_s: float = TIMEOUT_S, ahead: bool = False) -> None:
        self.ahead = ahead
        self.link = link or WorkerLink()
        self.host_link = WorkerLink()  # the CPU's turns must not keep the GPU waiting
        self.timeout_s = timeout_s
        self.last_cost: TraceCost | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def close(self) -> None:
        """Terminates the workers, for good."""
        self.link.close()
        self.host_link.close()
        if self._folder is not None:
            self._folder.cleanup()

    @contextlib.contextmanager
    def _folder_for_result(self) -> Iterator[Path]:
        """A folder for what the worker hands over. One of a cancelled job is left to the worker until the next is done."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="gemmviz-", dir=_in_memory(), ignore_cleanup_errors=True)
        before = list(Path(self._folder.name).iterdir())
        made = Path(tempfile.mkdtemp(dir=self._folder.name))
        yield made
        for folder in (*before, made):
            shutil.rmtree(folder, ignore_errors=True)

    def gpu(self, cancelled: Cancel = is_cancelled) -> Gpu:
        """The GPU. Raises DeviceError saying what is missing."""
        return from_plain(self.link.run("hello", cancelled=cancelled)["gpu"], Gpu)

    def warm_up(self) -> None:
        """Makes the first trace as quick as the next ones."""
        self.link.run("warm")

    def trace(
        self,
        setup: Setup,
        blocks: BlockRange | None = None,
        recording: Recording | None = None,
        *,
        cancelled: Cancel = is_cancelled,
    ) -> Outcome:
        """As the interpreter's. Raises KernelFault for a kernel that faults: there is no trace up to there.

        What tiles hold copies of is worked out here, from the source, while the GPU runs.
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
        found = self._run("count", setup, {}, cancelled, progress)
        sites = from_plain(found["sites"], tuple[Site, ...])
        sums = {(sites[site], place, phase): tuple(each) for site, place, phase, *each in found["sums"]}
        counter.add_sums(from_plain(found["arrays"], tuple[MemoryArray, ...]), sums)

    def time(self, setup: Setup, *, cancelled: Cancel = is_cancelled) -> KernelSpeed:
        """Raises CannotAnswer where the setup's device is another one than the GPU of this machine."""
        gpu = self.gpu(cancelled)
        if device_for(setup).name != gpu.name:
            remedy = (
                "choose it as device" if device_of(gpu) is not None else "gemmviz has no file of it; gemmviz bench times it"
            )
            raise CannotAnswer(f"the GPU of this machine is another one, {gpu.name}", remedy=remedy)
        found = self.time_kernel(setup, cancelled)
        try:
            beside: Timing | None = self.time_cublas(setup, cancelled)
        except DeviceError:
            beside = None
        found = replace(found, transfer=self.time_copies(setup, cancelled))
        share = None if beside is None or found.timing is None else beside.median_ms / found.timing.median_ms
        return KernelSpeed(found, share, f"measured here on {gpu.label}")

    def time_kernel(self, setup: Setup, cancelled: Cancel = is_cancelled) -> Measured:
        """The real kernel, checked and timed."""
        found = self._run("time", setup, {}, cancelled)
        timing, resources = from_plain(found["timing"], Timing), from_plain(found["resources"], Resources)
        return Measured.of_kernel(setup, timing, resources, from_plain(found["check"], Check), found["reads_c"])

    def time_cublas(self, setup: Setup, cancelled: Cancel = is_cancelled) -> Timing:
        """SGEMM of cuBLAS in full float32, on the matrices of this setup."""
        return from_plain(self._run("cublas", setup, {}, cancelled), Timing)

    def time_copies(self, setup: Setup, cancelled: Cancel = is_cancelled) -> Transfer:
        """The copies of A and B to the GPU and of C back."""
        return from_plain(self._run("copy", setup, {}, cancelled), Transfer)

    def time_host(self, method: str, problem: Problem, cancelled: Cancel = is_cancelled) -> Timing:
        """The same multiplication on this machine's CPU, by one of ``host_speed.METHODS``."""
        try:
            found = self.host_link.run("host", {"method": method, "problem": problem}, cancelled=cancelled)
        except Cancelled:
            self.host_link.stop()  # it would go on for long
            raise
        return from_plain(found, Timing)

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
    """Where files are memory and take no disk's time, if this system has such a place with room enough."""
    try:
        has_room = shutil.disk_usage(_MEMORY).free > _LEAST_ROOM
    except OSError:
        return None
    return _MEMORY if has_room and os.access(_MEMORY, os.W_OK | os.X_OK) else None
