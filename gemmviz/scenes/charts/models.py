"""Charts of models: growth of work and traffic, and limits of scaling."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.models import parallelism_of, span_of, work_of
from gemmviz.analysis.replay.focus import Scope, focus_text
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.cases import LaunchCase, RoofCase, RoofRow, TrafficCase
from gemmviz.model.chart import Axis, Bars, Chart, Curve, Mark, Role
from gemmviz.model.device import Device
from gemmviz.model.problem import Problem
from gemmviz.model.records import replace
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.timing import CUBLAS, Benchmark, Measured
from gemmviz.model.translation import counted, many, marked, number, spaced, tr
from gemmviz.scenes.charts.speeds import rate_chart

# GFLOP/s by size with the blocks per SM: why small problems leave a GPU idle.


def blocks_at(n: int, width: int) -> int:
    """Return the number of blocks of width x width elements that cover a matrix of n x n."""
    return (-(-n // width)) ** 2


_OF_GROWTH = ("02_naive", "03_coalesced", "04_tiled", CUBLAS)


def growth_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of the kernels with one thread per element. The ticks show the size and the blocks per SM."""
    chart, width = replace(rate_chart(benchmark), title=tr("GFLOP/s by size, and blocks for each SM")), _common_width(benchmark)
    sms = benchmark.gpu.sms
    if not width or not sms:
        return chart
    shown = {row.kernel for row in benchmark.rows if row.base in _OF_GROWTH}
    curves = tuple(curve for curve in chart.curves if curve.family in shown)
    sizes = sorted({int(x) for curve in curves for x, _ in curve.points})
    ticks = tuple((float(n), f"{n}\n{blocks_at(n, width) / sms:.4g}") for n in sizes)
    label = tr(
        "N; below it, blocks of {width} × {width} threads for each of the {sms} SMs of {gpu}",
        width=width,
        sms=sms,
        gpu=benchmark.gpu.name,
    )
    x = Axis(label, is_log=True, ticks=ticks)
    even = Mark(width * math.sqrt(sms), tr("a block for each SM"))
    return replace(chart, x=x, curves=curves, marks=(even,))


def _common_width(benchmark: Benchmark) -> int:
    """Return the width of all tiles and blocks, 0 if they differ."""
    widths = {_of(row) for row in benchmark.rows if row.kernel in ("02_naive", "03_coalesced", "04_tiled")}
    return widths.pop() if len(widths) == 1 else 0


def _of(row: Measured) -> int:
    return next(iter(row.parameters.values()), 0)


# Work, span and parallelism of a multiplication as it grows, in operations.

_SQUARE_SIZES = tuple(2**power for power in range(5, 14))
_TIMES_LARGER = tuple(2**power for power in range(9))
_MOST_ELEMENTS = 2**31  # of a matrix
_LAW_NAMES = (marked("work T₁ = 2 M N K"), marked("parallelism T₁ / T∞"), marked("span T∞ = K + 1"))
_VALUES = (work_of, parallelism_of, span_of)


def work_chart(case: LaunchCase) -> Chart:
    """Return work, span and parallelism: of square matrices over N, of others over their size in multiples of the setup's."""
    here = case.problem
    is_square = here.M == here.N == here.K
    if is_square:
        problems = {float(n): Problem(n, n, n) for n in sorted({*_SQUARE_SIZES, here.N})}
        label, ticks, mark = tr("N of N × N matrices"), tuple((n, f"{n:g}") for n in problems), float(here.N)
    else:
        largest = max(here.M * here.N, here.N * here.K, here.M * here.K)
        times = [n for n in _TIMES_LARGER if n * n * largest < _MOST_ELEMENTS]
        problems = {float(n): Problem(n * here.M, n * here.N, n * here.K) for n in times}
        label, ticks, mark = (
            tr("size, in multiples of {sizes}", sizes=here.dimensions),
            tuple((n, f"× {n:g}") for n in problems),
            1,
        )
    at = tr(
        "{sizes}: {work_of} operations, the longest chain has {span_of}",
        sizes=here.dimensions,
        work_of=spaced(work_of(here)),
        span_of=spaced(span_of(here)),
    )
    return Chart(
        tr("Work and span of the multiplication"),
        Axis(label, is_log=True, ticks=ticks),
        Axis(tr("operations"), is_log=True),
        tuple(_law_curve(tr(name), value, problems, mark) for name, value in zip(_LAW_NAMES, _VALUES, strict=True)),
        marks=(Mark(mark, "", is_here=True),),
        families=tuple(map(tr, _LAW_NAMES)),
        notes=(at, tr("counted from the algorithm, not measured")),
    )


def _law_curve(name: str, value: Callable[[Problem], float], problems: dict[float, Problem], here: float) -> Curve:
    """Return a curve with its value at the setup's own size."""
    points = tuple((at, float(value(problem))) for at, problem in problems.items())
    texts = tuple(f"{name}, {problem.dimensions}: {spaced(value(problem))}" for problem in problems.values())
    values = tuple(spaced(value(problem)) if at == here else "" for at, problem in problems.items())
    return Curve(name, name, name, points, texts, values=values)


# Reads from global memory by tile width, as a chart.

_UNTILED, _ONCE = (marked("without tiles, 2 M N K"), marked("without tiles")), (marked("each element once"),) * 2


def _part_of_reads(elements: int, untiled: int) -> str:
    """Return the part of the reads without tiles: "1/8", or a percentage if it isn't one n-th."""
    if not elements or not untiled:
        return ""
    return counted(f"1/{untiled // elements}") if untiled % elements == 0 else f"{counted(f'{100 * elements / untiled:.3g}')} %"


def traffic_chart(case: TrafficCase) -> Chart:
    """Return the elements read from global memory over the width of a tile, and the reads without tiles."""
    points = tuple((float(row.width), float(row.elements)) for row in case.rows)
    texts = tuple(
        tr(
            "{parameter} = {width}: {elements} reads, {sectors} sectors",
            parameter=case.parameter,
            width=row.width,
            elements=spaced(row.elements),
            sectors=spaced(row.sectors),
        )
        for row in case.rows
    )
    flat = tuple((x, float(case.untiled)) for x, _ in points)
    flat_name, flat_word = map(tr, _ONCE if case.is_least else _UNTILED)
    flat_texts = (f"{flat_word}: {many(case.untiled, 'read')}",) * len(flat)
    counts = tuple(spaced(row.elements) for row in case.rows)
    parts = counts if case.is_least else tuple(_part_of_reads(row.elements, case.untiled) for row in case.rows)
    has_reads = case.untiled > 0 and all(row.elements > 0 for row in case.rows)  # a logarithmic axis has no zero
    names = (case.kernel, flat_name)
    here = next((row for row in case.rows if row.width == case.here), None)
    notes = [tr("every access of the whole launch counted from the source, for each width")]
    if here is not None and here.elements:
        fewer = case.untiled / here.elements
        saved = tr(", {fewer} times fewer", fewer=counted(f"{fewer:.4g}")) if fewer > 1 else ""
        notes.insert(
            0,
            tr(
                "{parameter} = {width}: {elements} reads{saved}",
                parameter=case.parameter,
                width=here.width,
                elements=spaced(here.elements),
                saved=saved,
            ),
        )
    return Chart(
        tr("Reads from global memory by tile width: {what}", what=case.what),
        Axis(case.parameter, is_log=True, ticks=tuple((x, f"{x:g}") for x, _ in points)),
        Axis(tr("elements read from global memory"), is_log=has_reads),
        (
            Curve(names[0], names[0], names[0], points, texts, values=parts),
            Curve(names[1], flat_word, names[1], flat, flat_texts, dashed=True),
        ),
        marks=(Mark(float(case.here), "", is_here=True),) if here is not None else (),
        families=names,
        notes=tuple(notes),
    )


# The roof of a device over operations per byte, with launches on it.

_ROOF, _EXACT = marked("roof"), 1000  # a peak below it has four digits
_BEYOND = 4  # factor by which the x axis extends beyond the launches and the bend


def roof_chart(case: RoofCase) -> Chart:
    """Return the GFLOP/s that the memory of a device allows, and those of each launch on this roof."""
    device, name = case.device, tr(_ROOF)
    bend = device.peak_gflops / device.bandwidth_gb_s
    seen = [bend, *(row.flops_per_byte for row in case.rows)]
    powers = range(math.floor(math.log2(min(seen) / _BEYOND)), math.ceil(math.log2(max(seen) * _BEYOND)) + 1)
    ticks = tuple((2.0**each, f"{2**each:g}" if each >= 0 else f"1/{2**-each}") for each in powers)
    roof = tuple((x, device.roof(x)) for x in (ticks[0][0], bend, ticks[-1][0]))
    height = f"{device.peak_gflops:.4g}" if device.peak_gflops < _EXACT else number(device.peak_gflops)
    peak = tr("peak {peak} GFLOP/s", peak=height)
    slope = tr("memory: {bandwidth} GB/s", bandwidth=number(device.bandwidth_gb_s))
    return Chart(
        tr("Operations per byte, and the roof of {device}", device=device.name),
        Axis(tr("operations for each byte that is requested"), is_log=True, ticks=ticks),
        Axis("GFLOP/s", is_log=True),
        (
            Curve(name, peak, name, roof, (slope, peak, peak), values=(slope,)),
            *(_on_roof(row, device) for row in case.rows),
        ),
        families=(name, *(row.what for row in case.rows)),
        beside=(name,),
        notes=(tr("bytes of loads and stores, counted from the source as written"),),
    )


def _on_roof(row: RoofRow, device: Device) -> Curve:
    """Return the point of a launch on the roof, named with the rate that the roof allows."""
    roof, per_byte = device.roof(row.flops_per_byte), tr("{count} per byte", count=counted(number(row.flops_per_byte)))
    rate = tr("{kernel}: at most {rate} GFLOP/s", kernel=row.name, rate=counted(number(roof)))
    return Curve(row.what, rate, row.what, ((row.flops_per_byte, roof),), (f"{row.what}: {rate}",), values=(per_byte,))


_MOST_BARS = 2000


def cost_chart(replay: Replay, scope: Scope, step: int) -> Chart:
    """Return the costs of the watched block or warps, with a mark at ``step``. The axis counts steps from 1."""
    columns = [COST_COLUMNS.index(name) for name in ("sectors", "needed_sectors", "wavefronts", "ideal_wavefronts")]
    costs: npt.NDArray[np.number[Any]] = replay.costs(scope)[:, columns]
    together = -(-len(costs) // _MOST_BARS)
    if together > 1:
        starts = np.arange(0, len(costs), together)
        costs = np.add.reduceat(costs, starts, axis=0) / np.diff(starts, append=len(costs))[:, None]
    sectors, needed, wavefronts, ideal = costs.T
    nothing = np.zeros_like(needed)
    parts: tuple[tuple[Role, np.ndarray, np.ndarray], ...] = (
        ("needed", nothing, needed),
        ("lost", needed, sectors - needed),
        ("also needed", nothing, -ideal),
        ("lost", -ideal, ideal - wavefronts),
    )
    rules = replay.trace.rules
    mean = tr("; each bar is the mean of {count} steps", count=together) if together > 1 else ""
    return Chart(
        tr("Cost per step"),
        Axis(tr("step")),
        Axis(
            tr(
                "up: {sector_bytes}-byte sectors of global memory; down: wavefronts of shared memory",
                sector_bytes=rules.sector_bytes,
            ),
            unsigned=True,
        ),
        bars=tuple(_cost_bars(*part, together) for part in parts if part[2].any()),
        marks=(Mark(step + 1, is_here=True),),
        notes=(
            tr(
                "{focus_text}, counted from the trace; red: excess{mean}",
                focus_text=focus_text(scope.focus, replay.trace),
                mean=mean,
            ),
        ),
        hint=tr("Click to go to a step"),
    )


def _cost_bars(role: Role, bottoms: np.ndarray, heights: np.ndarray, together: int) -> Bars:
    bars = np.flatnonzero(heights)
    x, low, high = (bars * together + (together + 1) / 2).tolist(), bottoms[bars].tolist(), heights[bars].tolist()
    return Bars(role, tuple(map(float, x)), tuple(map(float, low)), tuple(map(float, high)), 0.86 * together)
