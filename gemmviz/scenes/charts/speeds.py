"""Charts of a benchmark: which of its rows they plot, and its rates, of the GPU, of the CPU and in other precisions."""

from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain, pairwise
from math import sqrt

from msgspec import structs

from gemmviz.cuda.launch.catalog import kernel_names, load_kernel
from gemmviz.files.recordings import reported_shares
from gemmviz.model.chart import Aside, Axis, Chart, Curve, Mark, Opens
from gemmviz.model.messages import capital, counted, grouped, marked, number, spaced, tr
from gemmviz.model.recording import StrideTime, StrideTimes
from gemmviz.model.timing import CUBLAS, DOUBLE, Benchmark, Measured

WIDTHS = ("BLOCK", "TILE_WIDTH")


def opens_of(row: Measured) -> Opens | None:
    """Return the launch of a row, None if the row is not of a kernel as it can be opened."""
    is_kernel = row.source_hash and not variant_of(row)
    return (row.kernel, row.problem.N, tuple(row.parameters.items())) if is_kernel else None


def narrowed(benchmark: Benchmark, width: int = 0, with_host: bool = True) -> Benchmark:
    """Return the benchmark with only the rows of one width of tiles or blocks (0 for all), with or without rows of the CPU."""

    def is_kept(row: Measured) -> bool:
        widths = [value for name, value in row.parameters.items() if name in WIDTHS]
        return (not width or not widths or width in widths) and (with_host or not is_of_host(row))

    return structs.replace(benchmark, rows=tuple(row for row in rows_of(benchmark) if is_kept(row)))


def is_of_host(row: Measured) -> bool:
    """Whether the CPU ran a row."""
    return not row.source_hash and row.base != CUBLAS


def variant_of(row: Measured) -> str:
    """Return how a GPU's row differs from the kernel in float32; "" if it doesn't."""
    return "" if is_of_host(row) else row.variant


def rows_of(benchmark: Benchmark) -> list[Measured]:
    """Return the rows of multiplications, which alone have an N."""
    return [row for row in benchmark.rows if row.problem.is_multiply]


def widths_of(benchmark: Benchmark) -> list[int]:
    """Return all measured widths of tiles and blocks."""
    widths = {value for row in rows_of(benchmark) for name, value in row.parameters.items() if name in WIDTHS}
    return sorted(widths)


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
        notes=tuple(_source_notes(benchmark)),
        hint=tr(hint),
    )


def _source_notes(benchmark: Benchmark) -> list[str]:
    """Return the sources of the curves, and their limits."""
    notes = [capital(benchmark.source), f"CPU {benchmark.host}"]
    if any(row.is_left_out for row in rows_of(benchmark)):
        notes.append(tr("curves end where a launch would take too long"))
    other = {row.kernel for row in rows_of(benchmark) if _shipped_hashes().get(row.kernel, row.source_hash) != row.source_hash}
    if other:
        notes.append(tr("measured with another version of {other}", other=", ".join(sorted(other))))
    return notes


@cache
def _shipped_hashes() -> dict[str, str]:
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
    slow = [row.elements for rows in chains.values() for row in rows if row.cycles > _MORE * rows[0].cycles]
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
    cycles = [counted(number(row.cycles)) for row in rows]
    values = tuple("" if here == before else here for before, here in pairwise(["", *cycles]))
    return Curve(name, name, name, points, texts, values=values)


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
    return structs.replace(curve, values=tuple(f"{counted(number(y))}{unit}" for _, y in curve.points))


def shares(benchmark: Benchmark) -> list[Curve]:
    def share(row: Measured) -> float | None:
        fraction = benchmark.share_of_cublas(row)
        return None if fraction is None else fraction * 100

    return [_with_values(curve) for curve in _over_size(benchmark, share)]


def _with_values(curve: Curve) -> Curve:
    """Return a curve of shares with its values, cuBLAS itself as the line that others are measured against."""
    if curve.family == CUBLAS:
        return structs.replace(curve, dashed=True)
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
        curves.append(_valued(structs.replace(curve, shown=shown)))
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
        curves.append(_valued(structs.replace(copied, label=label, name=name, texts=texts, shown=shown, dashed=True)))
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
    return structs.replace(
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


_TILED = "04_tiled"


def host_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of all loops on the CPU, and of kernels on the GPU with and, dashed, without their copies."""
    host = {row.kernel for row in benchmark.rows if is_of_host(row)}
    on_host = [curve for curve in rates(benchmark) if curve.family in host]
    on_gpu = [structs.replace(curve, shown=curve.family == _TILED and curve.main) for curve in with_transfer(benchmark)]
    y, curves = Axis("GFLOP/s", is_log=True), [*on_host, *on_gpu]
    chart = recorded_chart(benchmark, tr("CPU and GPU"), SIZE, y, curves, POINT, lines=False)
    return structs.replace(chart, beside=tuple(family for family in chart.beside if family not in host))


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
    return chart if double else structs.replace(chart, notes=(*chart.notes, tr(_NO_DOUBLE)))


def _of_float(curve: Curve, row: Measured) -> Curve:
    """Return a curve that is shown, dashed and in the colour of float if it is of double."""
    is_double = row.variant == DOUBLE
    return structs.replace(curve, family=row.base if is_double else row.kernel, dashed=is_double, shown=curve.main)


# What more elements for each thread cost and gain: occupancy, and the share of cuBLAS's rate.

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
        _percent_curve(_SPEED, [(count, row, 100 * (benchmark.share_of_cublas(row) or 0)) for count, row in rows]),
        _percent_curve(_OCCUPANCY, [(count, row, 100 * row.resources.occupancy.share) for count, row in rows if row.resources]),
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


def _percent_curve(name: str, values: list[tuple[int, Measured, float]]) -> Curve:
    points = tuple((float(count), value) for count, _, value in values)
    shown = tuple(f"{counted(number(value))} %" for _, _, value in values)
    texts, opens = tuple(row.label for _, row, _ in values), tuple(opens_of(row) for _, row, _ in values)
    return Curve(name, tr(name), name, points, texts, opens=opens, values=shown)
