"""Rates in single and in double precision, and on tensor cores."""

from gemmviz.model.benchmark import DOUBLE, Benchmark
from gemmviz.model.chart import Axis, Chart, Curve
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.charts.recorded import POINT, SIZE, recorded_chart
from gemmviz.scenes.charts.rows import is_of_host
from gemmviz.scenes.charts.speeds import rates

_TITLE, _NO_DOUBLE = marked("Float, double, tensor cores"), marked("only single precision was measured")


def precision_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of what was measured in more than one precision, double dashed in the colour of float; all rates if
    nothing was measured in double.
    """
    host = {row.kernel for row in benchmark.rows if is_of_host(row)}
    double = {row.kernel.removesuffix(DOUBLE) for row in benchmark.rows if row.kernel.endswith(DOUBLE)}
    on_gpu = [curve for curve in rates(benchmark) if curve.family not in host]
    curves = [_of_float(curve) for curve in on_gpu if not double or curve.family.partition(",")[0] in double]
    chart = recorded_chart(benchmark, tr(_TITLE), SIZE, Axis("GFLOP/s", is_log=True), curves, POINT, lines=False)
    return chart if double else replace(chart, notes=(*chart.notes, tr(_NO_DOUBLE)))


def _of_float(curve: Curve) -> Curve:
    """Return a curve that is shown, dashed and in the colour of float if it is of double."""
    is_double = curve.family.endswith(DOUBLE)
    return replace(curve, family=curve.family.removesuffix(DOUBLE), dashed=is_double, shown=curve.main)
