"""Work in the background: tasks of which only the latest counts, engines, and files that are written, watched or trusted; and
the available benchmarks.
"""

import hashlib
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from msgspec import structs
from psygnal import Signal

from gemmviz.cuda.launch.catalog import is_shipped_kernel, kernel_names, load_kernel
from gemmviz.cuda.launch.legality import parse_sizes, square_problems
from gemmviz.files.codec import to_json
from gemmviz.files.devices import device_of
from gemmviz.files.recordings import named, recorded
from gemmviz.model.device import DEFAULT_DEVICE, Gpu
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import Cancelled, DeviceError, GemmvizError, cancellable, capital, marked, tr
from gemmviz.model.timing import Benchmark
from gemmviz.run.choosing import engine_for, has_cupy
from gemmviz.run.engine import Engine, FallbackEngine
from gemmviz.run.stored import RecordedTimes
from gemmviz.run.worker.remote import RemoteGpu

# The type of the function that hands a call to the thread that owns a session. Signals themselves are psygnal's.

Post = Callable[[Callable[[], None]], None]


_TaskResult = TypeVar("_TaskResult")
_TOO_LITTLE_MEMORY = marked("there is not enough memory for this")


class LatestTask(Generic[_TaskResult]):
    """Runs one function at a time on a worker thread; starting another one cancels the one before.

    ``post`` runs a function on the thread that owns the task. ``on_done`` gets the result and ``on_failed`` the error there;
    neither is called for cancelled work. ``last`` is the future of the latest work.
    """

    def __init__(self, post: Post, on_done: Callable[[_TaskResult], Any], on_failed: Callable[[GemmvizError], Any]) -> None:
        self._post, self._on_done, self._on_failed = post, on_done, on_failed
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gemmviz")
        self.last: Future[None] | None = None
        self._cancel = threading.Event()
        self._closed = False
        self.is_busy = False

    def start(self, work: Callable[[], _TaskResult], delay_s: float = 0.0) -> None:
        """Cancels the present work and runs ``work`` after it has ended, at least ``delay_s`` seconds from now."""
        self.cancel()
        if not self._closed:
            self._cancel = threading.Event()
            self.is_busy = True
            self.last = self._pool.submit(self._run, work, self._cancel, delay_s)

    def cancel(self) -> None:
        self._cancel.set()
        self.is_busy = False

    def close(self) -> None:
        """Cancels and accepts no more work. ``wait_for_tasks`` waits for the end."""
        self._closed = True
        self.cancel()
        self._pool.shutdown(wait=False)

    def _run(self, work: Callable[[], _TaskResult], cancel: threading.Event, delay_s: float) -> None:
        if cancel.wait(delay_s) if delay_s else cancel.is_set():
            return
        try:
            with cancellable(cancel.is_set):
                result = work()
        except Cancelled:
            return
        except GemmvizError as error:
            self._deliver(cancel, self._on_failed, error.kept())
        except MemoryError:
            too_much = GemmvizError(tr(_TOO_LITTLE_MEMORY), remedy=tr("choose smaller sizes or fewer blocks"))
            self._deliver(cancel, self._on_failed, too_much)
        except Exception as error:  # a bug in one task must not end the program
            self._deliver(
                cancel,
                self._on_failed,
                GemmvizError(tr("internal error: {name}: {error}", name=type(error).__name__, error=error)),
            )
        else:
            self._deliver(cancel, self._on_done, result)

    def _deliver(self, cancel: threading.Event, callback: Callable[[Any], Any], outcome: Any) -> None:
        def deliver() -> None:
            if cancel is self._cancel and not cancel.is_set():
                self.is_busy = False
                callback(outcome)

        self._post(deliver)


def wait_for_tasks(tasks: Iterable[LatestTask[Any]], timeout_s: float) -> bool:
    """Waits at most ``timeout_s`` seconds for the work of all tasks; returns whether it has ended."""
    return not wait([task.last for task in tasks if task.last is not None], timeout_s).not_done


# Writes files in the background, one after the other, without losing any.


class SaveQueue:
    """A queue of files to write. ``post`` runs a function on the thread that owns the queue: callbacks are called there."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gemmviz-saving")
        self._last: Future[None] | None = None

    def start(
        self,
        path: Path,
        write: Callable[[Path], None],
        on_saved: Callable[[Path], None],
        on_failed: Callable[[GemmvizError], None],
        at_once: bool = False,
    ) -> None:
        """Writes a file, then calls ``on_saved`` with its path, or ``on_failed``. ``at_once``: here, before returning."""

        def work() -> None:
            try:
                write(path)
            except GemmvizError as failure:
                error = failure
                self._post(lambda: on_failed(error))
            except Exception as failure:  # no save fails silently
                unexpected = GemmvizError(
                    tr("can't write: {name} {failure}", name=type(failure).__name__, failure=failure), file=str(path)
                )
                self._post(lambda: on_failed(unexpected))
            else:
                self._post(lambda: on_saved(path))

        if at_once:
            work()
        else:
            self._last = self._pool.submit(work)

    def close(self, timeout_s: float) -> bool:
        """Accepts no more files. Returns whether all are written within ``timeout_s`` seconds."""
        self._pool.shutdown(wait=False)
        return self._last is None or not wait([self._last], timeout_s).not_done


# Watches one file for changes by polling, so that a file that is deleted and written again is noticed too.

_FILE_POLL_S = 0.2
_FileState = tuple[int, int, int]


class FileWatcher:
    """A watcher of one file. ``on_changed`` is called through ``post`` once a changed file stays the same for 0.2 s."""

    def __init__(self, post: Post, on_changed: Callable[[], None]) -> None:
        self._post, self._on_changed = post, on_changed
        self._stop = threading.Event()

    def follow(self, path: Path | None) -> None:
        """Watches this file instead of the one before; None stops watching."""
        self._stop.set()
        self._stop = threading.Event()
        if path is not None:
            state = _file_state(path)
            threading.Thread(target=self._watch, args=(path, state, self._stop), name="gemmviz-file", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def _watch(self, path: Path, reported: _FileState | None, stop: threading.Event) -> None:
        before = reported
        while not stop.wait(_FILE_POLL_S):
            now = _file_state(path)
            if now is not None and now != reported and now == before:
                reported = now
                self._post(lambda: None if stop.is_set() else self._on_changed())
            before = now


def _file_state(path: Path) -> _FileState | None:
    """Modification time in ns, size in bytes and inode of a file; None if there is no file."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


# The kernels that may run on the GPU: those that ship with gemmviz, and those that the user allowed.

_MOST_HASHES = 500


class Trust:
    """The kernels that the user allowed: ``hashes`` of their text and launch, latest last. ``changed`` is emitted for more."""

    changed = Signal()

    def __init__(self) -> None:
        self.hashes: tuple[str, ...] = ()

    def includes(self, kernel: KernelSpec) -> bool:
        """Whether a kernel may run on the GPU."""
        return is_shipped_kernel(kernel) or _hash(kernel) in self.hashes

    def add(self, kernel: KernelSpec) -> None:
        """Allows a kernel with this text and launch. Another text in the same file is another kernel."""
        added = _hash(kernel)
        self.hashes = (*(each for each in self.hashes if each != added), added)[-_MOST_HASHES:]
        self.changed.emit()


def _hash(kernel: KernelSpec) -> str:
    plain = to_json(structs.replace(kernel, name="", file="", title="", description="", is_shipped=False))
    return hashlib.sha256(plain).hexdigest()


# The engines of this machine, the CPU and a GPU if there is one, and the choice between them for each kernel.

EngineName = Literal["cpu", "gpu"]


class Engines:
    """The engines that a session can use, and which of them runs a kernel.

    ``look`` searches for the GPU in a worker process; ``gpu_known`` is emitted once it is found or known to be missing.
    ``changed`` is emitted when kernels run on another engine from now on. Kernels that don't ship with gemmviz run in the
    interpreter until ``trust`` includes them.
    """

    gpu_known = Signal()
    changed = Signal()

    def __init__(self, post: Post, requested: EngineName = "gpu") -> None:
        from gemmviz.run.worker.remote import RemoteGpu

        self.remote = RemoteGpu(ahead=True)
        self.requested: EngineName = requested
        self.trust = Trust()
        self.gpu: Gpu | None = None
        self.gpu_error: GemmvizError | None = None
        self.has_cupy = False
        self.recorded = RecordedTimes()
        self.cpu = engine_for("cpu")
        self._gpu = FallbackEngine(self.remote, self.cpu)
        self.worker: LatestTask[Gpu] = LatestTask(post, self.on_gpu_found, self.on_gpu_missing)

    @property
    def chosen(self) -> EngineName:
        """The engine that runs kernels now: the requested one, or the CPU while no GPU is known."""
        return self.requested if self.gpu is not None else "cpu"

    def engine_for(self, kernel: KernelSpec) -> Engine:
        """The engine that runs this kernel."""
        return self._gpu if self.chosen == "gpu" and self.trust.includes(kernel) else self.cpu

    def needs_permission(self, kernel: KernelSpec) -> bool:
        """Whether this kernel would run on the GPU if the user allowed it."""
        return self.chosen == "gpu" and not self.trust.includes(kernel)

    def allow_on_gpu(self, kernel: KernelSpec) -> None:
        """Trusts this kernel: it runs on the GPU from now on."""
        self.trust.add(kernel)
        self.changed.emit()

    @property
    def device(self) -> str:
        """Name of the device file of this machine's GPU, or of the default device."""
        return (device_of(self.gpu) if self.gpu is not None else None) or DEFAULT_DEVICE

    def choose(self, engine: EngineName) -> None:
        """Requests an engine. Without a GPU, the CPU runs the kernels."""
        before, self.requested = self.chosen, engine
        if self.chosen != before:
            self.changed.emit()

    def set_timeout(self, seconds: float) -> None:
        """Limits one launch on the GPU to this many seconds."""
        self.remote.timeout_s = seconds

    def look(self) -> None:
        """Searches for a GPU in the background."""
        from gemmviz.files.extras import cupy_command

        if has_cupy():
            self.has_cupy = True
            self.worker.start(self._open_gpu)
        else:
            self.on_gpu_missing(DeviceError(tr("CuPy is not installed"), remedy=cupy_command()))

    def close(self) -> None:
        self.worker.close()
        self.remote.close()

    def _open_gpu(self) -> Gpu:
        gpu = self.remote.gpu()
        self.remote.warm_up()
        return gpu

    def on_gpu_found(self, gpu: Gpu) -> None:
        self.gpu, self.gpu_error = gpu, None
        self.gpu_known.emit()
        if self.chosen == "gpu":
            self.changed.emit()

    def on_gpu_missing(self, error: GemmvizError) -> None:
        self.gpu_error = error
        self.gpu_known.emit()


# Available benchmarks: shipped, opened from files, and measured here.

HERE = marked("measured here")


class Benchmarks:
    """Benchmarks by name, those measured here first. Signals: ``changed`` when there are other benchmarks or more rows;
    ``failed`` with an error.
    """

    changed = Signal()
    failed = Signal(object)

    def __init__(self, post: Post) -> None:
        self.done, self.cases = 0, 0
        self._post = post
        self._others: dict[str, Benchmark] = {}
        self._measured: Benchmark | None = None
        self.worker: LatestTask[Benchmark] = LatestTask(post, self._on_done, self._on_failed)

    @property
    def all(self) -> dict[str, Benchmark]:
        """All benchmarks by name."""
        here = {} if self._measured is None else {capital(tr(HERE)): self._measured}
        return {**here, **recorded(), **self._others}

    def named(self, name: str) -> Benchmark | None:
        """The benchmark of this name, otherwise the first; None if there are none."""
        return named(self.all, name)

    def add(self, benchmark: Benchmark, file: str) -> str:
        """Add the benchmark from a file. Returns its name."""
        name = f"{file}, {benchmark.gpu.name}, {benchmark.date}"
        self._others[name] = benchmark
        self.changed.emit()
        return name

    # Measuring

    @property
    def is_measuring(self) -> bool:
        return self.worker.is_busy

    @property
    def progress(self) -> str:
        """Progress of the measurement, and the row measured last, for display."""
        row = None if self._measured is None or not self.done else self._measured.rows[-1]
        latest = "" if row is None else f": {row.label}, {row.problem}"
        return tr("{done} of {cases}{latest}", done=self.done, cases=self.cases, latest=latest)

    def measure(self, gpu: RemoteGpu, device: str, sizes: str) -> None:
        """Measure all kernels at sizes such as "128:4096". Raises UsageError for invalid sizes."""
        from gemmviz.run.benchmarking import cases_for, run_benchmark

        problems = square_problems(parse_sizes(sizes.replace(" ", "")))
        cases = cases_for([load_kernel(name) for name in kernel_names()], problems, device)
        self.done, self.cases = 0, len(cases)

        def measured(benchmark: Benchmark, done: int) -> None:
            self._post(lambda: self._on_measured(benchmark, done))

        def work() -> Benchmark:
            return run_benchmark(gpu, cases, device, on_row=measured)

        self.worker.start(work)
        self.changed.emit()

    def cancel(self) -> None:
        """Stop measuring; finished measurements are kept."""
        self.worker.cancel()
        self.changed.emit()

    def _on_measured(self, benchmark: Benchmark, done: int) -> None:
        if self.is_measuring:
            self._measured, self.done = benchmark, done
            self.changed.emit()

    def _on_done(self, benchmark: Benchmark) -> None:
        self.changed.emit()

    def _on_failed(self, error: GemmvizError) -> None:
        self.changed.emit()
        self.failed.emit(error)
