"""Times kernels over sizes, one request to the worker at a time: so it can be called off, and what was measured stays."""

import contextlib
import itertools
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from gemmviz.files.devices import load_device
from gemmviz.model.benchmark import CUBLAS, Benchmark
from gemmviz.model.errors import Cancelled, GemmvizError, SettingError
from gemmviz.model.kernel import KernelSpec, Settings, text_hash
from gemmviz.model.problem import Problem
from gemmviz.model.timing import Measured, Transfer
from gemmviz.run.host_speed import METHODS
from gemmviz.run.remote import Cancel, RemoteGpu
from gemmviz.run.simt.interpreter import never
from gemmviz.spec.catalog import load_kernel
from gemmviz.spec.legality import launch_for, settings_for

LONGEST_S = 1.0
_PROBE = 192
_HOST_LONGEST_S = {"NumPy, one thread": 4.0, "Triple loop, one thread": 4.0}
REFERENCE = "03_coalesced"  # any kernel names the matrices: cuBLAS and the copies need no more of it


@dataclass(frozen=True)
class Job:
    """One multiplication to time: of a kernel, of a library (no spec), or of the host."""

    kernel: str
    problem: Problem
    spec: KernelSpec | None = None
    settings: Settings | None = None

    @property
    def work(self) -> int:
        return self.problem.M * self.problem.N * self.problem.K

    @property
    def series(self) -> tuple[str, tuple[tuple[str, int], ...]]:
        parameters = {} if self.settings is None else self.settings.parameters
        return self.kernel, tuple(parameters.items())


def jobs_for(specs: Sequence[KernelSpec], problems: Sequence[Problem], device: str) -> list[Job]:
    """Every kernel with every choice of its parameters and every problem that it can run, the smallest problems first; beside
    them cuBLAS and the host.
    """
    found = []
    for problem in sorted(problems, key=lambda each: each.M * each.N * each.K):
        found.append(Job(CUBLAS, problem))
        found += [Job(method, problem) for method in METHODS]
        for spec in specs:
            found += [Job(spec.name, problem, spec, settings) for settings in legal_settings(spec, problem, device)]
    return found


def legal_settings(spec: KernelSpec, problem: Problem, device: str) -> Iterator[Settings]:
    """Every choice of the kernel's parameters with which it can run this problem on this device."""
    choices = [parameter.choices or (parameter.default,) for parameter in spec.parameters]
    for values in itertools.product(*choices):
        settings = settings_for(spec, problem, dict(zip(spec.defaults, values, strict=True)))
        try:
            launch_for(spec, settings, load_device(device))
        except SettingError:
            continue
        yield settings


def run_benchmark(
    gpu: RemoteGpu,
    jobs: Sequence[Job],
    device: str,
    *,
    longest_s: float = LONGEST_S,
    measured: Callable[[Benchmark, int], None] = lambda benchmark, done: None,
    cancelled: Cancel = never,
) -> Benchmark:
    """Runs the jobs in turn and gives all rows; ``measured`` hears of every one, with how many jobs are done. Called off, it
    gives what it has.

    A job of which the next smaller one lets expect more than ``longest_s`` for one launch is left out, and says so. Raises
    DeviceError where there is no GPU.
    """
    benchmark = Benchmark(gpu.gpu(), _processor(), str(date.today()), ())
    transfers: dict[Problem, Transfer] = {}
    before = _probed(gpu, cancelled)
    for done, job in enumerate(jobs, 1):
        try:
            row = _left_out(job, before, longest_s) or _measure(gpu, job, device, transfers, cancelled)
        except Cancelled:
            break
        if row.timing is not None:
            before[job.series] = job.work, row.timing.median_ms
        benchmark = benchmark.with_row(row)
        measured(benchmark, done)
        if cancelled():
            break
    return benchmark


def _probed(gpu: RemoteGpu, cancelled: Cancel) -> dict[object, tuple[int, float]]:
    """How long the host takes for a small multiplication, by series: it tells what to leave out."""
    found: dict[object, tuple[int, float]] = {}
    for method in METHODS:
        with contextlib.suppress(GemmvizError, Cancelled):
            found[method, ()] = _PROBE**3, gpu.host(method, Problem(_PROBE, _PROBE, _PROBE), cancelled).median_ms
    return found


def _left_out(job: Job, before: dict[object, tuple[int, float]], longest_s: float) -> Measured | None:
    work, ms = before.get(job.series, (0, 0.0))
    limit = _HOST_LONGEST_S.get(job.kernel, longest_s) * 1e3
    if not work or ms * job.work / work <= limit:
        return None
    why = f"left out: one run would take about {ms * job.work / work / 1e3:.0f} s"
    return _failed(job, why)


def _failed(job: Job, why: str) -> Measured:
    parameters = {} if job.settings is None else dict(job.settings.parameters)
    source = "" if job.spec is None else text_hash(job.spec.text)
    return Measured(job.kernel, job.problem, None, parameters, source, failure=why)


def _measure(gpu: RemoteGpu, job: Job, device: str, transfers: dict[Problem, Transfer], cancelled: Cancel) -> Measured:
    try:
        if job.kernel in METHODS:
            return Measured(job.kernel, job.problem, gpu.host(job.kernel, job.problem, cancelled))
        reference = job.spec or load_kernel(REFERENCE)
        settings = job.settings or settings_for(reference, job.problem)
        if job.problem not in transfers:
            transfers[job.problem] = gpu.copy(reference, settings, device=device, cancelled=cancelled)
        if job.spec is None:
            timing = gpu.cublas(reference, settings, device=device, cancelled=cancelled)
            return Measured(job.kernel, job.problem, timing, transfer=transfers[job.problem])
        row = gpu.time(job.spec, settings, device=device, cancelled=cancelled)
        return replace(row, transfer=transfers[job.problem])
    except GemmvizError as error:
        return _failed(job, str(error))


def _processor() -> str:
    """The CPU's name, as Linux tells it, else as Python does."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return named or platform.processor() or platform.machine()
