"""Subjects that were measured on a GPU: benchmarks, the time of a program, and loads at their distances."""

from msgspec import structs

from gemmviz.analysis.counts import Counts
from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.cuda.launch.legality import can_run, device_for, setup_for
from gemmviz.files.answer_file import answer_key
from gemmviz.files.devices import device_of, load_device
from gemmviz.files.recordings import named, recordings
from gemmviz.model.cases import AmdahlCase, Ladder, Rung, TripCase
from gemmviz.model.messages import GemmvizError, UsageError, listed, tr
from gemmviz.model.problem import Problem
from gemmviz.model.recording import (
    AccessTimes,
    AccessTimesCase,
    HostCall,
    HostRun,
    HostRuns,
    StreamRuns,
    StrideTimes,
    TransferCase,
    calls_of,
    nearest_recording,
    recording_of,
)
from gemmviz.model.timing import Benchmark, Measured
from gemmviz.scenes.charts.speeds import narrowed, widths_of
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

# Benchmark: measurements of many launches on one GPU, selected by a shot's chart.


def _chosen_benchmark(shot: Shot, context: Context) -> Benchmark:
    """The measurements of a shot's chart. Raises UsageError if there are none, or none of its tile width."""
    benchmark = named(context.measurements, shot.chart.source)
    if benchmark is None:
        raise UsageError(tr("there are no measurements to show"), remedy=tr("run gemmviz bench and open its file"))
    width, widths = shot.chart.width, widths_of(benchmark)
    if width and width not in widths:
        measured = listed([str(each) for each in widths], "or") if widths else tr("no width")
        raise UsageError(
            tr("no tile or block {width} wide was measured", width=width), remedy=tr("choose {measured}", measured=measured)
        )
    return narrowed(benchmark, width, shot.chart.with_host)


# Amdahl: recorded times of kernels with their copies at the size of a shot, or at the nearest recorded one.

_LEAST_SPEEDUP = 1.25  # kernels that are shown are so many times faster than the one before


def _make_amdahl(shot: Shot, context: Context) -> AmdahlCase:
    """The times of the shot's measurements. Raises UsageError for a problem that is no multiplication, and if there are none
    with copies.
    """
    if not shot.setup.problem.is_multiply:
        raise UsageError(tr("limits by copies are shown for multiplications of matrices only"))
    benchmark = named(context.measurements, shot.chart.source)
    if benchmark is None:
        raise UsageError(tr("there are no measurements to show"), remedy=tr("run gemmviz bench and open its file"))
    return amdahl_case(narrowed(benchmark, shot.chart.width, with_host=False), shot.setup.problem.N)


def amdahl_case(benchmark: Benchmark, n: int) -> AmdahlCase:
    """The times at the recorded size nearest to ``n``. Raises UsageError if no copies were recorded."""
    fastest = _fastest_of(benchmark)
    if not fastest:
        raise UsageError(tr("these measurements hold no copies"), remedy=tr("choose a benchmark that was run with copies"))
    size = min(fastest, key=lambda each: abs(each - n))
    shown: list[Measured] = []
    for row in sorted(fastest[size].values(), key=_kernel_ms, reverse=True):
        if not shown or _kernel_ms(shown[-1]) >= _LEAST_SPEEDUP * _kernel_ms(row):
            shown.append(row)
    limits = tuple((each, _limit(rows[shown[0].kernel])) for each, rows in sorted(fastest.items()) if shown[0].kernel in rows)
    return AmdahlCase(
        size, tuple(row.kernel for row in shown), tuple(map(_kernel_ms, shown)), _copies_ms(shown[0]), limits, benchmark.source
    )


def _fastest_of(benchmark: Benchmark) -> dict[int, dict[str, Measured]]:
    """The fastest row of each kernel that was timed with copies, by size and kernel."""
    found: dict[int, dict[str, Measured]] = {}
    for row in benchmark.rows:
        if row.timing is not None and row.transfer is not None:
            best = found.setdefault(row.problem.N, {})
            if row.kernel not in best or _kernel_ms(row) < _kernel_ms(best[row.kernel]):
                best[row.kernel] = row
    return found


def _kernel_ms(row: Measured) -> float:
    assert row.timing is not None
    return row.timing.median_ms


def _copies_ms(row: Measured) -> float:
    assert row.transfer is not None
    return row.transfer.total_ms


def _limit(row: Measured) -> float:
    return (_kernel_ms(row) + _copies_ms(row)) / _copies_ms(row)


# Ladder: the recorded shares of cuBLAS of the included kernels, each with its counts at a smaller size.

_N, _COUNTED_AT = 4096, 256  # tiles divide both, so that a multiply-add costs the same
_LANES = 32
_TOTALS = dict[str, Counts]()  # of what was counted by this process; it takes seconds


def _make_ladder(shot: Shot, context: Context) -> Ladder:
    """Each kernel's fastest row of the first benchmark that has it, of the chart's width if that is its only parameter.
    Raises UsageError if there is none.
    """
    rungs, sources = list[Rung](), list[str]()
    for name in kernel_names():
        rows = ((each, _fastest_of_width(each, name, shot.chart.width)) for each in context.measurements.values())
        found = next(((benchmark, row) for benchmark, row in rows if row is not None), None)
        if found is None:
            continue
        benchmark, row = found
        share = benchmark.share_of_cublas(row)
        if share is None:
            continue
        setup = setup_for(load_kernel(name), Problem(_COUNTED_AT, _COUNTED_AT, _COUNTED_AT), row.parameters)
        key = answer_key(setup, device_for(setup))
        if key not in _TOTALS:
            _TOTALS[key] = context.known.about(structs.replace(shot, setup=setup, against=None)).counts.total()
        total = _TOTALS[key]
        per_warp = _LANES / _COUNTED_AT**3
        gpu = benchmark.gpu.name.replace("NVIDIA ", "").partition(" ")[0]
        base = f"{gpu}, {row.variant_of_inputs or 'float'}"
        rungs.append(
            Rung(name, *_number_and_word(name), 100 * share, base, total.sectors * per_warp, total.wavefronts * per_warp)
        )
        sources += [benchmark.source] if benchmark.source not in sources else []
    if not rungs:
        raise UsageError(tr("there are no measurements to show"), remedy=tr("run gemmviz bench and open its file"))
    return Ladder(_N, tuple(rungs), _COUNTED_AT, tuple(sources))


def _number_and_word(name: str) -> tuple[str, str]:
    """The number of a kernel, and the word of its name that tells it from the others: "register" of "08_register_tiled"."""
    number, first, *rest = name.split("_")
    return number, first if rest in ([], ["tiled"]) else rest[-1]


def _fastest_of_width(benchmark: Benchmark, kernel: str, width: int) -> Measured | None:
    rows = [row for row in benchmark.rows if row.kernel == kernel and row.problem == Problem(_N, _N, _N) and row.gflops]
    rows = [row for row in rows if not width or len(row.parameters) > 1 or width in row.parameters.values()]
    return max(rows, key=lambda row: row.gflops or 0.0, default=None)


# The host's calls around a launch: those that it needs, with the times of the recorded run of exactly these calls.

_RECORDED_KERNEL, _RECORDED_WIDTH = "04_tiled", {"TILE_WIDTH": 32}  # what the recorded kernel computes in the same way


def _make_host(shot: Shot, context: Context) -> TransferCase:
    """The calls of the shot's launch, with the recorded times of those that were recorded. Raises UsageError for a problem that
    is no multiplication.
    """
    setup = shot.setup
    if not setup.problem.is_multiply:
        raise UsageError(tr("the copies between host and device are shown for multiplications of matrices only"))
    device, copies_c = device_for(setup), _reads_c(shot, context)
    is_square = len(set(setup.problem.sizes.values())) == 1
    prefix, calls = "hip" if device.vendor == "AMD" else "cuda", calls_of(copies_c, "N" if is_square else "M, N, K")
    case = TransferCase(calls, setup.problem, device.name, prefix=prefix, copies_c=copies_c)
    is_kernel = (setup.kernel.name, dict(setup.parameters)) == (_RECORDED_KERNEL, _RECORDED_WIDTH)
    pieces = recording_of(device, recordings("streams", StreamRuns))
    if pieces is not None and is_kernel and setup.problem == Problem(pieces.n // pieces.pieces, pieces.n, pieces.n):
        return structs.replace(
            case, pieces=pieces, source=f"{pieces.short_source}; {tr('kernel: {kernel}', kernel=tr(pieces.kernel))}"
        )
    host = recording_of(device, recordings("host", HostRuns))
    if host is None:
        return structs.replace(case, unmeasured=tr("not measured on {device}", device=device.name))
    sizes = setup.problem.sizes
    runs = tuple(run for run in host.rows if set(sizes.values()) == {run.n})
    if not runs:
        measured = listed([str(each) for each in sorted({run.n for run in host.rows})])
        return structs.replace(
            case,
            unmeasured=tr(
                "not measured at this size; recorded on {device}: N = {measured}", device=device.name, measured=measured
            ),
        )
    runs = tuple(HostRun(run.n, run.memory, tuple(_transfer_times(call, run, is_kernel) for call in calls)) for run in runs)
    return structs.replace(case, runs=runs, source=_times_source(host, is_kernel))


def _transfer_times(call: HostCall, run: HostRun, is_kernel: bool) -> HostCall:
    """A call with its recorded time; the launch of another kernel than the recorded one has none."""
    known = next((each for each in run.calls if (each.name, each.what) == (call.name, call.what)), None)
    return call if known is None or (call.name == "launch" and not is_kernel) else known


def _times_source(host: HostRuns, is_kernel: bool) -> str:
    return f"{host.short_source}; " + (
        tr("kernel: {kernel}", kernel=tr(host.kernel)) if is_kernel else tr("with another kernel")
    )


def _reads_c(shot: Shot, context: Context) -> bool:
    small = shot.setup.changed(M=4, N=4, K=4)
    known = context.known.about(structs.replace(shot, setup=small)) if can_run(small) else context.known
    try:
        counts = known.counts
    except GemmvizError:
        return False
    return any(op.access == "read" and counts.arrays[op.array].name == "C" for _, op in counts.accesses)


# Recorded access times of the memories of a shot's device, or of another one if its own were not recorded.


def _make_access_times(shot: Shot, context: Context) -> AccessTimesCase:
    device = device_for(shot.setup)
    return AccessTimesCase(nearest_recording(device, recordings("access-times", AccessTimes)), device.name)


# Strides: recorded times of loads at several strides, on the device of a shot or on another one.


def _make_strides(shot: Shot, context: Context) -> StrideTimes:
    return nearest_recording(device_for(shot.setup), recordings("strides", StrideTimes))


# Latency and bandwidth of the memory of a shot's device, or of the GPU whose access times were recorded.


def _make_trip(shot: Shot, context: Context) -> TripCase:
    """The trip. Raises UsageError where no access to memory was recorded, or the GPU's bandwidth is unknown."""
    times = nearest_recording(device_for(shot.setup), recordings("access-times", AccessTimes))
    name, cycles = device_of(times.gpu), times.cycles("DRAM")
    if name is None or cycles is None:
        raise UsageError(tr("no access to memory was recorded"), remedy=tr("reinstall gemmviz: its measurements are missing"))
    return TripCase(times, cycles, load_device(name).bandwidth_gb_s)


SUBJECTS = {
    "access_times": Subject(AccessTimesCase, _make_access_times, order=51),
    "amdahl": Subject(AmdahlCase, _make_amdahl, needs=("measurements",), order=46, name=lambda case: f"N = {case.n}"),
    "benchmark": Subject(
        Benchmark, _chosen_benchmark, needs=("measurements",), page="benchmark", name=lambda case: str(case.gpu.name), order=2
    ),
    "host": Subject(TransferCase, _make_host, is_slow=True, order=50),
    "ladder": Subject(Ladder, _make_ladder, needs=("measurements",), is_slow=True, order=47, name=lambda case: f"N = {case.n}"),
    "strides": Subject(StrideTimes, _make_strides, order=51),
    "trip": Subject(TripCase, _make_trip, order=62),
}
