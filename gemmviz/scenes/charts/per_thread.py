"""The chart of what more elements for each thread cost and gain: occupancy, and the share of cuBLAS's rate."""

from gemmviz.model.chart import Axis, Chart, Curve
from gemmviz.model.timing import Benchmark, Measured
from gemmviz.model.translation import capital, counted, grouped, marked, number, tr
from gemmviz.scenes.charts.speeds import opens_of, rows_of

_KERNELS = ("04_tiled", "08_register_tiled")  # a thread of the first computes one element
_SPEED, _OCCUPANCY = marked("speed, in % of cuBLAS"), marked("occupancy, in %")


def per_thread_rows(benchmark: Benchmark) -> dict[int, Measured]:
    """Return the fastest launch for each number of elements that a thread computes, at the largest size at which most of these
    numbers were measured.
    """
    sizes: dict[int, dict[int, Measured]] = {}
    for row in rows_of(benchmark):
        if row.kernel in _KERNELS and row.gflops is not None and row.resources is not None:
            fastest, count = sizes.setdefault(row.problem.N, {}), row.parameters.get("PER_THREAD", 1) ** 2
            if count not in fastest or row.gflops > (fastest[count].gflops or 0):
                fastest[count] = row
    return max(sizes.items(), key=lambda each: (len(each[1]), each[0]), default=(0, {}))[1]


def per_thread_chart(benchmark: Benchmark) -> Chart:
    """Return occupancy and share of cuBLAS over the elements that a thread computes, of the fastest launches."""
    rows = sorted(per_thread_rows(benchmark).items())
    curves = [
        _curve(_SPEED, [(count, row, 100 * (benchmark.share_of_cublas(row) or 0)) for count, row in rows]),
        _curve(_OCCUPANCY, [(count, row, 100 * row.resources.occupancy.share) for count, row in rows if row.resources]),
    ]
    sizes = {grouped(row.problem.N) for _, row in rows}
    return Chart(
        tr("Occupancy and speed by elements for each thread, N = {n}", n=", ".join(sizes)),
        Axis(tr("elements of C that a thread computes"), is_log=True, ticks=tuple((float(at), f"{at:g}") for at, _ in rows)),
        Axis("%"),
        tuple(curves),
        families=tuple(curve.family for curve in curves),
        notes=(capital(benchmark.source), *(f"{count}: {row.kernel}" for count, row in rows)),
        hint=tr("Point at a curve. Each number of elements has its fastest other parameters"),
    )


def _curve(name: str, values: list[tuple[int, Measured, float]]) -> Curve:
    points = tuple((float(count), value) for count, _, value in values)
    shown = tuple(f"{counted(number(value))} %" for _, _, value in values)
    texts, opens = tuple(row.label for _, row, _ in values), tuple(opens_of(row) for _, row, _ in values)
    return Curve(name, tr(name), name, points, texts, opens=opens, values=shown)
