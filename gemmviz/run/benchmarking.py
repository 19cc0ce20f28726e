"""Runs benchmarks: times kernels at many sizes, one job of the worker at a time, so that a cancelled run keeps its rows."""

import contextlib
import platform
from collections.abc import Callable, Sequence
from datetime import date
from math import prod
from pathlib import Path

from msgspec import Struct, structs

from gemmviz.cuda.launch.catalog import load_kernel
from gemmviz.cuda.launch.legality import can_run, legal_choices, setup_for
from gemmviz.model.kernel import KernelSpec
from gemmviz.model.messages import Cancelled, GemmvizError, is_cancelled
from gemmviz.model.problem import Problem
from gemmviz.model.setup import Setup
from gemmviz.model.timing import CUBLAS, HALF, Benchmark, Measured, Transfer
from gemmviz.run.worker.remote import RemoteGpu
from gemmviz.run.worker.tools import METHODS

LONGEST_S = 1.0
_SIDE = 192
_HOST_LONGEST_S = 4.0
REFERENCES = {
    CUBLAS: "03_coalesced",
    f"{CUBLAS}, {HALF}": "13_wmma",
}  # any kernel: cuBLAS and the copies only need its matrices


class Case(Struct, frozen=True):
    """One problem to time: by a kernel or, without a setup, by cuBLAS or the host."""

    name: str
    problem: Problem
    setup: Setup | None = None

    @property
    def work(self) -> int:
        """What its time grows with: M * N * K of a multiplication, the product of the sizes of another problem."""
        return prod(self.problem.sizes.values())

    @property
    def series(self) -> tuple[str, tuple[tuple[str, int], ...]]:
        """Name and parameters, which the same case has at all sizes."""
        parameters = {} if self.setup is None else self.setup.parameters
        return self.name, tuple(parameters.items())


def cases_for(kernels: Sequence[KernelSpec], problems: Sequence[Problem], device: str) -> list[Case]:
    """Cases for cuBLAS, the host and every kernel with all its parameter choices, for each problem that it can run.

    Smaller problems come first.
    """
    cases = []
    for problem in sorted(problems, key=lambda each: each.M * each.N * each.K):
        references = {name: setup_for(load_kernel(kernel), problem, device=device) for name, kernel in REFERENCES.items()}
        cases += [Case(name, problem) for name, setup in references.items() if can_run(setup)]
        cases += [Case(method, problem) for method in METHODS]
        for kernel in kernels:
            cases += [Case(kernel.name, problem, setup) for setup in legal_choices(kernel, problem, device=device)]
    return cases


def run_benchmark(
    gpu: RemoteGpu,
    cases: Sequence[Case],
    device: str,
    *,
    longest_s: float = LONGEST_S,
    on_row: Callable[[Benchmark, int], None] = lambda benchmark, done: None,
) -> Benchmark:
    """Times the cases in turn and returns a benchmark with a row for each; if cancelled, with the rows measured so far.

    ``on_row`` gets the benchmark so far and the number of cases done. A case is left out, with a note in its row, if the time
    at the next smaller size predicts more than ``longest_s`` seconds for one launch. Raises DeviceError without a GPU.
    """
    benchmark = Benchmark(gpu.gpu(), str(date.today()), (), processor_name(), recorded=False)
    transfers: dict[tuple[Problem, str], Transfer] = {}
    before = _probe_host(gpu)
    for done, case in enumerate(cases, 1):
        try:
            row = _left_out(case, before, longest_s) or _measure(gpu, case, device, transfers)
        except Cancelled:
            break
        if row.timing is not None:
            before[case.series] = case.work, row.timing.median_ms
        benchmark = benchmark.with_row(row)
        on_row(benchmark, done)
        if is_cancelled():
            break
    return benchmark


def _probe_host(gpu: RemoteGpu) -> dict[object, tuple[int, float]]:
    """Work and time in ms of a small multiplication on the host, by series, from which longer times are predicted."""
    times: dict[object, tuple[int, float]] = {}
    for method in METHODS:
        with contextlib.suppress(GemmvizError, Cancelled):
            times[method, ()] = _SIDE**3, gpu.time_host(method, Problem(_SIDE, _SIDE, _SIDE)).median_ms
    return times


def _left_out(case: Case, before: dict[object, tuple[int, float]], longest_s: float) -> Measured | None:
    work, ms = before.get(case.series, (0, 0.0))
    limit = (_HOST_LONGEST_S if case.name in METHODS else longest_s) * 1e3
    if not work or ms * case.work / work <= limit:
        return None
    why = f"left out: one run would take about {ms * case.work / work / 1e3:.0f} s"
    return _failed(case, why)


def _failed(case: Case, why: str) -> Measured:
    if case.setup is None:
        return Measured(case.name, case.problem, failure=why)
    hashed = case.setup.kernel.text_hash
    return Measured(case.name, case.problem, None, dict(case.setup.parameters), hashed, failure=why)


def _measure(gpu: RemoteGpu, case: Case, device: str, transfers: dict[tuple[Problem, str], Transfer]) -> Measured:
    try:
        if case.name in METHODS:
            return Measured(case.name, case.problem, gpu.time_host(case.name, case.problem))
        if case.setup is None:
            setup = setup_for(load_kernel(REFERENCES[case.name]), case.problem, device=device)
            row = Measured(case.name, case.problem, gpu.time_cublas(setup))
        else:
            setup, row = case.setup, gpu.time_kernel(case.setup)
        key = case.problem, row.variant_of_inputs
        if key not in transfers:
            transfers[key] = gpu.time_copies(setup)
        return structs.replace(row, transfer=transfers[key])
    except GemmvizError as error:
        return _failed(case, str(error))


def processor_name() -> str:
    """Name of the CPU, from /proc/cpuinfo or else from Python."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return named or platform.processor() or platform.machine()
