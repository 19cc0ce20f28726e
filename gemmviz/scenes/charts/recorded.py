"""What all charts of a benchmark have in common: their axes, the sizes that fill the cache, and where the figures are from."""

from functools import cache
from math import sqrt

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.model.chart import Axis, Chart, Curve, Mark
from gemmviz.model.recording import StrideTime, StrideTimes
from gemmviz.model.timing import Benchmark
from gemmviz.model.translation import counted, grouped, marked, tr
from gemmviz.model.words import capital, number, spaced
from gemmviz.scenes.charts.rows import rows_of

SIZE, POINT = (
    marked("N of N × N matrices"),
    marked("Point at a curve. Each kernel uses its fastest parameters at each size"),
)
_BYTES = 4


def recorded_chart(
    benchmark: Benchmark, title: str, x: str, y: Axis, curves: list[Curve], hint: str, lines: bool = True
) -> Chart:
    """Return a chart of curves of a benchmark. ``lines``: with lines at the sizes that fill the cache."""
    xs = sorted({at for curve in curves for at, _ in curve.points})
    filled = cache_lines(benchmark) if lines and xs else []
    families = tuple(dict.fromkeys(row.kernel for row in rows_of(benchmark)))
    return Chart(
        title,
        Axis(tr(x), is_log=True, ticks=tuple((at, f"{at:g}") for at in xs)),
        y,
        tuple(curves),
        marks=tuple(Mark(at, what) for at, what in filled if xs[0] <= at <= xs[-1]),
        families=families,
        beside=tuple(family for family in families if not any(r.source_hash for r in rows_of(benchmark) if r.kernel == family)),
        notes=tuple(_origins(benchmark)),
        hint=tr(hint),
    )


def _origins(benchmark: Benchmark) -> list[str]:
    """Return the sources of the curves, and their limits."""
    notes = [capital(benchmark.source), f"CPU {benchmark.host}"]
    if any(row.is_left_out for row in rows_of(benchmark)):
        notes.append(tr("curves end where a launch would take too long"))
    other = {row.kernel for row in rows_of(benchmark) if _shipped().get(row.kernel, row.source_hash) != row.source_hash}
    if other:
        notes.append(tr("measured with another version of {other}", other=", ".join(sorted(other))))
    return notes


@cache
def _shipped() -> dict[str, str]:
    """Return the hash of each shipped kernel's text."""
    return {name: load_kernel(name).text_hash for name in kernel_names()}


def cache_lines(benchmark: Benchmark) -> list[tuple[float, str]]:
    """Return the sizes N of square float32 matrices that fill the last-level cache, with a text for each."""
    size = benchmark.gpu.last_level_cache
    mib = f"{size / 2**20:g} MiB"
    return [
        (sqrt(size / (3 * _BYTES)), tr("A, B and C fill the L2 ({mib})", mib=mib)),
        (sqrt(size / _BYTES), tr("one matrix fills the L2 ({mib})", mib=mib)),
    ]


# Cycles of a load over the number of elements that a chain visits, a curve for each stride between them.

_CACHE = "L1"
_MORE = 1.1  # times the fewest cycles, from which a chain is said to miss


def strides_chart(times: StrideTimes) -> Chart:
    """Return the cycles of chains that may use the L1, with a mark at the first chain length that takes longer."""
    chains = times.of(_CACHE)
    curves = tuple(_curve(stride, rows) for stride, rows in chains.items())
    lengths = sorted({row.elements for rows in chains.values() for row in rows})
    slow = [row.elements for rows in chains.values() for row in rows if _misses(row, rows)]
    longest = max((n for n in lengths if n < min(slow, default=0)), default=0)
    return Chart(
        tr("Cycles of a load by the stride between elements: {device}", device=times.gpu.name),
        Axis(
            tr("elements in turn, each in a line of its own"), is_log=True, ticks=tuple((float(n), grouped(n)) for n in lengths)
        ),
        Axis(tr("cycles of a load")),
        curves,
        marks=(
            Mark(
                float(longest),
                tr("up to {longest} lines stay in the {cache} at every stride", longest=spaced(longest), cache=_CACHE),
            ),
        )
        if longest
        else (),
        families=tuple(curve.family for curve in curves),
        notes=(times.source,),
        remark=tr(times.method),
    )


def _misses(row: StrideTime, rows: list[StrideTime]) -> bool:
    """Whether loads of a chain take longer than those of the shortest one."""
    return row.cycles > _MORE * rows[0].cycles


def _curve(stride: int, rows: list[StrideTime]) -> Curve:
    name = tr("{stride} bytes", stride=grouped(stride))
    points = tuple((float(row.elements), row.cycles) for row in rows)
    texts = tuple(
        tr(
            "{name} apart, {elements} elements: {cycles} cycles",
            name=name,
            elements=grouped(row.elements),
            cycles=counted(number(row.cycles)),
        )
        for row in rows
    )
    return Curve(name, name, name, points, texts)
