"""The worker: a process of its own that owns the GPU, takes requests from its standard input and answers on its output.

What goes wrong with one request is its answer. Where the GPU's context is lost with it, the worker says so and ends; whoever
asks next gets a fresh one.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import numpy as np

from gemmviz.files.trace_file import hand_over, site_facts
from gemmviz.model.errors import Cancelled, DeviceError, GemmvizError, UsageError
from gemmviz.model.lanes import Window
from gemmviz.run import host_speed
from gemmviz.run.protocol import Facts, error_facts, line_of, read_kernel

if TYPE_CHECKING:
    from gemmviz.run.cuda.engine import Engine
    from gemmviz.run.cuda.workload import Workload

Result = TypeVar("Result")
LOST = 3  # the exit code of a worker whose GPU context is lost


class Request:
    """One request being served: progress goes out, a cancel comes in."""

    def __init__(self, facts: Facts, send: Callable[[Facts], None]) -> None:
        self.facts, self._send = facts, send
        self.cancel = threading.Event()

    @property
    def patience_s(self) -> float:
        """How long a launch may take."""
        return float(self.facts["patience_s"])

    def progress(self, done: int, total: int) -> None:
        self._send({"id": self.facts["id"], "progress": [done, total]})


class Server:
    """Serves one request after the other; a thread reads them, so that a cancel is heard meanwhile."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self.source, self.target = source, target
        self.engine: Engine | None = None
        self.why_not: DeviceError | None = None
        self._waiting: queue.Queue[Request | None] = queue.Queue()
        self._known: dict[int, Request] = {}
        self._lock = threading.Lock()
        self._do: dict[str, Callable[[Request], Facts]] = {
            "hello": self._hello, "trace": self._trace, "time": self._time, "cublas": self._cublas, "copy": self._copy,
            "count": self._count, "schedule": self._schedule, "host": self._host, "warm": self._warm,
        }  # fmt: skip

    def run(self) -> int:
        """Serves until its input ends; the exit code."""
        threading.Thread(target=self._read, daemon=True).start()
        while (request := self._waiting.get()) is not None:
            if not self._serve(request):
                return LOST
            self._known.pop(request.facts["id"], None)
        return 0

    def _read(self) -> None:
        try:
            for line in self.source:
                self._heard(line)
        finally:
            self._waiting.put(None)

    def _heard(self, line: bytes) -> None:
        """One line; one that says nothing is passed over."""
        try:
            facts = json.loads(line)
        except ValueError:
            return
        if not isinstance(facts, dict):
            return
        request = self._known.get(facts["cancel"]) if isinstance(facts.get("cancel"), int) else None
        if request is not None:
            request.cancel.set()
        elif isinstance(facts.get("id"), int) and isinstance(facts.get("do"), str):
            request = self._known[facts["id"]] = Request(facts, self._send)
            self._waiting.put(request)

    def _send(self, message: Facts) -> None:
        with self._lock:
            self.target.write(line_of(message))
            self.target.flush()

    def _serve(self, request: Request) -> bool:
        """Answers one request; whether another one can be served."""
        answer, lost = {"id": request.facts["id"]}, False
        try:
            if request.cancel.is_set():
                raise Cancelled
            if request.facts["do"] not in self._do:
                raise UsageError(f"the worker knows no {request.facts['do']!r}", remedy=f"it knows {', '.join(self._do)}")
            answer["result"] = self._do[request.facts["do"]](request)
        except (GemmvizError, Cancelled) as error:
            lost = _loses_context(error)
            answer["error"] = error_facts(error, lost)
        except OSError as error:
            answer["error"] = error_facts(GemmvizError(f"the worker can't hand over its result: {error}"))
        except MemoryError:
            remedy = "choose smaller sizes or fewer blocks"
            answer["error"] = error_facts(GemmvizError("there is not enough memory for this", remedy=remedy))
        except Exception as error:  # one request's bug must not end the worker without a word
            lost = True
            answer["error"] = error_facts(error, lost)
        self._send(answer)
        return not lost

    def _gpu(self) -> "Engine":
        """The engine, opened on first use. Raises DeviceError where there is no GPU to be had."""
        if self.why_not is not None:
            raise self.why_not
        if self.engine is None:
            from gemmviz.run.cuda.device import open_engine  # here: CuPy takes long to load

            try:
                self.engine = open_engine()
            except DeviceError as error:
                self.why_not = error
                raise
        return self.engine

    def _hello(self, request: Request) -> Facts:
        return {"gpu": asdict(self._gpu().gpu), "process": os.getpid()}

    def _warm(self, request: Request) -> Facts:
        self._gpu().warm_up()
        return {}

    def _use(self, request: Request, task: "Callable[[Engine, Workload], Result]") -> "Result":
        engine = self._gpu()
        return engine.use(*read_kernel(request.facts["kernel"]), lambda work: task(engine, work))

    def _trace(self, request: Request) -> Facts:
        facts = request.facts
        window = None if facts["window"] is None else Window(*(tuple(each) for each in facts["window"]))
        phases = None if facts["phases"] is None else tuple(facts["phases"])
        trace, cost = self._use(
            request,
            lambda engine, work: engine.trace(
                work, window, phases=phases, values=facts["values"], origins=facts["origins"],
                limit_bytes=facts["limit_bytes"], patience_s=facts["patience_s"],
            ),
        )  # fmt: skip
        if request.cancel.is_set():
            raise Cancelled
        hand_over(trace, Path(facts["output"]))
        return {"cost": asdict(cost)}

    def _time(self, request: Request) -> Facts:
        return asdict(self._use(request, lambda engine, work: engine.time(work, request.patience_s, request.cancel.is_set)))

    def _cublas(self, request: Request) -> Facts:
        return asdict(self._use(request, lambda engine, work: engine.cublas(work, request.patience_s, request.cancel.is_set)))

    def _copy(self, request: Request) -> Facts:
        return asdict(self._use(request, lambda engine, work: engine.copy(work)))

    def _count(self, request: Request) -> Facts:
        progress, cancelled = request.progress, request.cancel.is_set
        found = self._use(request, lambda engine, work: engine.count(work, request.patience_s, progress, cancelled))
        sites = list(dict.fromkeys(site for site, _ in found.sums))
        return {
            "arrays": [asdict(array) for array in found.arrays],
            "sites": [site_facts(site) for site in sites],
            "sums": [[sites.index(site), phase, *sums] for (site, phase), sums in found.sums.items()],
        }

    def _schedule(self, request: Request) -> Facts:
        found = self._use(request, lambda engine, work: engine.schedule(work, request.patience_s))
        np.savez(request.facts["output"], sm=found.sm, start_ns=found.start_ns, stop_ns=found.stop_ns)
        return {"tick_ns": found.tick_ns}

    def _host(self, request: Request) -> Facts:
        sizes = request.facts["problem"]
        return asdict(host_speed.METHODS[request.facts["method"]](sizes["M"], sizes["N"], sizes["K"]))


def _loses_context(error: Exception) -> bool:
    return any(kind.__name__ == "LostContext" for kind in type(error).__mro__)


def serve() -> int:
    """Serves on standard input and output; what else is printed there goes to standard error. The exit code."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    code = Server(sys.stdin.buffer, answers).run()
    answers.flush()
    if code:
        os._exit(code)  # a kernel may still be running: nothing waits for it
    return code
