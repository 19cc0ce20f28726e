"""GFLOP/s by size with the blocks per SM: why small problems leave a GPU idle."""

from gemmviz.model.benchmark import Benchmark
from gemmviz.model.chart import Axis, Chart, Mark
from gemmviz.model.records import replace
from gemmviz.model.timing import Measured
from gemmviz.model.translation import tr
from gemmviz.scenes.charts.speeds import rate_chart


def blocks_at(n: int, width: int) -> int:
    """Return the number of blocks of width x width elements that cover a matrix of n x n."""
    return (-(-n // width)) ** 2


def growth_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of the kernels with one thread per element. The ticks show the size and the blocks per SM."""
    chart, width = replace(rate_chart(benchmark), title=tr("GFLOP/s by size, and blocks for each SM")), _width(benchmark)
    sms = benchmark.gpu.sms
    if not width or not sms:
        return chart
    curves = tuple(curve for curve in chart.curves if curve.family.partition("_")[0] in ("02", "03", "04", "cuBLAS"))
    sizes = sorted({int(x) for curve in curves for x, _ in curve.points})
    ticks = tuple((float(n), f"{n}\n{_short(blocks_at(n, width) / sms)}") for n in sizes)
    label = tr(
        "N; below it, blocks of {width} × {width} threads for each of the {sms} SMs of {gpu}",
        width=width,
        sms=sms,
        gpu=benchmark.gpu.name,
    )
    x = Axis(label, is_log=True, ticks=ticks)
    even = Mark(width * sms**0.5, tr("a block for each SM"))
    return replace(chart, x=x, curves=curves, marks=(even,))


def _short(value: float) -> str:
    """Return a number as text with four digits."""
    return f"{value:.4g}"


def _width(benchmark: Benchmark) -> int:
    """Return the width of all tiles and blocks, 0 if they differ."""
    widths = {_of(row) for row in benchmark.rows if row.kernel in ("02_naive", "03_coalesced", "04_tiled")}
    return widths.pop() if len(widths) == 1 else 0


def _of(row: Measured) -> int:
    return next(iter(row.parameters.values()), 0)
