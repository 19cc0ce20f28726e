"""The other end of the worker's pipes: starts a worker when it is needed, and a fresh one after one was lost."""

import contextlib
import itertools
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from gemmviz.model.cancelling import is_cancelled
from gemmviz.model.errors import Cancelled, DeviceError
from gemmviz.run.protocol import Payload, error_from_plain, line_of
from gemmviz.run.worker.host_speed import one_thread_environment

_POLL_S = 0.02
_EXIT_TIMEOUT_S, _STUCK_S = 0.2, 3.0
_NO_CONSOLE = 0x08000000 if os.name == "nt" else 0
Answers = queue.Queue[Payload]


def gemmviz_command(*words: str) -> list[str]:
    """How this program starts itself with other words. Nothing is imported from the folder that it is started in."""
    frozen = getattr(sys, "frozen", False)
    return [sys.executable, *words] if frozen else [sys.executable, "-P", "-m", "gemmviz", *words]


class WorkerLink:
    """Runs jobs for any thread; the worker serves them in turn. ``lost`` counts workers that ended before their time."""

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
        cancelled: Callable[[], bool] = is_cancelled,
        progress: Callable[[int, int], None] | None = None,
    ) -> Payload:
        """The worker's result. Raises what went wrong there, Cancelled, or DeviceError where the worker itself is lost."""
        if cancelled():
            raise Cancelled
        number = next(self._numbers)
        message = {"id": number, "do": do, **(facts or {})}
        process, answers = self._submit(number, message)
        while True:
            if cancelled():
                process.call_off(number)
                raise Cancelled
            try:
                answer = answers.get(timeout=_POLL_S)
            except queue.Empty:
                if process.is_stuck:
                    self._lose(process)
                    process, answers = self._submit(number, message)
                continue
            if "progress" in answer:
                if progress is not None:
                    progress(*answer["progress"])
            elif "error" in answer:
                if answer.get("terminated") and process.retired:
                    process, answers = self._submit(number, message)  # it was terminated because of another job
                    continue
                self._after_error(process, answer["error"])
                raise error_from_plain(answer["error"])
            else:
                return answer["result"]  # type: ignore[no-any-return]

    def stop(self, timeout_s: float = _EXIT_TIMEOUT_S) -> None:
        """Terminates the worker, if there is one."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.terminate(timeout_s)

    def close(self, timeout_s: float = _EXIT_TIMEOUT_S) -> None:
        """Terminates the worker; there will be no other. ``timeout_s``: how long it may take to end by itself."""
        self._closed = True
        self.stop(timeout_s)

    @property
    def process_id(self) -> int | None:
        """Of the present worker."""
        return None if self._process is None else self._process.popen.pid

    def _submit(self, number: int, message: Payload) -> "tuple[_WorkerProcess, Answers]":
        with self._lock:
            if self._closed:
                raise Cancelled
            if self._process is None or not self._process.alive:
                if self._process is not None:
                    self._process.terminate()
                self._process = _WorkerProcess(self.command)
            process = self._process
            answers = process.expect(number)
        process.send(message)
        return process, answers

    def _after_error(self, process: "_WorkerProcess", facts: Payload) -> None:
        if facts.get("fatal"):
            self._lose(process)

    def _lose(self, process: "_WorkerProcess") -> None:
        """Terminates a worker that is of no more use; a fresh one is started for the next job."""
        with self._lock:
            first = not process.retired
            process.retired = True
            self.lost += first
            if self._process is process:
                self._process = None
        if first:
            process.terminate(timeout_s=0.0)


class _WorkerProcess:
    """One worker: its pipes, and whoever waits for its answers."""

    def __init__(self, command: Sequence[str]) -> None:
        package = str(Path(__file__).resolve().parent.parent.parent)
        environment = one_thread_environment()
        environment["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the worker ends
        pipe = subprocess.PIPE
        try:
            self.popen = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._errors, env=environment, creationflags=_NO_CONSOLE
            )
        except OSError as error:
            raise DeviceError(f"the GPU's worker can't be started: {error}") from None
        self._waiting: dict[int, Answers] = {}
        self._called_off: dict[int, float] = {}  # since when, until the worker has answered
        self._lock = threading.Lock()
        self._answered = 0.0  # when it last answered a job
        self._outbox: queue.Queue[bytes | None] = queue.Queue()
        self.alive = True
        self.retired = False  # terminated because of a job that was answered
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        threading.Thread(target=self._write, daemon=True).start()

    def expect(self, number: int) -> Answers:
        with self._lock:
            answers = self._waiting[number] = queue.Queue()
        return answers

    def call_off(self, number: int) -> None:
        """Nobody waits for this job any more."""
        with self._lock:
            if self._waiting.pop(number, None) is not None:
                self._called_off[number] = time.monotonic()
        self.send({"cancel": number})

    @property
    def is_stuck(self) -> bool:
        """Whether it is still at a job that was called off long ago: its kernel never ends, or it was stopped. It serves
        jobs in turn, so it is at the first that it hasn't answered.
        """
        with self._lock:
            at = min((*self._waiting, *self._called_off), default=0)
            since = max(self._called_off.get(at, math.inf), self._answered)
        return time.monotonic() - since > _STUCK_S

    def send(self, message: Payload) -> None:
        """Never waits: a worker that was stopped doesn't read."""
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
        """Closes its input, and kills it where that is not enough."""
        self.alive = False
        self._outbox.put(None)
        try:
            self.popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # the driver may take its time to let it go
                self.popen.wait(_EXIT_TIMEOUT_S)
        self._listener.join(_EXIT_TIMEOUT_S)
        self._errors.close()

    def _listen(self) -> None:
        for line in self._lines():
            try:
                answer: Any = json.loads(line)
            except ValueError:
                continue
            if not isinstance(answer, dict):
                continue
            with self._lock:
                if "progress" not in answer:
                    self._called_off.pop(answer.get("id", 0), None)
                    self._answered = time.monotonic()
                waiting = self._waiting.get(answer.get("id", 0))
                if waiting is not None and "progress" not in answer:
                    self._waiting.pop(answer["id"])
            if waiting is not None:
                waiting.put(answer)
        self._report_exit()

    def _lines(self) -> Iterator[bytes]:
        assert self.popen.stdout is not None
        with contextlib.suppress(ValueError, OSError), self.popen.stdout:
            yield from self.popen.stdout

    def _report_exit(self) -> None:
        """Tells all who wait that the worker is gone."""
        self.alive = False
        self._outbox.put(None)
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        if waiting:
            remedy = "a new one is started for the next run"
            error: Payload = {"kind": "DeviceError", "message": self._exit_message(), "remedy": remedy, "fatal": True}
            for answers in waiting.values():
                answers.put({"error": error, "terminated": True})

    def _exit_message(self) -> str:
        try:
            code = self.popen.wait(_EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return "the GPU's worker doesn't answer any more"
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        try:
            self._errors.seek(0)
            last = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        except ValueError:  # closed meanwhile
            last = []
        return f"the GPU's worker {how}" + (f": {last[-1]}" if last else "")
