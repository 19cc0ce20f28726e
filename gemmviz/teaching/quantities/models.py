"""Quantities of models and of recordings: growth, speed-up, latency, recorded access times, benchmarks and host calls."""

from typing import Literal

from gemmviz.analysis.models import data_bytes, largest_held, parallelism_of, span_of, work_of
from gemmviz.files.recordings import reported_shares
from gemmviz.model.cases import AmdahlCase, CauseKind, Ladder, SpeedCase, TripCase
from gemmviz.model.messages import UsageError, marked, tr
from gemmviz.model.problem import Problem
from gemmviz.model.recording import AccessTimesCase, HostRun, MemoryPlace, StreamRuns, StrideTimes, TransferCase
from gemmviz.model.timing import CUBLAS, Measured
from gemmviz.run.stored import recorded_speed
from gemmviz.scenes.charts.models import blocks_at
from gemmviz.scenes.charts.speeds import per_thread_rows
from gemmviz.shots.kinds.counted import speed_case_of
from gemmviz.shots.knowledge import Knowledge
from gemmviz.shots.subject import value_of
from gemmviz.teaching.quantities.quantity import Whole, quantity


def _multiply_problem(facts: Knowledge) -> Problem:
    """The problem of a multiplication. Raises UsageError for another one."""
    if not facts.setup.problem.is_multiply:
        raise UsageError(tr("this model is of a multiplication of matrices"))
    return facts.setup.problem


@quantity("work", origin="definition")
def work(facts: Knowledge) -> int:
    """Operations of the multiplication, 2 M N K."""
    return work_of(_multiply_problem(facts))


@quantity("span", origin="definition")
def span(facts: Knowledge) -> int:
    """Operations of the longest chain, each of which needs the one before: a product and K additions, K + 1."""
    return span_of(_multiply_problem(facts))


@quantity("parallelism", origin="definition")
def parallelism(facts: Knowledge) -> float:
    """Work divided by span."""
    return parallelism_of(_multiply_problem(facts))


@quantity(marked("MiB of the matrices"), origin="definition")
def matrix_mebibytes(facts: Knowledge) -> float:
    """Size of A, B and C in MiB."""
    return data_bytes(_multiply_problem(facts)) / 2**20


@quantity(marked("largest N that the cache holds"), origin="model")
def largest_cached_size(facts: Knowledge) -> int:
    """Largest N of which three N × N matrices fit the device's last-level cache; 0 for a device without one."""
    return largest_held(facts.device.last_level_cache)


@quantity(marked("MiB of the matrices that don't fit the cache"), origin="model")
def uncached_mebibytes(facts: Knowledge) -> float:
    """Size of the part of A, B and C beyond the device's last-level cache, in MiB."""
    return max(0, data_bytes(_multiply_problem(facts)) - facts.device.last_level_cache) / 2**20


@quantity(marked("blocks at N = {n}"), origin="definition")
def block_count_at(facts: Knowledge, n: Whole) -> int:
    """Blocks of an N × N problem, with square blocks of the width that the shot's chart selects."""
    return blocks_at(n, facts.shot.chart.width or 1)


@quantity(marked("blocks for each SM of the recorded GPU at N = {n}"), origin="definition")
def blocks_per_sm_at(facts: Knowledge, n: Whole) -> float:
    """Blocks of an N × N problem divided by the multiprocessors of the GPU of the shot's recording."""
    return blocks_at(n, facts.shot.chart.width or 1) / facts.benchmark.gpu.sms


@quantity(marked("times as fast at most, with copies[, at N = {n}]"), origin="recorded")
def speedup_limit(facts: Knowledge, n: Whole = 0) -> float:
    """How many times faster a program with the slowest recorded kernel gets if its kernel takes no time but its copies do."""
    case = value_of(AmdahlCase, facts)
    limits = dict(case.limits)
    if (n or case.n) not in limits:
        raise UsageError(tr("no copies were recorded at N = {n}", n=n))
    return limits[n or case.n]


@quantity(marked("times as fast with {kernel}, copies included"), origin="recorded")
def speedup_with_copies(facts: Knowledge, kernel: str) -> float:
    """How many times faster a program is with a kernel than with the slowest recorded one, copies included in both."""
    case = value_of(AmdahlCase, facts)
    if kernel not in case.names:
        raise UsageError(tr("{kernel} is not among the kernels that are compared", kernel=kernel))
    return case.gain(case.names.index(kernel))


@quantity(marked("cycles of a load, {elements} elements {stride} bytes apart"), origin="recorded")
def stride_cycles(facts: Knowledge, stride: Whole, elements: Whole) -> float:
    """Recorded cycles of a load from the nearest cache that holds its chain, each load waiting for the one before."""
    rows = value_of(StrideTimes, facts).of("L1").get(stride, [])
    found = next((row.cycles for row in rows if row.elements == elements), None)
    if found is None:
        raise UsageError(
            tr("no chain of {elements} elements {stride} bytes apart was recorded", elements=elements, stride=stride)
        )
    return found


@quantity(marked("nanoseconds until a word from memory arrives"), origin="recorded")
def trip_ns(facts: Knowledge) -> float:
    """Recorded access time of global memory outside all caches, in ns."""
    return value_of(TripCase, facts).trip_ns


@quantity(marked("thousands of words that memory delivers meanwhile"), origin="model")
def words_meanwhile_thousands(facts: Knowledge) -> float:
    """Words of 4 bytes at the published bandwidth during the recorded access time, in thousands."""
    return value_of(TripCase, facts).words / 1000


@quantity(marked("cycles of an access to {memory}"), origin="recorded")
def access_cycles(facts: Knowledge, memory: MemoryPlace) -> float:
    """Recorded cycles from an access of a memory to the next one, which depends on it."""
    cycles = value_of(AccessTimesCase, facts).times.cycles(memory)
    if cycles is None:
        raise UsageError(tr("no access to {memory} was recorded", memory=memory))
    return cycles


def _with_n(facts: Knowledge) -> list[Measured]:
    """The rows of multiplications, which alone have an N."""
    return [row for row in facts.benchmark.rows if row.problem.is_multiply]


@quantity(marked("GFLOP/s of {kernel}[, {width} wide,][ at N = {n}]"), origin="recorded")
def gflops(facts: Knowledge, kernel: str, n: Whole = 0, width: Whole = 0) -> float:
    """Recorded rate in GFLOP/s at N, or that of the shot, of the fastest parameters or of those with ``width`` (default: the
    chart's). A name is written without its commas: ``04_tiled double``, ``Triple loop one thread``.
    """
    return _fastest_row(facts, kernel, n, width).gflops or 0.0


@quantity(marked("GFLOP/s of this launch"), origin="recorded")
def launch_gflops(facts: Knowledge) -> float:
    """Recorded rate of exactly the shot's launch in GFLOP/s. Raises UsageError if it was not recorded."""
    rate = recorded_speed(facts.setup).measured.gflops
    if rate is None:
        raise UsageError(tr("{kernel} was not recorded", kernel=facts.setup.kernel.name))
    return rate


@quantity(marked("GFLOP/s of the compared launch"), origin="recorded")
def compared_launch_gflops(facts: Knowledge) -> float:
    """The same of the launch that the shot compares with. Raises UsageError where there is none."""
    return float(launch_gflops.compute(facts.compared))


@quantity(marked("percent of cuBLAS with {elements} elements for each thread"), origin="recorded")
def per_thread_percent(facts: Knowledge, elements: Whole) -> float:
    """Recorded share of cuBLAS's rate, of the fastest launch whose threads compute as many elements, in percent."""
    return 100 * (facts.benchmark.share_of_cublas(_per_thread(facts, elements)) or 0)


@quantity(marked("percent of an SM's warps with {elements} elements for each thread"), origin="recorded")
def per_thread_occupancy(facts: Knowledge, elements: Whole) -> float:
    """Occupancy of that launch in percent, from the registers and the shared memory that were recorded with it."""
    resources = _per_thread(facts, elements).resources
    return 0 if resources is None else 100 * resources.occupancy.share


def _per_thread(facts: Knowledge, elements: int) -> Measured:
    rows = per_thread_rows(facts.benchmark)
    if elements not in rows:
        raise UsageError(tr("no launch with {elements} elements for each thread was recorded", elements=elements))
    return rows[elements]


@quantity(marked("milliseconds that {cause} costs"), origin="model")
def cause_ms(facts: Knowledge, cause: CauseKind) -> float:
    """Time that a cause of the launch's speed takes in the model of the view that explains it, in ms; 0 if it isn't one."""
    return next((each.cost_ms or 0 for each in _speed_case(facts).causes if each.kind == cause), 0)


@quantity(marked("milliseconds of the launch in the model"), origin="model")
def model_ms(facts: Knowledge) -> float:
    """Time of the launch in that model, in ms. Raises UsageError for a device for which it doesn't hold."""
    time_ms = _speed_case(facts).model_ms
    if time_ms is None:
        raise UsageError(tr("the model of time doesn't hold for this device"))
    return time_ms


def _speed_case(facts: Knowledge) -> SpeedCase:
    return speed_case_of(facts.shot, facts.counts, None)


@quantity(marked("GFLOP/s of {kernel} with its copies at N = {n}"), origin="recorded")
def gflops_with_copies(facts: Knowledge, kernel: str, n: Whole) -> float:
    """Recorded rate in GFLOP/s, with the copies of A and B to the GPU and of C back."""
    rate = _fastest_row(facts, kernel, n).gflops_with_transfer
    if rate is None:
        raise UsageError(tr("no copies of {kernel} were recorded at N = {n}", kernel=kernel, n=n))
    return rate


@quantity(marked("percent of cuBLAS that {kernel} reaches[ at N = {n}]"), origin="recorded")
def cublas_percent(facts: Knowledge, kernel: str, n: Whole = 0) -> float:
    """Recorded rate as a share of cuBLAS's at N, or that of the shot, in percent."""
    row = _fastest_row(facts, kernel, n)
    share = facts.benchmark.share_of_cublas(row)
    if share is None:
        raise UsageError(tr("cuBLAS was not recorded at N = {n}", n=row.problem.N))
    return 100 * share


@quantity(marked("percent of cuBLAS that {kernel} reaches on the ladder"), origin="recorded")
def ladder_percent(facts: Knowledge, kernel: str) -> float:
    """Recorded share of a rung of the ladder, in percent. Raises UsageError for a kernel that isn't one."""
    found = next((each for each in value_of(Ladder, facts).rungs if each.kernel == kernel), None)
    if found is None:
        raise UsageError(tr("{kernel} was not recorded", kernel=kernel))
    return found.percent


@quantity(marked("percent of cuBLAS that part {part} reports for {kernel}"), origin="reported")
def reported_percent(facts: Knowledge, part: Whole, kernel: str) -> float:
    """Share of cuBLAS that a part of the course reports for large matrices, in percent. The course names no device."""
    found = next((each for each in reported_shares() if (each.part, each.kernel) == (part, kernel)), None)
    if found is None:
        raise UsageError(tr("part {part} of the course reports no share of cuBLAS for {kernel}", part=part, kernel=kernel))
    return found.percent


@quantity(marked("largest N of {kernel}"), origin="recorded")
def largest_recorded(facts: Knowledge, kernel: str) -> int:
    """The largest N at which a kernel was timed, with the chart's width. Raises UsageError if it never was."""
    sizes = [row.problem.N for row in _with_n(facts) if row.kernel == kernel and row.gflops is not None]
    if not sizes:
        raise UsageError(tr("{kernel} was not recorded", kernel=kernel))
    return max(sizes)


@quantity(marked("speedup of {kernel} over {base} at N = {n}"), origin="recorded")
def speedup(facts: Knowledge, kernel: str, base: str, n: Whole) -> float:
    """Recorded rate of a kernel divided by that of another."""
    slower = _fastest_row(facts, base, n).gflops
    return (_fastest_row(facts, kernel, n).gflops or 0.0) / slower if slower else 0.0


@quantity(marked("multiprocessors of the recorded GPU"), origin="recorded")
def recorded_sms(facts: Knowledge) -> int:
    """Multiprocessors of the GPU of the shot's recording, whatever the shot's own device is."""
    return facts.benchmark.gpu.sms


@quantity(marked("microseconds of the benchmark's copies at N = {n}"), origin="recorded")
def benchmark_copy_us(facts: Knowledge, n: Whole) -> float:
    """Recorded time of the copies to the device and back, in µs."""
    row = next((row for row in _with_n(facts) if n == row.problem.N and row.transfer is not None), None)
    if row is None or row.transfer is None:
        raise UsageError(tr("no copies were recorded at N = {n}", n=n))
    return row.transfer.total_ms * 1e3


@quantity(marked("N of the recorded host calls"), origin="recorded")
def host_run_size(facts: Knowledge) -> int:
    """N of the recorded calls. Raises UsageError for a launch whose calls were not recorded."""
    return _host_runs(facts)[0].n


@quantity(marked("copies to the device"), origin="counts")
def copies_to_device(facts: Knowledge) -> int:
    """Copies from host to device that the launch needs: of A and B, and of C if the kernel reads it."""
    return sum(call.is_to_device for call in value_of(TransferCase, facts).calls)


@quantity(marked("microseconds of copies with {memory} memory"), origin="recorded")
def host_copy_us(facts: Knowledge, memory: Literal["pageable", "pinned"]) -> float:
    """Recorded time of all copies of one run, in µs."""
    return next(run.total("Memcpy") for run in _host_runs(facts) if run.memory == memory)


@quantity(marked("microseconds of the kernel"), origin="recorded")
def host_kernel_us(facts: Knowledge, memory: Literal["pageable", "pinned"] = "pageable") -> float:
    """Recorded time of the kernel between the copies, in µs. Raises UsageError for another kernel than the recorded one."""
    run = next(run for run in _host_runs(facts) if run.memory == memory)
    if not run.is_whole:
        raise UsageError(tr("this kernel was not recorded between its host's calls"))
    return run.total("launch")


@quantity(marked("pieces that take turns in streams"), origin="recorded")
def stream_pieces(facts: Knowledge) -> int:
    """Pieces of the recorded runs."""
    return _streams(facts).pieces


@quantity(marked("milliseconds in {streams} streams"), origin="recorded")
def stream_ms(facts: Knowledge, streams: Whole) -> float:
    """Recorded time of all copies and kernels."""
    return _streams(facts).total_us(streams) / 1e3


@quantity(marked("milliseconds without a kernel in {streams} streams"), origin="recorded")
def stream_idle_ms(facts: Knowledge, streams: Whole) -> float:
    """The part of ``stream_ms`` in which no kernel ran."""
    runs, idle, until = _streams(facts), 0.0, 0.0
    for each in sorted((each for each in runs.of(streams) if each.what == "kernel"), key=lambda each: each.start_us):
        idle, until = idle + max(0.0, each.start_us - until), max(until, each.stop_us)
    return (idle + runs.total_us(streams) - until) / 1e3


def _streams(facts: Knowledge) -> StreamRuns:
    """The recorded runs in pieces. Raises UsageError if there are none."""
    runs = value_of(TransferCase, facts).pieces
    if runs is None:
        raise UsageError(tr("this launch was not recorded as a piece in streams"))
    return runs


def _host_runs(facts: Knowledge) -> tuple[HostRun, ...]:
    """The recorded runs of the launch's calls. Raises UsageError if there are none."""
    if not value_of(TransferCase, facts).runs:
        raise UsageError(tr("the host's calls were {unmeasured}", unmeasured=value_of(TransferCase, facts).unmeasured))
    return value_of(TransferCase, facts).runs


def _spellings(kernel: str) -> tuple[str, ...]:
    """The ways to write the name of a row in a reference, which has no commas: "Triple loop one thread"."""
    return kernel, kernel.replace(",", ""), *(("cublas",) if kernel == CUBLAS else ())


def _fastest_row(facts: Knowledge, kernel: str, n: int, width: int = 0) -> Measured:
    """The fastest recorded row of a kernel; ``n``: 0 for that of the shot. Raises UsageError if there is none."""
    n = n or facts.setup.problem.sizes.get("N", 0)
    known = kernel.lower() if kernel.lower() == "cublas" else kernel
    width = width or facts.shot.chart.width
    rows = [row for row in _with_n(facts) if known in _spellings(row.kernel) and n == row.problem.N and row.gflops is not None]
    rows = [row for row in rows if not width or not row.parameters or width in row.parameters.values()]
    if not rows:
        raise UsageError(tr("{kernel} was not recorded at N = {n}", kernel=kernel, n=n))
    return max(rows, key=lambda row: row.gflops or 0.0)
