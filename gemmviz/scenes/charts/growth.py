"""GFLOP/s by size with the blocks per SM: why small problems leave a GPU idle."""

from dataclasses import replace

from gemmviz.files.devices import device_of, load_device
from gemmviz.model.benchmark import Benchmark
from gemmviz.model.chart import Axis, Chart, Curve, Mark
from gemmviz.model.timing import Measured
from gemmviz.scenes.charts.speeds import rate_chart


def blocks_at(n: int, width: int) -> int:
    """Return the number of blocks of width x width elements that cover a matrix of n x n."""
    return (-(-n // width)) ** 2


def growth_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of the kernels with one thread per element. The ticks show the size and the blocks per SM."""
    chart, width = replace(rate_chart(benchmark), title="GFLOP/s by size, and blocks for each SM"), _width(benchmark)
    name = device_of(benchmark.gpu)
    if name is None or not width:
        return chart
    sms = load_device(name).sms
    curves = tuple(curve for curve in chart.curves if curve.family.partition("_")[0] in ("02", "03", "04", "cuBLAS"))
    sizes = sorted({int(x) for curve in curves for x, _ in curve.points})
    ticks = tuple((float(n), f"{n}\n{_short(blocks_at(n, width) / sms)}") for n in sizes)
    label = f"N; below it, blocks of {width} × {width} threads for each of {sms} SMs"
    x = Axis(label, is_log=True, ticks=ticks)
    shown = tuple(_shown(curve) for curve in curves)
    even = Mark(width * sms**0.5, "a block for each SM")
    return replace(chart, x=x, curves=shown, marks=(even,))


def _short(value: float) -> str:
    """Return a number as text with two digits, or as many as its integer part has."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _shown(curve: Curve) -> Curve:
    return replace(curve, shown=curve.shown and curve.family != "cuBLAS")


def _width(benchmark: Benchmark) -> int:
    """Return the width of all tiles and blocks, 0 if they differ."""
    widths = {_of(row) for row in benchmark.rows if row.kernel in ("02_naive", "03_coalesced", "04_tiled")}
    return widths.pop() if len(widths) == 1 else 0


def _of(row: Measured) -> int:
    return next(iter(row.parameters.values()), 0)
