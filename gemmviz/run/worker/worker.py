"""The worker: a process that owns the GPU, reads jobs from standard input and writes replies to standard output.

The error of a job is its reply. If the GPU's context is lost, the worker reports that and exits; the next job starts another.
"""

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import numpy as np

from gemmviz.files.codec import from_plain, to_plain
from gemmviz.files.trace_file import write_to_folder
from gemmviz.model.messages import Cancelled, DeviceError, GemmvizError, UsageError, cancellable, checkpoint
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.threads import BlockRange
from gemmviz.run.engine import Recording
from gemmviz.run.protocol import Payload, error_to_plain, line_of
from gemmviz.run.worker import tools

if TYPE_CHECKING:
    from gemmviz.run.cuda.runner import CudaRunner
    from gemmviz.run.cuda.workload import Workload

_Result = TypeVar("_Result")
LOST = 3  # the exit code of a worker whose GPU context is lost


class Job:
    """A job in progress: it can report progress and be cancelled."""

    def __init__(self, facts: Payload, send: Callable[[Payload], None]) -> None:
        self.facts, self._send = facts, send
        self.cancel = threading.Event()
        self.afterwards: Callable[[Setup], None] | None = None  # runs after the reply

    @property
    def timeout_s(self) -> float:
        """The longest time of one launch, in seconds."""
        return float(self.facts["timeout_s"])

    @property
    def setup(self) -> Setup:
        return from_plain(self.facts["setup"], Setup)

    def progress(self, done: int, total: int) -> None:
        self._send({"id": self.facts["id"], "progress": [done, total]})


class Server:
    """Runs one job at a time, while a thread reads further jobs and cancels."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self.source, self.target = source, target
        self.runner: CudaRunner | None = None
        self.gpu_error: DeviceError | None = None
        self._waiting: queue.Queue[Job | None] = queue.Queue()
        self._known: dict[int, Job] = {}
        self._lock = threading.Lock()
        self._do: dict[str, Callable[[Job], Any]] = {
            "hello": self._hello, "trace": self._trace, "time": self._time, "code": self._code, "cublas": self._cublas,
            "copy": self._copy, "count": self._count, "schedule": self._schedule, "host": self._host, "warm": self._warm,
        }  # fmt: skip

    def run(self) -> int:
        """Runs jobs until the input ends; returns the exit code."""
        threading.Thread(target=self._read, daemon=True).start()
        while (job := self._waiting.get()) is not None:
            if not self._serve(job):
                return LOST
            self._known.pop(job.facts["id"], None)
        if self.runner is not None:
            self.runner.close()
        return 0

    def _read(self) -> None:
        try:
            for line in self.source:
                self._receive(line)
        finally:
            self._waiting.put(None)

    def _receive(self, line: bytes) -> None:
        """Handles one line of input; ignores lines that are neither jobs nor cancels."""
        try:
            facts = json.loads(line)
        except ValueError:
            return
        if not isinstance(facts, dict):
            return
        job = self._known.get(facts["cancel"]) if isinstance(facts.get("cancel"), int) else None
        if job is not None:
            job.cancel.set()
        elif isinstance(facts.get("id"), int) and isinstance(facts.get("do"), str):
            job = self._known[facts["id"]] = Job(facts, self._send)
            self._waiting.put(job)

    def _send(self, message: Payload) -> None:
        with self._lock:
            self.target.write(line_of(message))
            self.target.flush()

    def _serve(self, job: Job) -> bool:
        """Runs one job and sends its reply; returns whether the worker can run another job."""
        reply, lost = {"id": job.facts["id"]}, False
        try:
            if job.facts["do"] not in self._do:
                raise UsageError(f"the worker has no method {job.facts['do']!r}", remedy=f"use one of {', '.join(self._do)}")
            with cancellable(job.cancel.is_set):
                checkpoint()
                reply["result"] = self._do[job.facts["do"]](job)
        except (GemmvizError, Cancelled) as error:
            lost = any(kind.__name__ == "LostContext" for kind in type(error).__mro__)
            reply["error"] = error_to_plain(error, lost)
        except OSError as error:
            reply["error"] = error_to_plain(GemmvizError(f"the worker can't write its result: {error}"))
        except MemoryError:
            remedy = "choose smaller sizes or fewer blocks"
            reply["error"] = error_to_plain(GemmvizError("there is not enough memory for this", remedy=remedy))
        except Exception as error:  # a bug in one job must not end the worker silently
            lost = True
            reply["error"] = error_to_plain(error, lost)
        self._send(reply)
        if job.afterwards is not None:
            with contextlib.suppress(Exception):  # an error appears again in the job that needs the result
                job.afterwards(job.setup)
        return not lost

    def _gpu(self) -> "CudaRunner":
        """The GPU, opened on first use. Raises DeviceError if there is none."""
        if self.gpu_error is not None:
            raise self.gpu_error
        if self.runner is None:
            from gemmviz.run.cuda.discovery import open_runner  # imported here because CuPy is slow to load

            try:
                self.runner = open_runner()
            except DeviceError as error:
                self.gpu_error = error
                raise
        return self.runner

    def _use(self, job: Job, task: "Callable[[CudaRunner, Workload], _Result]") -> "_Result":
        runner = self._gpu()
        return runner.use(job.setup, lambda work: task(runner, work))

    def _hello(self, job: Job) -> Payload:
        return {"gpu": self._gpu().gpu, "process": os.getpid()}

    def _warm(self, job: Job) -> Payload:
        self._gpu().warm_up()
        return {}

    def _trace(self, job: Job) -> Payload:
        blocks = None if job.facts.get("blocks") is None else from_plain(job.facts["blocks"], BlockRange)
        recording = from_plain(job.facts["recording"], Recording)
        trace, cost = self._use(job, lambda runner, work: runner.trace(work, blocks, recording, job.timeout_s))
        checkpoint()
        write_to_folder(trace, Path(job.facts["output"]))
        if job.facts.get("ahead"):
            job.afterwards = self._gpu().compile_ahead
        return {"cost": cost}

    def _time(self, job: Job) -> Any:
        return self._use(job, lambda runner, work: runner.time(work, job.timeout_s))

    def _code(self, job: Job) -> Payload:
        return {"code": self._use(job, lambda runner, work: runner.machine_code(work))}

    def _cublas(self, job: Job) -> Any:
        return self._use(job, lambda runner, work: runner.cublas(work, job.timeout_s))

    def _copy(self, job: Job) -> Any:
        return self._use(job, lambda runner, work: runner.copy(work))

    def _count(self, job: Job) -> Payload:
        counts = self._use(job, lambda runner, work: runner.count(work, job.timeout_s, job.progress))
        sites = list(dict.fromkeys(site for site, _, _ in counts.sums))
        sums = [[sites.index(site), place, phase, *each] for (site, place, phase), each in counts.sums.items()]
        return {"arrays": counts.arrays, "sites": sites, "sums": sums}

    def _schedule(self, job: Job) -> Payload:
        schedule = self._use(job, lambda runner, work: runner.schedule(work, job.timeout_s))
        np.savez(job.facts["output"], sm=schedule.sm, start_ns=schedule.start_ns, stop_ns=schedule.stop_ns)
        return {"tick_ns": schedule.tick_ns}

    def _host(self, job: Job) -> Any:
        problem = from_plain(job.facts["problem"], Problem)
        return to_plain(tools.METHODS[job.facts["method"]](problem.M, problem.N, problem.K))


def serve() -> int:
    """Serves on standard input and output; returns the exit code. Other output to stdout is redirected to stderr."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    code = Server(sys.stdin.buffer, replies).run()
    replies.flush()
    if code:
        os._exit(code)  # doesn't wait for a kernel that may still be running
    return code
