"""The engine that runs kernels on this machine's GPU, through a worker process."""

import contextlib
import dataclasses
import itertools
import json
import math
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import IO, Any

import numpy as np
from msgspec import structs

from gemmviz.cuda.launch.legality import device_for
from gemmviz.files.codec import from_plain
from gemmviz.files.devices import device_of
from gemmviz.files.resources import NO_CONSOLE, child_environment, gemmviz_command
from gemmviz.files.trace_file import read_from_folder
from gemmviz.model.device import Gpu
from gemmviz.model.messages import Cancelled, DeviceError, cancellable, checkpoint, is_cancelled
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.sites import MemoryArray, Site
from gemmviz.model.timing import Counters, KernelSpeed, MachineCode, Measured, Schedule, Timing, Transfer
from gemmviz.model.trace import Outcome
from gemmviz.run.cpu.executor import origins
from gemmviz.run.engine import (
    CannotAnswer,
    CountRequest,
    Engine,
    EngineRequest,
    ScheduleRequest,
    TimeRequest,
    TraceRequest,
)
from gemmviz.run.protocol import TIMEOUT_S, Payload, error_from_plain, line_of
from gemmviz.run.worker import tools
from gemmviz.run.worker.tools import one_thread_environment

# The client side of the worker: starts a worker when one is needed, sends jobs, and replaces a worker that was lost.

_LOOK_EVERY_S = 0.02
_EXIT_TIMEOUT_S, _STUCK_S = 0.2, 3.0
Replies = queue.Queue[Payload]


class WorkerLink:
    """A link to the worker, usable from any thread; jobs run one at a time. ``lost`` counts workers that ended unexpectedly."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self.command = list(command or gemmviz_command("worker"))
        self.lost = 0
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._process: _WorkerProcess | None = None
        self._closed = False

    def run(
        self,
        do: str,
        facts: Payload | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Payload:
        """The result of a job. Raises its error, Cancelled if this thread's work is, DeviceError if the worker is lost."""
        checkpoint()
        number = next(self._numbers)
        message = {"id": number, "do": do, **(facts or {})}
        process, replies = self._submit(number, message)
        while True:
            if is_cancelled():
                process.cancel(number)
                raise Cancelled
            try:
                reply = replies.get(timeout=_LOOK_EVERY_S)
            except queue.Empty:
                if process.is_stuck:
                    self._lose(process)
                    process, replies = self._submit(number, message)
                continue
            if "progress" in reply:
                if progress is not None:
                    progress(*reply["progress"])
            elif "error" in reply:
                if reply.get("terminated") and process.retired:
                    process, replies = self._submit(number, message)  # terminated because of another job
                    continue
                self._after_error(process, reply["error"])
                raise error_from_plain(reply["error"])
            else:
                return reply["result"]  # type: ignore[no-any-return]

    def stop(self, timeout_s: float = _EXIT_TIMEOUT_S) -> None:
        """Terminates the present worker, which has ``timeout_s`` seconds to exit by itself."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.terminate(timeout_s)

    def close(self, timeout_s: float = _EXIT_TIMEOUT_S) -> None:
        """Terminates the worker as ``stop`` does and starts no other."""
        self._closed = True
        self.stop(timeout_s)

    @property
    def process_id(self) -> int | None:
        """Process id of the present worker; None if there is none."""
        return None if self._process is None else self._process.popen.pid

    def _submit(self, number: int, message: Payload) -> "tuple[_WorkerProcess, Replies]":
        with self._lock:
            if self._closed:
                raise Cancelled
            if self._process is None or not self._process.alive:
                if self._process is not None:
                    self._process.terminate()
                self._process = _WorkerProcess(self.command)
            process = self._process
            replies = process.expect(number)
        process.send(message)
        return process, replies

    def _after_error(self, process: "_WorkerProcess", facts: Payload) -> None:
        if facts.get("fatal"):
            self._lose(process)

    def _lose(self, process: "_WorkerProcess") -> None:
        """Terminates a worker that can't be used any more; the next job starts another."""
        with self._lock:
            first = not process.retired
            process.retired = True
            self.lost += first
            if self._process is process:
                self._process = None
        if first:
            process.terminate(timeout_s=0.0)


class _WorkerProcess:
    """One worker process: its pipes and the queues of the threads that wait for replies."""

    def __init__(self, command: Sequence[str]) -> None:
        environment = child_environment(one_thread_environment())
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the worker ends
        pipe = subprocess.PIPE
        try:
            self.popen = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._errors, env=environment, creationflags=NO_CONSOLE
            )
        except OSError as error:
            raise DeviceError(f"the GPU worker can't be started: {error}") from None
        self._waiting: dict[int, Replies] = {}
        self._cancelled: dict[int, float] = {}  # time of the cancel; removed when the worker replies
        self._lock = threading.Lock()
        self._last_reply_s = 0.0  # time of the last reply to a job
        self._outbox: queue.Queue[bytes | None] = queue.Queue()
        self.alive = True
        self.retired = False  # terminated because of a job that has its reply
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        threading.Thread(target=self._write, daemon=True).start()

    def expect(self, number: int) -> Replies:
        with self._lock:
            replies = self._waiting[number] = queue.Queue()
        return replies

    def cancel(self, number: int) -> None:
        """Cancels a job and stops waiting for its reply."""
        with self._lock:
            if self._waiting.pop(number, None) is not None:
                self._cancelled[number] = time.monotonic()
        self.send({"cancel": number})

    @property
    def is_stuck(self) -> bool:
        """Whether the worker still runs a job that was cancelled more than 3 s ago: its kernel never ends, or the process is
        stopped. Jobs run in turn, so the present one is the first without a reply.
        """
        with self._lock:
            at = min((*self._waiting, *self._cancelled), default=0)
            since = max(self._cancelled.get(at, math.inf), self._last_reply_s)
        return time.monotonic() - since > _STUCK_S

    def send(self, message: Payload) -> None:
        """Queues a message. Doesn't block, even if the worker is stopped and reads nothing."""
        self._outbox.put(line_of(message))

    def _write(self) -> None:
        assert self.popen.stdin is not None
        try:
            while (line := self._outbox.get()) is not None:
                self.popen.stdin.write(line)
                self.popen.stdin.flush()
        except (OSError, ValueError):
            self._report_exit()
        with contextlib.suppress(OSError):
            self.popen.stdin.close()

    def terminate(self, timeout_s: float = _EXIT_TIMEOUT_S) -> None:
        """Closes the worker's input; kills it if it doesn't exit within ``timeout_s`` seconds."""
        self.alive = False
        self._outbox.put(None)
        try:
            self.popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # the driver may delay the exit
                self.popen.wait(_EXIT_TIMEOUT_S)
        self._listener.join(_EXIT_TIMEOUT_S)
        self._errors.close()

    def _listen(self) -> None:
        for line in self._lines():
            try:
                reply: Any = json.loads(line)
            except ValueError:
                continue
            if not isinstance(reply, dict):
                continue
            with self._lock:
                if "progress" not in reply:
                    self._cancelled.pop(reply.get("id", 0), None)
                    self._last_reply_s = time.monotonic()
                waiting = self._waiting.get(reply.get("id", 0))
                if waiting is not None and "progress" not in reply:
                    self._waiting.pop(reply["id"])
            if waiting is not None:
                waiting.put(reply)
        self._report_exit()

    def _lines(self) -> Iterator[bytes]:
        assert self.popen.stdout is not None
        with contextlib.suppress(ValueError, OSError), self.popen.stdout:
            yield from self.popen.stdout

    def _report_exit(self) -> None:
        """Sends an error to all waiting threads: the worker has exited."""
        self.alive = False
        self._outbox.put(None)
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        if waiting:
            remedy = "the next run starts a new worker"
            error: Payload = {"kind": "DeviceError", "message": self._exit_message(), "remedy": remedy, "fatal": True}
            for replies in waiting.values():
                replies.put({"error": error, "terminated": True})

    def _exit_message(self) -> str:
        try:
            code = self.popen.wait(_EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return "the GPU worker no longer responds"
        how = f"was terminated by signal {-code}" if code < 0 else f"exited with code {code}"
        try:
            self._errors.seek(0)
            last = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        except ValueError:  # closed in the meantime
            last = []
        return f"the GPU worker {how}" + (f": {last[-1]}" if last else "")


_MEMORY_FOLDER = "/dev/shm"
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
            self._folder = tempfile.TemporaryDirectory(prefix="gemmviz-", dir=_folder_in_memory(), ignore_cleanup_errors=True)
        before = list(Path(self._folder.name).iterdir())
        result = Path(tempfile.mkdtemp(dir=self._folder.name))
        yield result
        for folder in (*before, result):
            shutil.rmtree(folder, ignore_errors=True)

    def gpu(self) -> Gpu:
        """The GPU of the worker. Raises DeviceError if there is none or software is missing."""
        return from_plain(self.link.run("hello")["gpu"], Gpu)

    def warm_up(self) -> None:
        """Compiles and loads in advance what the first trace needs."""
        self.link.run("warm")

    def answer(self, request: EngineRequest) -> Any:
        match request:
            case TraceRequest():
                return self._trace(request)
            case CountRequest(setup, counter):
                counts = self._run("count", setup, {})
                sites = from_plain(counts["sites"], tuple[Site, ...])
                sums = {(sites[site], place, phase): tuple(each) for site, place, phase, *each in counts["sums"]}
                return counter.add_sums(from_plain(counts["arrays"], tuple[MemoryArray, ...]), sums)
            case TimeRequest(setup):
                return self._time(setup)
            case ScheduleRequest(setup):
                return self._schedule(setup)
        raise self.cannot(request)

    def _trace(self, request: TraceRequest) -> Outcome:
        """The trace. Raises KernelFault if the kernel faults; unlike the interpreter, without a partial trace.

        The origins of shared cells are computed in this process, from the source, while the GPU runs.
        """
        setup, blocks, recording, over = request.setup, request.blocks, request.recording, threading.Event()
        with self._folder_for_result() as folder, ThreadPoolExecutor(1) as beside, cancellable(over.is_set):
            facts = {
                "blocks": blocks,
                "recording": structs.replace(recording, origins=False),
                "output": str(folder),
                "ahead": self.ahead,
            }
            origin = beside.submit(copy_context().run, origins, setup, blocks) if recording.origins else None
            try:
                self._run("trace", setup, facts)
                trace = read_from_folder(folder)
                return Outcome(trace if origin is None else dataclasses.replace(trace, **origin.result()), trace.by)
            finally:
                over.set()

    def _time(self, setup: Setup) -> KernelSpeed:
        """Times of the kernel, cuBLAS and the copies. Raises CannotAnswer if the setup's device is not this machine's GPU."""
        gpu = self.gpu()
        if not device_for(setup).is_of(gpu):
            remedy = "choose it as device" if device_of(gpu) is not None else "gemmviz has no file for it; run gemmviz bench"
            raise CannotAnswer(f"this machine's GPU is a different device, {gpu.name}", remedy=remedy)
        measured = self.time_kernel(setup)
        try:
            cublas: Timing | None = self.time_cublas(setup)
        except DeviceError:
            cublas = None
        measured = structs.replace(measured, transfer=self.time_copies(setup))
        if measured.resources is not None:
            code = self.machine_code(setup)
            measured = structs.replace(measured, resources=structs.replace(measured.resources, machine_code=code))
        share = None if cublas is None or measured.timing is None else cublas.median_ms / measured.timing.median_ms
        return KernelSpeed(measured, share, f"measured here on {gpu.label}", f"measured here on {gpu.name}")

    def time_kernel(self, setup: Setup) -> Measured:
        """Time, resources and check of the real kernel."""
        return from_plain(self._run("time", setup, {}), Measured)

    def machine_code(self, setup: Setup) -> MachineCode | None:
        """The conditional jumps of the real kernel; None without a disassembler."""
        found = self._run("code", setup, {})["code"]
        return None if found is None else from_plain(found, MachineCode)

    def time_cublas(self, setup: Setup) -> Timing:
        """Time of cuBLAS on this setup's matrices, without TF32. Raises DeviceError for types that it doesn't multiply."""
        return from_plain(self._run("cublas", setup, {}), Timing)

    def time_copies(self, setup: Setup) -> Transfer:
        """Times of the copies of A and B to the GPU and of C back."""
        return from_plain(self._run("copy", setup, {}), Transfer)

    def time_host(self, method: str, problem: Problem) -> Timing:
        """Time of the multiplication on this machine's CPU by one of ``host_speed.METHODS``."""
        try:
            timing = self.host_link.run("host", {"method": method, "problem": problem})
        except Cancelled:
            self.host_link.stop()  # it can't interrupt a multiplication
            raise
        return from_plain(timing, Timing)

    def _schedule(self, setup: Setup) -> Schedule:
        with self._folder_for_result() as folder:
            output = folder / "schedule.npz"
            result = self._run("schedule", setup, {"output": str(output)})
            with np.load(output, allow_pickle=False) as arrays:
                return Schedule(arrays["sm"], arrays["start_ns"], arrays["stop_ns"], result["tick_ns"])

    def verify(self, setups: list[Setup]) -> list[Counters]:
        return tools.counters_of(setups)

    def _run(self, do: str, setup: Setup, facts: dict[str, Any]) -> Payload:
        return self.link.run(do, {**facts, "setup": setup, "timeout_s": self.timeout_s})


def _folder_in_memory() -> str | None:
    """A folder in memory with at least 4 GiB of free space; None if this system has none."""
    try:
        has_room = shutil.disk_usage(_MEMORY_FOLDER).free > _LEAST_ROOM
    except OSError:
        return None
    return _MEMORY_FOLDER if has_room and os.access(_MEMORY_FOLDER, os.W_OK | os.X_OK) else None
