"""A chart as a scene: axes, curves with their names beside their ends, bars, marks and notes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.model.chart import Axis, Bars, Chart, Curve
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import View

_TITLE, _TEXT, _NOTE, _NAME = 30.0, 22.0, 20.0, 22.0
_LEADING = 30.0  # distance of the names beside the curves
_GREYS = (1.0, 0.72, 0.48)  # shares of the text's colour, far from each other and legible
_BETWEEN, _LEAST_TICKS = ((1,), (1, 2, 5), (1, 2, 3, 5, 7)), 4  # steps from one power of ten to the next
_MARKER, _BESIDE_AXIS = 7.0, 150.0
_MOST_VALUED = 3  # curves with values at their points
_LEAST = 1e-12  # a logarithmic axis has no zero


@dataclass(frozen=True, slots=True)
class Scale:
    """The mapping of an axis: ``at`` maps values to scene units, ``value`` maps back."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool

    def at(self, value: float) -> float:
        low, high, value = (math.log10(max(each, _LEAST)) if self.is_log else each for each in (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.stop - self.start)

    def value(self, at: float) -> float:
        low, high = (math.log10(each) if self.is_log else each for each in (self.low, self.high))
        result = low + (at - self.start) / (self.stop - self.start) * (high - low)
        return 10**result if self.is_log else result


def chart_scene(chart: Chart, options: ViewOptions) -> Scene:
    """Return the chart in the format of a frame, with the curves that ``options.curves`` selects."""
    chart = chart.showing(options.curves)
    if options.is_even:
        chart = chart.evenly()
    theme, height = options.theme, options.height
    primitives: list[Primitive] = []
    top, bottom = (110.0, height - 118.0) if options.words else (46.0, height - 62.0)
    bottom -= _TEXT if any("\n" in text for _, text in chart.x.ticks or ()) else 0.0
    if options.words and chart.remark:
        top += _LEADING
        remark = fitted(chart.remark, theme.type.words, options.width - 2 * MARGIN)
        primitives.append(Labels("remark", points((MARGIN, 84)), (remark,), theme.type.words, theme.text))
    if options.words:
        primitives.append(Labels("title", points((MARGIN, 50)), (chart.title,), _TITLE, theme.text, "start", "semibold"))
        notes = fitted("; ".join(chart.notes), _NOTE, options.width - 2 * MARGIN)
        primitives.append(Labels("notes", points((MARGIN, height - 22)), (notes,), _NOTE, theme.faint))
    if not chart.xs:
        at = points((options.width / 2, height / 2))
        primitives.append(Labels("message", at, ("No data to plot",), _TITLE, theme.faint, "middle"))
        return Scene(options.width, height, theme.background, tuple(primitives))
    x_scale, y_scale = scales(chart, top, bottom, options.width)
    primitives += _axes(chart, x_scale, y_scale, theme)
    primitives += [_bars(bars, number, x_scale, y_scale, theme) for number, bars in enumerate(chart.bars)]
    primitives += _marks(chart, x_scale, y_scale, theme)
    colours = curve_colours(chart, theme)
    if options.words and len(chart.curves) <= _MOST_VALUED:
        primitives += [_values(curve, colours[curve.family], x_scale, y_scale) for curve in chart.curves if curve.values]
    for curve in chart.curves:
        primitives += _curve(curve, colours[curve.family], chart.families.index(curve.family), x_scale, y_scale, theme)
    return Scene(options.width, height, theme.background, (*primitives, *_names(chart, colours, x_scale, y_scale, theme)))


def chart_view(title: str, subject: type, chart: Callable[[Any], Chart], order: int, multiplies: bool = False) -> View:
    """Return a view that is a chart of its subject. ``multiplies``: as in a View."""

    def draw(shown: Any, options: ViewOptions) -> Scene:
        return chart_scene(chart(shown), options)

    return View(title, subject, draw, chart=chart, multiplies=multiplies, order=order)


def scales(chart: Chart, top: float, bottom: float, width: float) -> tuple[Scale, Scale]:
    """Return the scales of the x and the y axis, with space for numbers on the left and names on the right."""
    low, high = y_range(chart)
    numbers = max(text_width(text, _TEXT) for _, text in ticks(chart.y, low, high))
    names = max((text_width(name, _NAME, "semibold") for name in curve_names(chart).values()), default=0.0)
    left, right = MARGIN + numbers + 18, width - MARGIN - (names + 54 if names else 0)
    least, most = chart.xs[0], chart.xs[-1]
    if chart.bars:
        least, most = min(0.5, least - 0.5), most + 0.5
    elif least == most:
        least, most = least / 1.5, most * 1.5
    return Scale(least, most, left, right, chart.x.is_log), Scale(low, high, bottom, top, chart.y.is_log)


def y_range(chart: Chart) -> tuple[float, float]:
    """Return the range of the plotted values, with a margin."""
    values = [y for curve in chart.curves for _, y in curve.points]
    for bars in chart.bars:
        values += [0.0, *bars.bottoms, *(b + h for b, h in zip(bars.bottoms, bars.heights, strict=True))]
    low, high = min(values), max(values)
    if chart.y.is_log:
        air = (high / low) ** 0.05 if high > low else 1.5
        return low / air, high * air
    air = (high - low) * 0.05 or 1.0
    return low - (air if low < 0 else 0.0), high + air


def ticks(axis: Axis, low: float, high: float) -> list[tuple[float, str]]:
    """Return the positions and texts of the ticks from ``low`` to ``high``.

    They are the axis's own ticks if it has some; else powers of ten with values between them if there are few; else round
    steps, also on a logarithmic axis that is too short for powers of ten.
    """
    if axis.ticks is not None:
        return [(at, text) for at, text in axis.ticks if low <= at * (1 + 1e-9) and at <= high * (1 + 1e-9)]
    if axis.is_log:
        inside = _log_ticks(low, high)
        if len(inside) > 1:
            return [(at, spaced(round(at)) if at >= 1 else f"{at:g}") for at in inside]
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
    values = [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return [(at, spaced(round(abs(at) if axis.unsigned else at)) if step >= 1 else f"{at:g}") for at in values]


def _log_ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, with as many values between them as make at least four ticks."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside: list[float] = []
    for between in _BETWEEN:
        inside = [step * 10.0**power for power in powers for step in between if low <= step * 10.0**power <= high]
        if len(inside) >= _LEAST_TICKS:
            break
    return inside


def curve_colours(chart: Chart, theme: Theme) -> dict[str, str]:
    """Return one colour per family. Curves for comparison have shades of the text's colour."""
    kernels = [family for family in chart.families if family not in chart.beside]
    colours = {
        family: theme.legible(mixed(theme.background, theme.text, _GREYS[min(number, len(_GREYS) - 1)]))
        for number, family in enumerate(chart.beside)
    }
    for number, family in enumerate(kernels):
        colours[family] = theme.curves[number % len(theme.curves)]
    return colours


def curve_names(chart: Chart) -> dict[str, str]:
    """Return the displayed name of each curve by its label: the short name, unless it is ambiguous."""
    names = [curve.name for curve in chart.curves]
    return {curve.label: curve.label if names.count(curve.name) > 1 else curve.name for curve in chart.curves}


def bar_colour(bars: Bars, theme: Theme) -> str:
    return {"needed": theme.faint, "also needed": mixed(theme.background, theme.faint, 0.6), "lost": theme.warning}[bars.role]


def apart(positions: list[float], gap: float, top: float) -> list[float]:
    """Return positions as near as possible to ``positions`` (ascending), at least ``gap`` apart and not above ``top``."""
    placed: list[float] = []
    for each in positions:
        placed.append(max(each, placed[-1] + gap) if placed else each)
    limit = top
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], limit)
        limit = placed[place] - gap
    return placed


def _axes(chart: Chart, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    down, across = ticks(chart.y, y.low, y.high), ticks(chart.x, x.low, x.high)
    widest = max((text_width(line, _TEXT) for _, text in across for line in text.split("\n")), default=0.0) + 18
    shown = [across[0]] if across else []
    for tick in across[1:]:
        if x.at(tick[0]) - x.at(shown[-1][0]) >= widest:
            shown.append(tick)
    grid = [(x.start, y.at(at), x.stop, y.at(at)) for at, _ in down]
    grid += [(x.at(at), y.start, x.at(at), y.stop) for at, _ in shown]
    frame = [(x.start, y.start, x.stop, y.start), (x.start, y.start, x.start, y.stop)]
    lines = [(x.at(at), y.start + 30 + 26 * row, line) for at, text in shown for row, line in enumerate(text.split("\n"))]
    below = y.start + (86 if any("\n" in text for _, text in shown) else 60)
    return [
        Lines("grid", np.array(grid, np.float64).reshape(-1, 4), theme.line, 1.0),
        Lines("axes", np.array(frame), theme.faint, 2.0),
        Labels("y-ticks", points(*((x.start - 12, y.at(at) + 8) for at, _ in down)), tuple(text for _, text in down), _TEXT,
               theme.text, "end"),
        Labels("x-ticks", points(*(line[:2] for line in lines)), tuple(line[2] for line in lines), _TEXT, theme.text, "middle"),
        Labels("y-label", points((x.start, y.stop - 16)), (chart.y.label,), _TEXT, theme.faint),
        Labels("x-label", points((x.stop, below)), (chart.x.label,), _TEXT, theme.faint, "end"),
    ]  # fmt: skip


def _bars(bars: Bars, number: int, x: Scale, y: Scale, theme: Theme) -> Rects:
    at, low, high = (np.array(each) for each in (bars.x, bars.bottoms, bars.heights))
    unit = (x.stop - x.start) / (x.high - x.low)
    tops = np.array([y.at(value) for value in np.maximum(low, low + high)])
    heights = np.abs(high) * abs(y.stop - y.start) / (y.high - y.low)
    left = x.start + (at - bars.width / 2 - x.low) * unit
    wide = np.full(len(at), max(1.0, bars.width * unit))
    return Rects(f"bars-{number}", np.column_stack([left, tops, wide, heights]), bar_colour(bars, theme))


def _marks(chart: Chart, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    primitives: list[Primitive] = []
    for number, mark in enumerate(chart.marks):
        at = x.at(mark.x)
        colour = theme.text if mark.is_here else theme.faint
        line = np.array([(at, y.start, at, y.stop)])
        primitives.append(Lines(f"mark-{number}", line, colour, 2.0 if mark.is_here else 1.5, dashed=not mark.is_here))
        if mark.text:
            is_left = number + 1 < len(chart.marks) and at - x.start > text_width(mark.text, _NOTE) + _BESIDE_AXIS
            place = points((at - 6 if is_left else at, y.stop - 12))
            primitives.append(
                Labels(f"mark-{number}-text", place, (mark.text,), _NOTE, theme.faint, "end" if is_left else "start")
            )
    return primitives


def _curve(curve: Curve, colour: str, family: int, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    at = np.array([(x.at(px), y.at(py)) for px, py in curve.points])
    primitives: list[Primitive] = []
    if len(at) > 1:
        segments = np.column_stack([at[:-1], at[1:]])
        primitives.append(Lines(f"curve-{curve.label}", segments, colour, 3.0, dashed=curve.dashed))
    return [*primitives, _markers(f"points-{curve.label}", at, colour, family, theme)]


def _values(curve: Curve, colour: str, x: Scale, y: Scale) -> Labels:
    """Write the value of each point on its upper right, where a falling curve leaves space; at the last point above it."""
    at = [(x.at(px) + 1.2 * _MARKER, y.at(py) - 1.7 * _MARKER) for px, py in curve.points]
    at[-1] = (min(at[-1][0], x.stop + 1.2 * _MARKER - text_width(curve.values[-1], _NOTE, "semibold") / 2), at[-1][1])
    return Labels(f"values-{curve.label}", points(*at), curve.values, _NOTE, colour, "start", "semibold")


def _markers(key: str, at: npt.NDArray[np.float64], colour: str, family: int, theme: Theme) -> Rects:
    """Return discs and squares, filled or hollow, in turn, so that families differ without colour."""
    radius = _MARKER if family % 2 == 0 else 0.0
    hollow = family // 2 % 2 == 1
    corner = np.column_stack([at - _MARKER, np.full((len(at), 2), 2 * _MARKER)])
    return Rects(key, corner, theme.background if hollow else colour, colour, 3.0, radius)


def _names(chart: Chart, colours: dict[str, str], x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    """Draw the name of each curve beside its last point, without overlaps, with a line to the point."""
    ends = {curve.label: (x.at(curve.points[-1][0]), y.at(curve.points[-1][1])) for curve in chart.curves}
    ordered = sorted(chart.curves, key=lambda curve: ends[curve.label][1])
    places = apart([ends[curve.label][1] for curve in ordered], _LEADING, y.start - 8)
    names = curve_names(chart)
    primitives: list[Primitive] = []
    for curve, place in zip(ordered, places, strict=True):
        colour, (end_x, end_y) = colours[curve.family], ends[curve.label]
        thread = boxes((end_x + _MARKER + 3, end_y, x.stop + 34, place))
        primitives.append(Lines(f"thread-{curve.label}", thread, mixed(theme.background, colour, 0.5), 1.5, dashed=True))
        at = points((x.stop + 40, place + 8))
        primitives.append(Labels(f"name-{curve.label}", at, (names[curve.label],), _NAME, colour, "start", "semibold"))
    return primitives
