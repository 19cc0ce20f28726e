"""Amdahl: recorded times of kernels with their copies at the size of a shot, or at the nearest recorded one."""

from gemmviz.files.benchmark_file import named
from gemmviz.model.cases import AmdahlCase
from gemmviz.model.errors import UsageError
from gemmviz.model.timing import Benchmark, Measured
from gemmviz.model.translation import tr
from gemmviz.scenes.charts.speeds import narrowed
from gemmviz.shots.knowledge import Context
from gemmviz.shots.shot import Shot
from gemmviz.shots.subject import Subject

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


SUBJECT = Subject(
    AmdahlCase, _make_amdahl, needs=("measurements",), order=46, name=lambda case: f"N = {case.n}"
)  # fmt: skip
