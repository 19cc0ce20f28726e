"""Rates of the CPU beside those of the GPU, the latter alone and with the copies that the CPU doesn't need."""

from gemmviz.model.chart import Axis, Chart, Curve
from gemmviz.model.records import replace
from gemmviz.model.timing import DOUBLE, Benchmark, Measured
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.charts.recorded import POINT, SIZE, recorded_chart
from gemmviz.scenes.charts.rows import is_of_host
from gemmviz.scenes.charts.speeds import rates, with_transfer

_TILED = "04_tiled"


def host_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of all loops on the CPU, and of kernels on the GPU with and, dashed, without their copies."""
    host = {row.kernel for row in benchmark.rows if is_of_host(row)}
    on_host = [curve for curve in rates(benchmark) if curve.family in host]
    on_gpu = [_shown(curve) for curve in with_transfer(benchmark)]
    y, curves = Axis("GFLOP/s", is_log=True), [*on_host, *on_gpu]
    chart = recorded_chart(benchmark, tr("CPU and GPU"), SIZE, y, curves, POINT, lines=False)
    return replace(chart, beside=tuple(family for family in chart.beside if family not in host))


def _shown(curve: Curve) -> Curve:
    """Return a GPU's curve, shown if it is of the tiled kernel: others can be chosen."""
    return replace(curve, shown=curve.family == _TILED and curve.main)


# Rates in single and in double precision, and on tensor cores.

_TITLE, _NO_DOUBLE = marked("Float, double, tensor cores"), marked("only single precision was measured")


def precision_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of what was measured in more than one precision, double dashed in the colour of float; all rates if
    nothing was measured in double.
    """
    host = {row.kernel for row in benchmark.rows if is_of_host(row)}
    rows = {row.kernel: row for row in benchmark.rows}
    double = {row.base for row in rows.values() if row.variant == DOUBLE}
    on_gpu = [(curve, rows[curve.family]) for curve in rates(benchmark) if curve.family not in host]
    curves = [_of_float(curve, row) for curve, row in on_gpu if not double or row.base in double]
    chart = recorded_chart(benchmark, tr(_TITLE), SIZE, Axis("GFLOP/s", is_log=True), curves, POINT, lines=False)
    return chart if double else replace(chart, notes=(*chart.notes, tr(_NO_DOUBLE)))


def _of_float(curve: Curve, row: Measured) -> Curve:
    """Return a curve that is shown, dashed and in the colour of float if it is of double."""
    is_double = row.variant == DOUBLE
    return replace(curve, family=row.base if is_double else row.kernel, dashed=is_double, shown=curve.main)
