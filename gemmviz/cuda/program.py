"""The program of a kernel with its settings: stored for the kernels that ship with gemmviz, else from the reader process, which
is replaced if it crashes or exceeds a limit.
"""

import atexit
import contextlib
import itertools
import pickle
import queue
import subprocess
import tempfile
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256
from typing import IO, Any

import msgspec
import psutil

from gemmviz.cuda.nodes import Program
from gemmviz.cuda.parser.source_text import SourceText
from gemmviz.files.resources import NO_CONSOLE, child_environment, gemmviz_command, read_frame, resource, write_frame
from gemmviz.model.kernel import BLANK, KernelSpec, place_in
from gemmviz.model.messages import ENDLESS, Cancelled, GemmvizError, InstallationError, SourceError, checkpoint

# The client side of the reader process: starts it, sends requests, and replaces it if it crashes or exceeds a limit.

READY = 0  # number of the reply that a process sends when it has started
_MOST_SECONDS = 2.0  # of a request, while it computes
_MOST_WAIT_S, _START_S, _EXIT_S = 10.0, 30.0, 5.0
_MOST_MEMORY = 1 << 30  # bytes
_POLL_S, _WATCH_AFTER_S = 0.02, 0.1
_UNWATCHED_S = 0.2  # of a request, before the first look at its time and while its process is ended


class ReaderLink:
    """A link to the reader process, usable from any thread; requests run one at a time.

    ``lost`` counts processes that crashed or were ended because of a limit. ``relay``: sends requests to another process's
    link instead; a child process that was forked can't use the pipes of its parent.
    """

    def __init__(self, command: Sequence[str] | None = None) -> None:
        self.command = list(command or gemmviz_command("reader"))
        self.lost = 0
        self.relay: Callable[[str, tuple[Any, ...]], Any] | None = None
        self._numbers = itertools.count(READY + 1)
        self._turn = threading.Lock()
        self._process: _ReaderProcess | None = None
        self._closed = False

    def run(self, name: str, *arguments: Any) -> Any:
        """The result of a request. Raises its error, SourceError if it exceeds a limit or crashes the process, and
        Cancelled.
        """
        if self.relay is not None:
            return self.relay(name, arguments)
        with self._in_turn():
            while True:
                process = self._running()
                try:
                    is_error, value = process.reply(next(self._numbers), (name, arguments))
                    break
                except _Lost as lost:
                    self._lose(process)
                    if lost.reason is not None:
                        raise lost.reason from None
        if is_error:
            raise value
        return value

    def start(self) -> None:
        """Starts the process ahead of the first request, without waiting for it. If it can't start, the request says so."""
        if self._turn.acquire(blocking=False):
            try:
                with contextlib.suppress(GemmvizError):
                    self._running()
            finally:
                self._turn.release()

    def close(self) -> None:
        """Ends the process and starts no other."""
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            process.end()

    @property
    def process_id(self) -> int | None:
        """Process id of the present process; None if there is none."""
        process = self._process
        return None if process is None else process.popen.pid

    @contextlib.contextmanager
    def _in_turn(self) -> Iterator[None]:
        """The turn of this thread. Raises Cancelled if the request is cancelled before."""
        while not self._turn.acquire(timeout=_POLL_S):
            checkpoint()
        try:
            yield
        finally:
            self._turn.release()

    def _running(self) -> "_ReaderProcess":
        if self._closed:
            raise Cancelled
        if self._process is not None and self._process.has_died_idle:
            self._process.end()
            self._process = None
        if self._process is None:
            self._process = _ReaderProcess(self.command)
        return self._process

    def _lose(self, process: "_ReaderProcess") -> None:
        """Ends a process that can't be used any more; starts the next one, so that the next request needn't wait."""
        process.end()
        if self._closed:
            raise Cancelled
        self.lost += 1
        self._process = _ReaderProcess(self.command) if process.was_ready else None


class _Lost(Exception):
    """The process can't be used any more. ``reason``: the error of the request, None if it may run in another process."""

    def __init__(self, reason: GemmvizError | None) -> None:
        super().__init__(reason)
        self.reason = reason


class _ReaderProcess:
    """One reader process, and the replies that it has sent."""

    def __init__(self, command: Sequence[str]) -> None:
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the process ends
        pipe = subprocess.PIPE
        try:
            self.popen = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._stderr, env=child_environment(), creationflags=NO_CONSOLE
            )
        except OSError as error:
            raise GemmvizError(f"the reader of kernels can't be started: {error}", id="installation") from None
        self._unanswered = deque([READY])
        self._watch = _Watch(self.popen.pid)
        self._replies: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def was_ready(self) -> bool:
        return READY not in self._unanswered

    @property
    def has_died_idle(self) -> bool:
        return not self._unanswered and self.popen.poll() is not None

    def reply(self, number: int, request: tuple[str, Any]) -> tuple[bool, Any]:
        """The reply to a request, (is_error, value). Raises Cancelled, and _Lost if the process has to be replaced."""
        self._send(number, request)
        while True:
            checkpoint()
            try:
                frame = self._replies.get(timeout=_POLL_S)
            except queue.Empty:
                self._check_limits(number)
                continue
            if frame is None:
                raise _Lost(self._crash(number))
            answered, is_error, value = pickle.loads(frame)
            self._unanswered.remove(answered)
            self._watch = _Watch(self.popen.pid)
            if answered == number:
                return is_error, value

    def end(self) -> None:
        """Kills the process and waits for its exit."""
        self.popen.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(_EXIT_S)
        self._listener.join(_EXIT_S)
        for pipe in (self.popen.stdin, self.popen.stdout, self._stderr):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]

    def _send(self, number: int, request: tuple[str, Any]) -> None:
        assert self.popen.stdin is not None
        if not self._unanswered:
            self._watch = _Watch(self.popen.pid)
        self._unanswered.append(number)
        try:
            write_frame(self.popen.stdin, pickle.dumps((number, *request), pickle.HIGHEST_PROTOCOL))
        except OSError:
            raise _Lost(self._crash(READY) if not self.was_ready else None) from None

    def _listen(self) -> None:
        assert self.popen.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while (frame := read_frame(self.popen.stdout)) is not None:
                self._replies.put(frame)
        self._replies.put(None)

    def _check_limits(self, number: int) -> None:
        """Raises _Lost if the request that runs now exceeds a limit; without a reason if it was cancelled."""
        current = self._unanswered[0]
        reason = self._watch.start_error() if current == READY else self._watch.excess()
        if reason is not None:
            raise _Lost(reason if current in (READY, number) else None)

    def _crash(self, number: int) -> GemmvizError | None:
        """The error of a request whose process has exited; None if another request is to blame."""
        if not self.was_ready:
            self._stderr.seek(0)
            last = self._stderr.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            why = "".join(f": {line}" for line in last)
            return GemmvizError(
                f"the reader of kernels can't be started{why}", remedy="install gemmviz again", id="installation"
            )
        if self._unanswered[0] != number:
            return None
        return SourceError(
            "the parser crashed on this file", remedy="leave out what is unusual in it, or report it with the file"
        )


class _Watch:
    """Time and memory of the request that a process runs. Times count from the construction."""

    def __init__(self, process_id: int) -> None:
        self._process_id = process_id
        self._since_s = time.monotonic()
        self._process: psutil.Process | None = None
        self._cpu_s = 0.0

    def start_error(self) -> GemmvizError | None:
        if time.monotonic() - self._since_s < _START_S:
            return None
        return _start_error("doesn't start")

    def excess(self) -> SourceError | None:
        """The limit that the request exceeds, as an error. On a busy computer only the process's own time counts."""
        wall_s = time.monotonic() - self._since_s
        if wall_s < _WATCH_AFTER_S:
            return None
        try:
            cpu_s, memory = self._usage()
        except psutil.Error:  # it has just exited
            return None
        if memory > _MOST_MEMORY:
            return SourceError(f"reading this file takes more than {_MOST_MEMORY >> 20} MiB", remedy=ENDLESS)
        if cpu_s > _MOST_SECONDS - _UNWATCHED_S or wall_s > _MOST_WAIT_S:
            return SourceError(f"reading this file takes longer than {_MOST_SECONDS:g} s", remedy=ENDLESS)
        return None

    def _usage(self) -> tuple[float, int]:
        """Seconds of CPU since the first call, and bytes of memory."""
        first = self._process is None
        process = self._process = self._process or psutil.Process(self._process_id)
        with process.oneshot():
            times, memory = process.cpu_times(), process.memory_info().rss
        if first:
            self._cpu_s = times.user + times.system
        return times.user + times.system - self._cpu_s, memory


def _start_error(what: str) -> GemmvizError:
    return GemmvizError(f"the reader of kernels {what}", remedy="install gemmviz again", id="installation")


@cache
def reader() -> ReaderLink:
    """The reader process of this program, started with the first request. It ends with the program."""
    link = ReaderLink()
    atexit.register(link.close)
    return link


PROGRAMS = "assets/programs/shipped.bin"  # written by make record WHAT=programs
_NAME = "kernel.cu"  # of a file without a name of its own


def macros_of(spec: KernelSpec, parameters: Mapping[str, int]) -> dict[str, str]:
    """Macros passed with -D: every parameter that the entry doesn't name as a template argument."""
    return {name: str(value) for name, value in parameters.items() if name not in spec.template_arguments}


def entry_of(spec: KernelSpec, parameters: Mapping[str, int]) -> str:
    """The kernel's name with the values of its template arguments, such as ``gemm<32, float>``."""
    arguments = ", ".join(str(parameters.get(each, each)) for each in spec.template_arguments)
    return f"{spec.function}<{arguments}>" if "<" in spec.entry else spec.function


def source_of(spec: KernelSpec, parameters: Mapping[str, int]) -> SourceText:
    """The texts that a kernel is read from."""
    own = spec.own_name or _NAME
    files = {**{each.name: each.text for each in spec.project}, own: spec.text}
    return SourceText(spec.compiled or own, files, own, macros_of(spec, parameters))


def program_for(spec: KernelSpec, parameters: Mapping[str, int]) -> Program:
    """The program of ``spec`` with its parameters set. Raises SourceError with file and place."""
    source = source_of(spec, parameters)
    try:
        return _program(
            source.main, source.shown, tuple(source.files.items()), tuple(source.macros.items()), entry_of(spec, parameters)
        )
    except SourceError as error:
        if error.place is None or error.place.line > spec.text.count("\n") + 1:  # it is about the entry, read behind the text
            error.place = place_in(spec.text, "entry")
        if spec.blanks and error.place is not None and BLANK.search(spec.text.split("\n")[error.place.line - 1]):
            error.remedy = "fill in the blank /*?*/"
        error.in_file(spec.file)
        raise


def check_source(spec: KernelSpec, parameters: Mapping[str, int]) -> None:
    """Check the whole text of a kernel's file, not the kernel alone. Raises SourceError for the first error of a compiler."""
    refusal: SourceError | None = reader().run("refusal", source_of(spec, parameters))
    if refusal is not None:
        refusal.in_file(spec.file)
        raise refusal


@lru_cache(maxsize=64)
def _program(
    main: str, shown: str, files: tuple[tuple[str, str], ...], macros: tuple[tuple[str, str], ...], entry: str
) -> Program:
    source = SourceText(main, dict(files), shown, dict(macros))
    stored = stored_programs().get(stored_name(source, entry))
    program: Program = reader().run("program", source, entry) if stored is None else pickle.loads(stored)
    return program


@cache
def stored_programs() -> dict[str, bytes]:
    """Pickled programs by ``stored_name``: those of the shipped kernels with the values that they and the lessons name."""
    with suppress(InstallationError):
        packed = zlib.decompress(resource(PROGRAMS).read_bytes())
        return msgspec.msgpack.decode(packed, type=dict[str, bytes])
    return {}


def stored_name(source: SourceText, entry: str) -> str:
    """The name under which the program of a kernel is stored; it depends on every text and option that it is read from."""
    read_from = source.main, source.shown, sorted(source.files.items()), sorted(source.macros.items()), entry
    return sha256(repr(read_from).encode()).hexdigest()
