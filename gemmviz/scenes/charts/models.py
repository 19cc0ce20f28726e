"""Charts of models: growth of work and traffic, and limits of scaling."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import structs

from gemmviz.analysis.counts import intensity
from gemmviz.analysis.models import parallelism_of, span_of, work_of
from gemmviz.analysis.replay.focus import Scope, focus_text
from gemmviz.analysis.replay.replay import Replay
from gemmviz.model.cases import LaunchCase, RoofCase, RoofRow, SpeedCase, TrafficCase
from gemmviz.model.chart import Axis, Bars, Chart, Curve, Mark, Role
from gemmviz.model.device import Device
from gemmviz.model.messages import counted, letter, many, marked, number, spaced, tr
from gemmviz.model.problem import Problem
from gemmviz.model.sinks import COST_COLUMNS
from gemmviz.model.timing import CUBLAS, Benchmark, Measured
from gemmviz.scenes.charts.speeds import rate_chart
from gemmviz.scenes.kit.layout import Box, baseline, path, text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Part, Primitive, Rects, boxes, fitted, points
from gemmviz.scenes.kit.scale import Scale
from gemmviz.scenes.kit.theme import Theme, mixed

# A roofline: a launch's rate and its roofs at each level of memory, on a device.

LEAST_INTENSITY, MOST_INTENSITY = 1 / 64, 1024
_LOWEST_RATE = 1 / 4096  # share of the peak
_SIDE, _NAME_ROOM = 16, 70
_WEAKER = 0.75  # of a level's ink is in that of the next level


def level_ink(theme: Theme, place: int) -> str:
    """The ink of a level of memory by its place, the nearest to the threads first: the strongest."""
    return mixed(theme.text, theme.background, 1 - _WEAKER**place)


def roofline(case: SpeedCase, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the roof with its axes, and a numbered mark for each level of memory."""
    device, size = case.device, theme.type.note
    peak = device.peak_gflops
    x = Scale(LEAST_INTENSITY, MOST_INTENSITY, room.x, room.right, True)
    y = Scale(peak * _LOWEST_RATE, peak * 2, room.bottom, room.y, True)
    ridge = peak / device.bandwidth_gb_s
    start = max(LEAST_INTENSITY, peak * _LOWEST_RATE / device.bandwidth_gb_s)
    roof = np.array([
        [x.at(start), y.at(start * device.bandwidth_gb_s), x.at(ridge), y.at(peak)],
        [x.at(ridge), y.at(peak), room.right, y.at(peak)],
    ])  # fmt: skip
    powers = [4**each for each in range(-3, 6)]
    rates = [10**each for each in range(math.ceil(math.log10(peak * _LOWEST_RATE)), int(math.log10(peak * 2)) + 1)]
    grid = boxes(
        *((x.at(at), room.y, x.at(at), room.bottom) for at in powers),
        *((room.x, y.at(at), room.right, y.at(at)) for at in rates),
    )
    below = points(*((x.at(at), room.bottom + 1.3 * size) for at in powers))
    beside = points(*((room.x - 10, baseline(y.at(at), size)) for at in rates))
    numbers = tuple(f"{at:g}" if at >= 1 else f"1/{round(1 / at)}" for at in powers)
    axis = fitted(tr("flop per byte, stores included"), size, room.width)
    top = tr("peak {peak} GFLOP/s", peak=f"{peak:.4g}") if peak < 1000 else tr("peak {peak} GFLOP/s", peak=number(peak))
    slope = f"DRAM {number(device.bandwidth_gb_s)} GB/s"
    primitives: list[Primitive] = [
        Lines("roof-grid", grid, theme.line),
        Labels("roof-x", below, numbers, size, theme.faint, "middle"),
        Labels("roof-y", beside, tuple(number(at) for at in rates), size, theme.faint, "end"),
        text_at("roof-rates", (room.x + 8, room.y + 2.4 * size), "GFLOP/s", size, theme.faint),
        text_at("roof-axis", (room.x, room.bottom + 2.9 * size), axis, size, theme.faint),
        Lines("roof", roof, theme.text, 3, meaning=Part("roof")),
        text_at("roof-peak", (room.right - 6, y.at(peak) - 10), top, size, theme.text, "end"),
        text_at("roof-slope", (x.at(3 * start) + 26, y.at(3 * start * device.bandwidth_gb_s) + 26), slope, size, theme.text),
    ]
    return [*primitives, *_level_marks(case, x, y, theme), *_block_so_far(case, x, y, room, theme)]


def _level_marks(case: SpeedCase, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    """Draw the mark of each level of memory; where levels meet, the rate of the first is named."""
    primitives, named, peak = list[Primitive](), list[float](), case.device.peak_gflops
    for place, each in enumerate(case.traffic):
        side = _SIDE + 8 * (len(case.traffic) - 1 - place)  # where levels meet, each stays visible
        if case.problem.flops is None:
            continue
        flops_per_byte = intensity(case.problem.flops, each.size_bytes)
        primitives += _level(case, place, flops_per_byte, level_ink(theme, place), (x, y), side, theme)
        at = x.at(min(max(flops_per_byte, LEAST_INTENSITY), MOST_INTENSITY))
        is_slope = case.device.roof(flops_per_byte) < peak  # the peak itself is named once
        if is_slope and all(abs(at - other) >= _NAME_ROOM for other in named):
            primitives.append(_rate_name(case, place, flops_per_byte, (at, y), side, theme))
            named.append(at)
    return primitives


def _level(
    case: SpeedCase, place: int, flops_per_byte: float, accent: str, at: tuple[Scale, Scale], side: float, theme: Theme
) -> list[Primitive]:
    """Draw a filled mark at the kernel's rate, and a hollow one on the roof above or below it."""
    x, y = at
    device, key, part = case.device, _level_key(case, place), Part("level", place)
    seen = min(max(flops_per_byte, LEAST_INTENSITY), MOST_INTENSITY)
    across, hollow = x.at(seen), y.at(max(device.roof(seen), device.peak_gflops * _LOWEST_RATE))
    half = side / 2
    primitives: list[Primitive] = [
        Rects(
            f"{key}-roof", boxes((across - half, hollow - half, side, side)), theme.background, accent, 3, half,
            Part("level on the roof", place),
        )
    ]  # fmt: skip
    if case.rate is not None:
        filled = y.at(max(case.rate, device.peak_gflops * _LOWEST_RATE))
        primitives.append(Lines(f"{key}-gap", np.array([[across, hollow, across, filled]]), accent, 2, True, part))
        primitives.append(Rects(key, boxes((across - half, filled - half, side, side)), accent, radius=half, meaning=part))
    return primitives


def _rate_name(
    case: SpeedCase, place: int, flops_per_byte: float, at: tuple[float, Scale], side: float, theme: Theme
) -> Labels:
    """Name the rate of the roof above a mark, on the upper left of it."""
    roof = case.device.roof(flops_per_byte)
    y = at[1].at(max(roof, case.device.peak_gflops * _LOWEST_RATE)) - side / 2 - 4
    at_mark, part = (at[0] - side / 2 - 6, y), Part("rate on the roof", place)
    return text_at(
        f"{_level_key(case, place)}-rate", at_mark, number(roof), theme.type.note, theme.text, "end", "semibold", part
    )


def _level_key(case: SpeedCase, place: int) -> str:
    return f"level-{case.traffic[place].level.replace(' ', '-')}"


def _block_so_far(case: SpeedCase, x: Scale, y: Scale, room: Box, theme: Theme) -> list[Primitive]:
    """Draw ticks at the current intensity of the watched block along the lower edge."""
    if case.so_far is None:
        return []
    flops, sizes = case.so_far
    primitives: list[Primitive] = []
    for place, size_bytes in enumerate(sizes):
        if flops <= 0 or size_bytes <= 0:
            continue
        at = x.at(min(max(flops / size_bytes, LEAST_INTENSITY), MOST_INTENSITY))
        way = [(at, room.bottom - 26), (at, room.bottom)]
        primitives.append(path(f"so-far-{letter(place)}", way, level_ink(theme, place), 5))
    if primitives:
        words = (room.x + 8, room.bottom - 34)
        primitives.append(text_at("so-far-name", words, tr("ticks: this block so far"), theme.type.note, theme.faint))
    return primitives


# GFLOP/s by size with the blocks per SM: why small problems leave a GPU idle.


def blocks_at(n: int, width: int) -> int:
    """Return the number of blocks of width x width elements that cover a matrix of n x n."""
    return (-(-n // width)) ** 2


_OF_GROWTH = ("02_naive", "03_coalesced", "04_tiled", CUBLAS)


def growth_chart(benchmark: Benchmark) -> Chart:
    """Return the rates of the kernels with one thread per element. The ticks show the size and the blocks per SM."""
    chart, width = (
        structs.replace(rate_chart(benchmark), title=tr("GFLOP/s by size, and blocks for each SM")),
        _common_width(benchmark),
    )
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
    return structs.replace(chart, x=x, curves=curves, marks=(even,))


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
