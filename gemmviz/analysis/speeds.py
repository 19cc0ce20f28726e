"""A benchmark as curves: rates by size and by tile, shares of cuBLAS, speed-ups, and what the copies cost."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

from gemmviz.model.benchmark import CUBLAS, Benchmark
from gemmviz.model.timing import Measured

UNTILED = "03_coalesced"
_BYTES = 4


@dataclass(frozen=True)
class Curve:
    """Points (x, y) with what each says. ``name`` is short, ``label`` tells it from all others; curves of a ``family`` share a
    colour. ``shown`` at first; ``dashed`` where it is the lesser of a pair.
    """

    label: str
    name: str
    family: str
    points: tuple[tuple[float, float], ...]
    texts: tuple[str, ...]
    shown: bool = True
    dashed: bool = False


@dataclass(frozen=True)
class Chart:
    """One way to look at a benchmark. ``log_y``: whether the y axis is logarithmic (the x axis always is)."""

    title: str
    x: str
    y: str
    curves: Callable[[Benchmark], list[Curve]]
    log_y: bool = True
    over_size: bool = True


def cache_lines(benchmark: Benchmark) -> list[tuple[float, str]]:
    """Sizes N of square float32 matrices at which the last-level cache is full, and what fills it there."""
    size = benchmark.gpu.last_level_cache
    mib = f"{size / 2**20:g} MiB"
    return [
        (sqrt(size / (3 * _BYTES)), f"A, B and C fill the L2 ({mib})"),
        (sqrt(size / _BYTES), f"one matrix fills the L2 ({mib})"),
    ]


def _told(row: Measured) -> str:
    """What a point says when one points at it."""
    assert row.timing is not None
    parts = [row.label, f"N = {row.problem.N}", f"{_number(row.gflops or 0)} GFLOP/s"]
    parts.append(f"{_number(row.timing.median_ms * 1e3)} µs ± {row.timing.spread:.1%}")
    return ", ".join(parts)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _groups(benchmark: Benchmark) -> dict[str, list[Measured]]:
    """Timed rows by label, in the order of the benchmark."""
    found: dict[str, list[Measured]] = {}
    for row in benchmark.rows:
        if row.timing is not None:
            found.setdefault(row.label, []).append(row)
    return {label: sorted(rows, key=lambda row: row.problem.N) for label, rows in found.items()}


def fastest(benchmark: Benchmark) -> set[str]:
    """The label of each kernel's fastest choice of parameters, at the largest size that it ran."""
    best: dict[str, Measured] = {}
    for row in benchmark.rows:
        if row.gflops is None:
            continue
        known = best.get(row.kernel)
        if known is None or (row.problem.N, row.gflops) > (known.problem.N, known.gflops or 0.0):
            best[row.kernel] = row
    return {row.label for row in best.values()}


def _over_size(benchmark: Benchmark, value: Callable[[Measured], float | None]) -> list[Curve]:
    best, curves = fastest(benchmark), []
    for label, rows in _groups(benchmark).items():
        found = [(row, y) for row in rows if (y := value(row)) is not None and y > 0]
        if found:
            points = tuple((float(row.problem.N), y) for row, y in found)
            texts = tuple(_told(row) for row, _ in found)
            curves.append(Curve(label, rows[0].kernel, rows[0].kernel, points, texts, label in best))
    return curves


def rates(benchmark: Benchmark) -> list[Curve]:
    return _over_size(benchmark, lambda row: row.gflops)


def shares(benchmark: Benchmark) -> list[Curve]:
    def share(row: Measured) -> float | None:
        found = benchmark.share_of_cublas(row)
        return None if found is None or row.kernel == CUBLAS else found * 100

    return _over_size(benchmark, share)


def by_tile(benchmark: Benchmark) -> list[Curve]:
    """For each kernel whose first parameter has several choices, one curve a size; at first the largest size at which most
    choices were measured is shown.
    """
    found: dict[tuple[str, int], list[Measured]] = {}
    for kernel in dict.fromkeys(row.kernel for row in benchmark.rows if row.parameters):
        for size in sorted({row.problem.N for row in benchmark.rows}):
            best: dict[int, Measured] = {}
            for row in benchmark.rows:
                if (row.kernel, row.problem.N) == (kernel, size) and row.gflops is not None:
                    tile = next(iter(row.parameters.values()))
                    if tile not in best or (best[tile].gflops or 0.0) < row.gflops:
                        best[tile] = row
            if len(best) > 1:
                found[kernel, size] = [best[tile] for tile in sorted(best)]
    points = {size: sum(len(rows) for (_, other), rows in found.items() if other == size) for _, size in found}
    first = max(points, key=lambda size: (points[size], size), default=0)
    return [_by_tile(f"{kernel}, N = {size}", rows, size == first) for (kernel, size), rows in found.items()]


def _by_tile(label: str, rows: list[Measured], shown: bool) -> Curve:
    points = tuple((float(next(iter(row.parameters.values()))), row.gflops or 0.0) for row in rows)
    return Curve(label, label, rows[0].kernel, points, tuple(map(_told, rows)), shown)


def speed_ups(benchmark: Benchmark) -> list[Curve]:
    """Times as fast as the fastest untiled kernel of the same size."""
    untiled: dict[int, float] = {}
    for row in benchmark.of(UNTILED):
        if row.gflops is not None:
            untiled[row.problem.N] = max(row.gflops, untiled.get(row.problem.N, 0.0))

    def speed_up(row: Measured) -> float | None:
        base = untiled.get(row.problem.N)
        return None if base is None or row.gflops is None else row.gflops / base

    return _over_size(benchmark, speed_up)


def with_transfer(benchmark: Benchmark) -> list[Curve]:
    """Rates of the computation alone and, dashed, with the copies of A, B and C."""
    alone = _over_size(benchmark, lambda row: row.gflops if row.transfer is not None else None)
    both = {curve.label: curve for curve in _over_size(benchmark, lambda row: row.gflops_with_transfer)}
    quickest = max((curve for curve in alone if curve.shown and curve.family != CUBLAS), key=_last, default=None)
    curves = []
    for curve in alone:
        copied, shown = both[curve.label], curve.shown and (curve.family in (CUBLAS, UNTILED) or curve is quickest)
        curves.append(replace(curve, shown=shown))
        label, name = f"{curve.label} + copies", f"{curve.name} + copies"
        curves.append(replace(copied, label=label, name=name, shown=shown, dashed=True))
    return curves


def _last(curve: Curve) -> float:
    return curve.points[-1][1]


CHARTS = {
    "rate": Chart("GFLOP/s by size", "N of N × N matrices", "GFLOP/s", rates),
    "share": Chart("Share of cuBLAS by size", "N of N × N matrices", "% of cuBLAS", shares),
    "tile": Chart("GFLOP/s by tile size", "tile or block width", "GFLOP/s", by_tile, over_size=False),
    "speed-up": Chart("Speed-up over untiled", "N of N × N matrices", f"times {UNTILED} at its fastest", speed_ups),
    "transfer": Chart("Compute, and compute + transfer", "N of N × N matrices", "GFLOP/s", with_transfer),
}
