"""Charts of a benchmark: rates by size and by tile, shares of cuBLAS, speed-ups, and the cost of the copies."""

from collections.abc import Callable, Iterable
from itertools import chain

from gemmviz.files.recordings import reported_shares
from gemmviz.model.chart import Aside, Axis, Chart, Curve
from gemmviz.model.records import replace
from gemmviz.model.timing import CUBLAS, Benchmark, Measured
from gemmviz.model.translation import counted, marked, tr
from gemmviz.model.words import number
from gemmviz.scenes.charts.recorded import POINT, SIZE, recorded_chart
from gemmviz.scenes.charts.rows import WIDTHS, opens_of, rows_of, variant_of

UNTILED = "03_coalesced"
FASTEST_CHOICE = marked("fastest choice")  # of parameters: the end of a curve's label
_UNNAMED = marked("on a device that it does not name")


def _point_text(row: Measured) -> str:
    """Return the text of a point, without its value."""
    assert row.timing is not None
    return f"{row.label}, N = {row.problem.N}: {number(row.gflops or 0)} GFLOP/s, {number(row.timing.median_ms * 1e3)} µs"


def _variant_groups(benchmark: Benchmark) -> dict[str, dict[str, list[Measured]]]:
    """Return the timed rows by kernel and label in the order of the benchmark, smallest problem first."""
    groups: dict[str, dict[str, list[Measured]]] = {}
    for row in rows_of(benchmark):
        if row.timing is not None:
            groups.setdefault(row.kernel, {}).setdefault(row.label, []).append(row)
    for labels in groups.values():
        for rows in labels.values():
            rows.sort(key=lambda row: row.problem.N)
    return groups


def _fastest(rows: Iterable[Measured], by: Callable[[Measured], int]) -> list[Measured]:
    """Return the fastest timed row for each value of ``by``, in ascending order of that value."""
    best: dict[int, Measured] = {}
    for row in rows:
        if row.gflops is not None and (by(row) not in best or row.gflops > (best[by(row)].gflops or 0)):
            best[by(row)] = row
    return [best[value] for value in sorted(best)]


def _n_of(row: Measured) -> int:
    return row.problem.N


def _tile_width(row: Measured) -> int:
    """Return the first parameter: the width of a tile or of a block."""
    return next(iter(row.parameters.values()))


def _over_size(benchmark: Benchmark, value: Callable[[Measured], float | None]) -> list[Curve]:
    """Return for each kernel the fastest choice of its parameters at each size, and each choice by itself, initially hidden,
    as are other precisions than float32.
    """
    curves = []
    for kernel, choices in _variant_groups(benchmark).items():
        several = len(choices) > 1
        name = f"{kernel}, {FASTEST_CHOICE}" if several else kernel
        lines = {name: _fastest(chain(*choices.values()), _n_of), **(choices if several else {})}
        for label, rows in lines.items():
            rated = [(row, y) for row in rows if (y := value(row)) is not None and y > 0]
            if rated:
                points = tuple((float(row.problem.N), y) for row, y in rated)
                main = label not in choices or not several
                texts = tuple(_point_text(row) for row, _ in rated)
                opens = tuple(opens_of(row) for row, _ in rated)
                short = f"{kernel}{_width_text(row for row, _ in rated)}" if main else label
                shown = main and not variant_of(rated[0][0])
                curves.append(Curve(label, short, kernel, points, texts, main, shown, opens=opens))
    return curves


def _width_text(rows: Iterable[Measured]) -> str:
    """Return the widths of the tiles or blocks of a curve's launches: ", 32 wide"; nothing for rows without a width."""
    widths = sorted({value for row in rows for name, value in row.parameters.items() if name in WIDTHS})
    if not widths:
        return ""
    return (
        tr(", {widths} wide", widths=widths[0])
        if len(widths) == 1
        else tr(", {first} to {last} wide", first=widths[0], last=widths[-1])
    )


def rates(benchmark: Benchmark) -> list[Curve]:
    return [_valued(curve) for curve in _over_size(benchmark, lambda row: row.gflops)]


def _valued(curve: Curve, unit: str = "") -> Curve:
    """Return a curve with the values of its points as texts, three digits each."""
    return replace(curve, values=tuple(f"{counted(number(y))}{unit}" for _, y in curve.points))


def shares(benchmark: Benchmark) -> list[Curve]:
    def share(row: Measured) -> float | None:
        fraction = benchmark.share_of_cublas(row)
        return None if fraction is None else fraction * 100

    return [_with_values(curve) for curve in _over_size(benchmark, share)]


def _with_values(curve: Curve) -> Curve:
    """Return a curve of shares with its values, cuBLAS itself as the line that others are measured against."""
    if curve.family == CUBLAS:
        return replace(curve, dashed=True)
    return _valued(curve, " %")


def by_tile(benchmark: Benchmark) -> list[Curve]:
    """Return one curve per size for each kernel whose first parameter has several choices.

    The largest size at which most choices were measured is shown initially.
    """
    tiled: dict[tuple[str, int], list[Measured]] = {}
    for row in rows_of(benchmark):
        if row.parameters:
            tiled.setdefault((row.kernel, row.problem.N), []).append(row)
    fastest = {place: _fastest(rows, _tile_width) for place, rows in tiled.items()}
    groups = {place: rows for place, rows in fastest.items() if len(rows) > 1}
    points = {size: sum(len(rows) for (_, other), rows in groups.items() if other == size) for _, size in groups}
    first = max(points, key=lambda size: (points[size], size), default=0)
    return [_by_tile(f"{kernel}, N = {size}", rows, size == first) for (kernel, size), rows in groups.items()]


def _by_tile(label: str, rows: list[Measured], shown: bool) -> Curve:
    points = tuple((float(_tile_width(row)), row.gflops or 0) for row in rows)
    opens = tuple(map(opens_of, rows))
    return _valued(Curve(label, label, rows[0].kernel, points, tuple(map(_point_text, rows)), shown, shown, opens=opens))


def speed_ups(benchmark: Benchmark) -> list[Curve]:
    """Return the speed-ups relative to the fastest untiled kernel of the same size."""
    untiled = {_n_of(row): row.gflops for row in _fastest((row for row in rows_of(benchmark) if row.kernel == UNTILED), _n_of)}

    def speed_up(row: Measured) -> float | None:
        base = untiled.get(row.problem.N)
        return None if base is None or row.gflops is None else row.gflops / base

    return [_valued(curve) for curve in _over_size(benchmark, speed_up)]


def with_transfer(benchmark: Benchmark) -> list[Curve]:
    """Return the rates of the computation alone and, dashed, with the copies of A, B and C."""
    alone = _over_size(benchmark, lambda row: row.gflops if row.transfer is not None else None)
    both = {curve.label: curve for curve in _over_size(benchmark, lambda row: row.gflops_with_transfer)}
    copied_ms = {row.problem.N: row.transfer.total_ms for row in rows_of(benchmark) if row.transfer is not None}
    quickest = max((curve for curve in alone if curve.main and curve.family != CUBLAS), key=_last, default=None)
    curves = []
    for curve in (curve for curve in alone if curve.label in both):
        shown = curve.main and (curve.family in (CUBLAS, UNTILED) or curve is quickest)
        curves.append(_valued(replace(curve, shown=shown)))
        copied = both[curve.label]
        texts = tuple(
            tr(
                "with {time} µs for the copies (pageable memory): {point}",
                time=number(copied_ms[int(size)] * 1000),
                point=text,
            )
            for (size, _), text in zip(copied.points, copied.texts, strict=True)
        )
        label, name = f"{curve.label} + copies", tr("{curve} + copies", curve=curve.name)
        curves.append(_valued(replace(copied, label=label, name=name, texts=texts, shown=shown, dashed=True)))
    return curves


def _last(curve: Curve) -> float:
    return curve.points[-1][1]


_OF_TILE = marked("Point at a curve. Each kernel uses its fastest other parameters at each width")


def rate_chart(benchmark: Benchmark) -> Chart:
    """Return the GFLOP/s by size, of a benchmark."""
    return recorded_chart(benchmark, tr("GFLOP/s by size"), SIZE, Axis("GFLOP/s", is_log=True), rates(benchmark), POINT)


def share_chart(benchmark: Benchmark) -> Chart:
    """Return the share of cuBLAS by size, of a benchmark."""
    y = Axis(tr("% of cuBLAS"), is_log=True)
    chart = recorded_chart(benchmark, tr("Share of cuBLAS by size"), SIZE, y, shares(benchmark), POINT)
    notes = (*chart.notes, tr("rings: what the course reports for large matrices, {unnamed}", unnamed=tr(_UNNAMED)))
    return replace(
        chart, remark=_remark_on_shares(benchmark), asides=_reported_asides(), asides_name=tr("the course"), notes=notes
    )


def _reported_asides() -> tuple[Aside, ...]:
    """Return the shares that the course reports, each once."""
    found = {(each.kernel, each.percent) for each in reported_shares()}
    return tuple(Aside(percent, f"{counted(f'{percent:g}')} %", kernel) for kernel, percent in sorted(found))


def _remark_on_shares(benchmark: Benchmark) -> str:
    """Return how fast cuBLAS itself gets, so that a falling share isn't read as a falling speed; "" if it gets no faster."""
    rows = _fastest((row for row in rows_of(benchmark) if row.kernel == CUBLAS), _n_of)
    first, last = (rows[0].gflops or 0, rows[-1].gflops or 0) if rows else (0, 0)
    if last <= first:
        return ""
    sizes = tr("from N = {first} to {last}", first=rows[0].problem.N, last=rows[-1].problem.N)
    return tr(
        "A falling share is no falling speed: {sizes}, cuBLAS itself gets {last} times as fast",
        sizes=sizes,
        last=counted(number(last / first)),
    )


def tile_chart(benchmark: Benchmark) -> Chart:
    """Return the GFLOP/s by tile size, of a benchmark."""
    y = Axis("GFLOP/s", is_log=True)
    return recorded_chart(
        benchmark, tr("GFLOP/s by tile size"), tr("tile or block width"), y, by_tile(benchmark), tr(_OF_TILE), lines=False
    )


def speed_up_chart(benchmark: Benchmark) -> Chart:
    """Return the speed-up over untiled kernels, of a benchmark."""
    y = Axis(tr("times as fast as {untiled}", untiled=UNTILED), is_log=True)
    return recorded_chart(benchmark, tr("Speed-up over untiled"), SIZE, y, speed_ups(benchmark), POINT)


def transfer_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of a benchmark with and without copies."""
    y = Axis("GFLOP/s", is_log=True)
    return recorded_chart(benchmark, tr("Compute, and compute + copies"), SIZE, y, with_transfer(benchmark), POINT)
