"""Available benchmarks: shipped, opened from files, and measured here."""

from psygnal import Signal

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import parse_sizes, square_problems
from gemmviz.files.recordings import named, recorded
from gemmviz.model.errors import GemmvizError
from gemmviz.model.timing import Benchmark
from gemmviz.model.translation import capital, marked, tr
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.shots.jobs import LatestTask, Post

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
