"""A chart as a scene: axes, curves with their names beside their ends, bars, marks and notes. Curves are drawn from left to
right and bars grow; at the end of the step, the chart is whole.
"""

import dataclasses
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.models import WhatIf, tried, what_ifs
from gemmviz.model.arrays import Floats
from gemmviz.model.chart import Bars, Chart, Curve
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.messages import capital, grouped, language, marked, number, shown_facts, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import (
    Button,
    Cells,
    Hit,
    Labels,
    Lines,
    Primitive,
    Rects,
    Scene,
    boxes,
    fitted,
    points,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.scale import Scale, ticks, y_range
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, eased_from, title_words

# The curves of a chart: lines and markers from the left up to where they are drawn, values at points, names beside ends, and
# rings for values without an x.

ASIDES = 140.0  # width of the column of values without an x
_GREYS = (1.0, 0.72, 0.48)  # shares of the text's colour, far from each other and legible
_MARKER, _RING, _RING_AT = 7.0, 10.0, 70.0
_CURVES_LEADING = 30.0  # distance of the names beside the curves
_ALONG = 24  # places along each line that values keep clear of
_MOST_VALUED = 6  # curves with values at their points
_GROWS = 0.85  # share of the time at which rings begin to grow

_Scales = tuple[Scale, Scale]
_Box = tuple[float, float, float, float]  # left, top, right, bottom


def curve_colours(chart: Chart, theme: Theme) -> dict[str, str]:
    """Return one colour per family. Curves for comparison have shades of the text's colour."""
    kernels = [family for family in chart.families if family not in chart.beside]
    colours = {
        family: theme.legible(mixed(theme.background, theme.text, _GREYS[min(place, len(_GREYS) - 1)]))
        for place, family in enumerate(chart.beside)
    }
    for place, family in enumerate(kernels):
        colours[family] = theme.curves[place % len(theme.curves)]
    return colours


def curve_names(chart: Chart) -> dict[str, str]:
    """Return the displayed name of each curve by its label: the short name, unless it is ambiguous."""
    names = [curve.name for curve in chart.curves]
    return {curve.label: curve.label if names.count(curve.name) > 1 else curve.name for curve in chart.curves}


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


def curve_drawn(curve: Curve, colour: str, family: int, scales: _Scales, until: float, theme: Theme) -> list[Primitive]:
    """Draw a curve from the left to the x ``until``, in units."""
    at = _curve_points(curve, scales)
    primitives: list[Primitive] = []
    if len(at) > 1:
        primitives.append(Lines(f"curve-{curve.label}", _segments(at, until), colour, 3.0, dashed=curve.dashed))
    return [*primitives, _markers(f"points-{curve.label}", at[at[:, 0] <= until], colour, family, theme)]


def _curve_points(curve: Curve, scales: _Scales) -> Floats:
    x, y = scales
    return np.array([(x.at(px), y.at(py)) for px, py in curve.points])


def _segments(at: Floats, until: float) -> Floats:
    """Return the lines between points (n, 2), the last one cut at ``until``."""
    reached = at[at[:, 0] <= until]
    if 0 < len(reached) < len(at):
        (x0, y0), (x1, y1) = reached[-1], at[len(reached)]
        share = (until - x0) / (x1 - x0)
        reached = np.vstack([reached, [until, y0 + share * (y1 - y0)]])
    return np.column_stack([reached[:-1], reached[1:]]) if len(reached) > 1 else np.empty((0, 4))


def _markers(key: str, at: Floats, colour: str, family: int, theme: Theme) -> Rects:
    """Return discs and squares, filled or hollow, in turn, so that families differ without colour."""
    radius = _MARKER if family % 2 == 0 else 0.0
    hollow = family // 2 % 2 == 1
    corner = np.column_stack([at - _MARKER, np.full((len(at), 2), 2 * _MARKER)])
    return Rects(key, corner, theme.background if hollow else colour, colour, 3.0, radius)


def values_drawn(chart: Chart, colours: dict[str, str], scales: _Scales, until: float, theme: Theme) -> list[Primitive]:
    """Write the values of the points that are reached, of a chart of few curves, where nothing is in the way."""
    size, primitives = theme.type.least, list[Primitive]()
    for curve, places in zip(chart.curves, _value_places(chart, scales, size), strict=False):
        reached = [(place[0], place[3] - 0.2 * size, text) for x, place, text in places if x <= until]
        if reached:
            at, texts = points(*(each[:2] for each in reached)), tuple(each[2] for each in reached)
            label = f"values-{curve.label}"
            primitives.append(Labels(label, at, texts, size, colours[curve.family], "start", "semibold"))
    return primitives


@lru_cache(maxsize=8)
def _value_places(chart: Chart, scales: _Scales, size: float) -> tuple[tuple[tuple[float, _Box, str], ...], ...]:
    """Return for each curve the x of its points with a value, the box of the value and its text; nothing for many curves."""
    if len(chart.curves) > _MOST_VALUED or not any(curve.values for curve in chart.curves):
        return ()
    x, y = scales
    room = (x.start, y.stop, x.stop, y.start)
    lines = np.concatenate([_along(_curve_points(curve, scales)) for curve in chart.curves])
    walls = [(x.at(mark.x), y.stop, x.at(mark.x), y.start) for mark in chart.marks]
    taken, found = [*map(_marker_box, lines.tolist()), *walls], list[tuple[tuple[float, _Box, str], ...]]()
    for curve in chart.curves:
        own: list[tuple[float, _Box, str]] = []
        for at, text in zip(_curve_points(curve, scales).tolist(), curve.values, strict=False):
            place = _free_box(at, text_width(text, size, "semibold"), size, np.array(taken), room) if text else None
            if place is not None:
                taken.append(place)
                own.append((at[0], place, text))
        found.append(tuple(own))
    return tuple(found)


def _along(at: Floats) -> Floats:
    """Return points (n, 2) with as many more on the lines between them that a text can't lie between two."""
    share = np.linspace(0.0, 1.0, _ALONG)[:, None, None]
    return np.concatenate([at, (at[:-1] + share * np.diff(at, axis=0)).reshape(-1, 2)])


def _marker_box(at: list[float]) -> _Box:
    return at[0] - 2, at[1] - 2, at[0] + 2, at[1] + 2


def _free_box(at: list[float], wide: float, size: float, taken: Floats, room: _Box) -> _Box | None:
    """Return the first box beside a point that covers nothing: on its upper right, above it, on its upper or lower left, or on
    its lower right; None if there is none.
    """
    gap, high = 1.2 * _MARKER, 1.0 * size
    rights, up, down = at[0] + gap, at[1] - gap - high, at[1] + gap
    corners = [(rights, up), (at[0] - wide / 2, up - 4), (at[0] - gap - wide, up), (rights, down), (at[0] - gap - wide, down)]
    for left, top in corners:
        box = left, top, left + wide, top + high
        is_inside = box[0] > room[0] + 2 and box[2] <= room[2] + 2 * _MARKER and room[1] - high <= box[1] and box[3] < room[3]
        across = (box[0] - 2 <= taken[:, 2]) & (taken[:, 0] <= box[2] + 2)
        if is_inside and not (across & (box[1] <= taken[:, 3]) & (taken[:, 1] <= box[3])).any():
            return box
    return None


def asides_drawn(chart: Chart, colours: dict[str, str], scales: _Scales, share: float, theme: Theme) -> list[Primitive]:
    """Draw a ring with its text for each value without an x, in a column beside the curves; they grow after the curves."""
    grown = max(0.0, (share - _GROWS) / (1.0 - _GROWS))
    if not chart.asides or grown <= 0.0:
        return []
    (x, y), size, radius = scales, theme.type.least, _RING * grown
    middle = x.stop + _RING_AT
    ordered = sorted(chart.asides, key=lambda aside: y.at(aside.y))
    rows = apart([y.at(aside.y) for aside in ordered], 1.15 * size, y.start)
    primitives: list[Primitive] = []
    for order, (aside, row) in enumerate(zip(ordered, rows, strict=True)):
        at, colour = y.at(aside.y), colours[aside.family]
        ring = boxes((middle - radius, at - radius, 2 * radius, 2 * radius))
        primitives.append(Rects(f"aside-{order}", ring, theme.background, colour, 3.0, radius))
        place, wide = points((middle + _RING + 7, baseline(row, size))), text_width(aside.text, size, "semibold")
        behind = boxes((middle + _RING + 3, row - 0.6 * size, wide + 8, 1.2 * size))
        primitives.append(Rects(f"aside-{order}-ground", behind, theme.background))
        primitives.append(Labels(f"aside-{order}-text", place, (aside.text,), size, colour, "start", "semibold"))
    name = text_at("asides", (middle, y.start + 60), chart.asides_name, theme.type.least, theme.faint, "middle")
    return [*primitives, name]


def _name_places(chart: Chart, scales: _Scales) -> list[tuple[Curve, float, float, float]]:
    """Return each curve with its end and the height of its name, without overlaps."""
    x, y = scales
    ends = {curve.label: (x.at(curve.points[-1][0]), y.at(curve.points[-1][1])) for curve in chart.curves}
    ordered = sorted(chart.curves, key=lambda curve: ends[curve.label][1])
    places = apart([ends[curve.label][1] for curve in ordered], _CURVES_LEADING, y.start - 8)
    return [(curve, *ends[curve.label], place) for curve, place in zip(ordered, places, strict=True)]


def _names_x(chart: Chart, x: Scale) -> float:
    return x.stop + 34 + (ASIDES if chart.asides else 0.0)


def names_drawn(chart: Chart, colours: dict[str, str], x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    """Draw the name of each curve at the height of its last point."""
    names = curve_names(chart)
    return [
        text_at(
            f"name-{curve.label}",
            (_names_x(chart, x) + 6, place + 8),
            names[curve.label],
            theme.type.note,
            colours[curve.family],
            "start",
            "semibold",
        )
        for curve, _, _, place in _name_places(chart, (x, y))
    ]


def threads_drawn(chart: Chart, colours: dict[str, str], x: Scale, y: Scale, until: float, theme: Theme) -> list[Primitive]:
    """Draw a line from the last point of each curve that is drawn to its end, to its name."""
    primitives: list[Primitive] = []
    for curve, end_x, end_y, place in _name_places(chart, (x, y)):
        if end_x <= until:
            thread = boxes((end_x + _MARKER + 3, end_y, _names_x(chart, x), place))
            colour = mixed(theme.background, colours[curve.family], 0.5)
            primitives.append(Lines(f"thread-{curve.label}", thread, colour, 1.5, dashed=True))
    return primitives


# Resident warps as columns over one resource of a block: values to try by dragging along them.

_NEED_NAMES = {
    "threads": marked("threads per block"),
    "registers": marked("registers per thread"),
    "shared": marked("static shared bytes per block"),
}
_OTHERS = 0.3  # strength of the values that are not the current one
_LOW_SIZE = 17.0  # of the text in a dock


def what_if_curve(
    each: WhatIf, case: OccupancyCase, room: Box, options: ViewOptions, has_scale: bool = False
) -> list[Primitive]:  # fmt: skip
    """Draw columns as high as the share of resident warps; the current value is highlighted. ``has_scale``: with the number of
    warps that is its top.
    """
    theme, size = options.theme, options.theme.type.note if options.words else _LOW_SIZE
    top, high = room.y + 8, room.height - 2.9 * size - 12
    wide = room.width / len(each.values)
    value = _need(each.name, case.needs)
    here = None if value is None else each.nearest(value)
    ground = np.zeros((1, len(each.values)), np.uint8)
    button = Button("value", name=each.name)
    cells = Cells(
        f"what-if-{each.name}", room.x, top, wide, ground, (theme.panel,), (theme.faint,), height=high, meaning=button
    )
    columns = _column_boxes(each, case.device.max_warps_per_sm, Box(room.x, top, room.width, high))
    bars: list[Primitive] = [Rects(f"{each.name}-columns", columns, theme.loaded(_OTHERS))]
    if here is not None:
        column = columns[here : here + 1].copy()
        more = max(0.0, 6.0 - float(column[0, 2]))  # a thin column is widened so that it is seen
        column += (-more / 2, 0.0, more, 0.0)
        bars.append(Rects(f"{each.name}-column", column, theme.load))
    scale = tr("top: {max_warps_per_sm} warps", max_warps_per_sm=case.device.max_warps_per_sm) if has_scale else ""
    top_scale = text_at(f"{each.name}-most", (room.right - 4, top - 6), scale, size, theme.faint, "end")
    return [cells, *bars, *([top_scale] if scale else []), *_texts(each, case, Box(room.x, top, room.width, high), size, theme)]


def _need(name: str, needs: Needs) -> int | None:
    return {"threads": needs.threads, "registers": needs.registers, "shared": needs.shared_bytes}[name]


def _column_boxes(each: WhatIf, most: int, room: Box) -> np.ndarray:
    """Return the columns as x, y, width, height."""
    count = len(each.values)
    wide = room.width / count
    heights = room.height * each.warps / most
    x, inner = room.x + np.arange(count) * wide, np.full(count, max(wide - 1.0, 0.6 * wide))
    return np.stack([x, room.bottom - heights, inner, heights], axis=1)


def _texts(each: WhatIf, case: OccupancyCase, room: Box, size: float, theme: Theme) -> list[Primitive]:
    """Draw the ends of the range and the current value below the columns."""
    value, y = _need(each.name, case.needs), room.bottom
    words = fitted(f"{'?' if value is None else grouped(value)} {tr(_NEED_NAMES[each.name])}", size, room.width, "semibold")
    ends = points((room.x, y + 1.15 * size), (room.right, y + 1.15 * size))
    return [
        Labels(f"{each.name}-ends", ends[:1], (grouped(int(each.values[0])),), size, theme.faint),
        Labels(f"{each.name}-end", ends[1:], (grouped(int(each.values[-1])),), size, theme.faint, "end"),
        text_at(f"{each.name}-name", (room.x, y + 2.5 * size), words, size, theme.text, "start", "semibold"),
    ]


def value_at(case: OccupancyCase, hit: Hit) -> Needs | None:
    """Return the value that a column of a curve stands for, None for other cells."""
    button = hit.cells.meaning
    for each in what_ifs(case.device, case.needs):
        if isinstance(button, Button) and button.name == each.name and 0 <= hit.column < len(each.values):
            return tried(case.needs, each.name, int(each.values[hit.column]))
    return None


_CHART_LEADING = 1.3  # distance of lines, of their size
_TOP, _FOOT, _X_LABELS = 62.0, 22.0, 76.0  # above the plot; below the notes; below the plot, for the words of the x axis
_APART, _NAMES_ROOM, _FOOT_LEAVES, _Y_LABEL = 24.0, 54.0, 18.0, 34.0


class _Frame(Struct, frozen=True):
    """The scales of a chart in a frame, its sentences above and below, and the baseline of the first line below."""

    x: Scale
    y: Scale
    remark: tuple[str, ...]
    notes: tuple[str, ...]
    notes_y: float


def chart_scene(chart: Chart, options: ViewOptions) -> Scene:
    """Return the whole chart in the format of a frame, with the curves that ``options.curves`` selects."""
    still = chart_still(chart, options)
    return dataclasses.replace(still, primitives=(*still.primitives, *chart_motion(chart, options)))


def chart_view(title: str, subject: type, chart: Callable[[Any], Chart], order: int, grows: bool = True) -> View:
    """Return a view that is a chart of its subject. ``grows``: whether the chart is drawn bit by bit within a step, which a
    chart of the steps themselves is not.
    """
    latest = _Latest(chart)

    def draw(shown: Any, options: ViewOptions) -> Scene:
        return (
            chart_still(latest.of(shown), options)
            if grows
            else chart_scene(latest.of(shown), structs.replace(options, moment=1.0))
        )

    def draw_motion(shown: Any, options: ViewOptions) -> tuple[Primitive, ...]:
        return chart_motion(latest.of(shown), options)

    draw.__doc__ = chart.__doc__  # of which the gallery has the first sentence
    if not grows:
        return View(title, subject, draw, chart=latest.of, order=order)
    return View(title, subject, draw, draw_motion, chart=latest.of, order=order)


class _Latest:
    """The chart of the subject that was drawn last, in its language: it is made once for all frames of a motion and for its
    description. Another one is made while a question is open.
    """

    def __init__(self, make: Callable[[Any], Chart]) -> None:
        self._make = make
        self._last: tuple[Any, tuple[str, frozenset[str] | None], Chart] | None = None

    def of(self, subject: Any) -> Chart:
        last, words = self._last, (language(), shown_facts())
        if last is None or last[0] is not subject or last[1] != words:
            last = self._last = subject, words, self._make(subject)
        return last[2]


def bar_colour(bars: Bars, theme: Theme) -> str:
    return {"needed": theme.faint, "also needed": mixed(theme.background, theme.faint, 0.6), "lost": theme.warning}[bars.role]


def scales(chart: Chart, top: float, bottom: float, width: float, theme: Theme) -> tuple[Scale, Scale]:
    """Return the scales of the x and the y axis, with space for numbers on the left and names on the right."""
    low, high = y_range(chart)
    sizes = theme.type
    numbers = max(text_width(text, sizes.note) for _, text in ticks(chart.y, low, high))
    names = max((text_width(name, sizes.note, "semibold") for name in curve_names(chart).values()), default=0.0)
    beside = (names + _NAMES_ROOM if names else 0) + (ASIDES if chart.asides else 0.0)
    left, right = MARGIN + numbers + 18, width - MARGIN - beside
    least, most = chart.xs[0], chart.xs[-1]
    if chart.bars:
        least, most = min(0.5, least - 0.5), most + 0.5
    elif least == most:
        least, most = least / 1.5, most * 1.5
    return Scale(least, most, left, right, chart.x.is_log), Scale(low, high, bottom, top, chart.y.is_log)


def _with_chosen_curves(chart: Chart, options: ViewOptions) -> Chart:
    chart = chart.showing(options.curves)
    return chart.evenly() if options.is_even else chart


def _frame(chart: Chart, options: ViewOptions) -> _Frame:
    sizes, room, height = options.theme.type, options.width - 2 * MARGIN, options.height
    has_two_lines = any("\n" in text for _, text in chart.x.ticks or ())
    remark = notes = tuple[str, ...]()
    foot = _FOOT + options.lacking(_FOOT_LEAVES)
    top, bottom = 46.0 + options.lacking(12.0), height - 62.0 - options.lacking(4.0)
    if options.words:
        remark = wrap_text(chart.remark, sizes.words, room, 2) if chart.remark else ()
        notes = wrap_text("; ".join(chart.notes), sizes.least, room, 2)
        top = max(options.room(_TOP + 48.0).y, options.edge + _Y_LABEL) + _CHART_LEADING * sizes.words * len(remark)
        bottom = height - foot - _CHART_LEADING * sizes.least * len(notes) - _X_LABELS
    bottom -= sizes.note if has_two_lines else 0.0
    x, y = scales(chart, top, bottom, options.width, options.theme)
    return _Frame(x, y, remark, notes, height - foot - _CHART_LEADING * sizes.least * (len(notes) - 1))


def chart_still(chart: Chart, options: ViewOptions) -> Scene:
    """Draw everything but the bars and curves."""
    chart, theme = _with_chosen_curves(chart, options), options.theme
    if not chart.xs:
        at = (options.width / 2, options.height / 2)
        nothing = text_at("message", at, tr("No data to plot"), theme.type.title, theme.faint, "middle", meaning="message")
        return Scene(options.width, options.height, theme.background, (nothing,))
    frame = _frame(chart, options)
    x, y, colours = frame.x, frame.y, curve_colours(chart, theme)
    drawn = (*_axes(chart, x, y, theme), *_marks(chart, x, y, theme), *names_drawn(chart, colours, x, y, theme))
    words = _chart_words(chart, frame, options) if options.words else ()
    return Scene(options.width, options.height, theme.background, drawn, words=words)


def chart_motion(chart: Chart, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the bars and curves as far as they are at ``options.moment``."""
    chart, theme = _with_chosen_curves(chart, options), options.theme
    if not chart.xs:
        return ()
    frame, share = _frame(chart, options), eased_from(options.moment, 0.0, 1.0)
    x, y, colours = frame.x, frame.y, curve_colours(chart, theme)
    until = x.start + share * (x.stop - x.start) + 0.01
    primitives: list[Primitive] = [_bars(bars, number, x, y, share, theme) for number, bars in enumerate(chart.bars)]
    primitives += threads_drawn(chart, colours, x, y, until, theme)
    for curve in chart.curves:
        family = chart.families.index(curve.family)
        primitives += curve_drawn(curve, colours[curve.family], family, (x, y), until, theme)
    if options.words:
        primitives += values_drawn(chart, colours, (x, y), until, theme)
    return (*primitives, *asides_drawn(chart, colours, (x, y), share, theme))


def _chart_words(chart: Chart, frame: _Frame, options: ViewOptions) -> tuple[Primitive, ...]:
    theme, sizes = options.theme, options.theme.type
    above = points(*((MARGIN, options.note_y - 2 + _CHART_LEADING * sizes.words * row) for row in range(len(frame.remark))))
    below = points(*((MARGIN, frame.notes_y + _CHART_LEADING * sizes.least * row) for row in range(len(frame.notes))))
    return (
        title_words(chart.title, options.width - 2 * MARGIN, options),
        *([Labels("remark", above, frame.remark, sizes.words, theme.text)] if frame.remark else []),
        Labels("notes", below, frame.notes, sizes.least, theme.faint),
    )


def _axes(chart: Chart, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    size = theme.type.note
    down, across = ticks(chart.y, y.low, y.high), ticks(chart.x, x.low, x.high)
    widest = max((text_width(line, size) for _, text in across for line in text.split("\n")), default=0.0) + 18
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
        Lines("grid", np.array(grid, np.float64).reshape(-1, 4), theme.line, 1.0, meaning="frame"),
        Lines("axes", np.array(frame), theme.faint, 2.0, meaning="frame"),
        Labels("y-ticks", points(*((x.start - 12, y.at(at) + 8) for at, _ in down)), tuple(text for _, text in down), size,
               theme.text, "end", meaning="scale"),
        Labels("x-ticks", points(*(line[:2] for line in lines)), tuple(line[2] for line in lines), size, theme.text, "middle",
               meaning="scale"),
        text_at("y-label", (x.start, y.stop - 16), chart.y.label, size, theme.faint),
        text_at("x-label", (x.stop, below), chart.x.label, size, theme.faint, "end"),
    ]  # fmt: skip


def _bars(bars: Bars, number: int, x: Scale, y: Scale, share: float, theme: Theme) -> Rects:
    at, low, high = np.array(bars.x), share * np.array(bars.bottoms), share * np.array(bars.heights)
    unit = (x.stop - x.start) / (x.high - x.low)
    tops = np.array([y.at(value) for value in np.maximum(low, low + high)])
    heights = np.abs(high) * abs(y.stop - y.start) / (y.high - y.low)
    left = x.start + (at - bars.width / 2 - x.low) * unit
    wide = np.full(len(at), max(1.0, bars.width * unit))
    return Rects(f"bars-{number}", np.column_stack([left, tops, wide, heights]), bar_colour(bars, theme))


def _marks(chart: Chart, x: Scale, y: Scale, theme: Theme) -> list[Primitive]:
    primitives: list[Primitive] = []
    size = theme.type.least
    taken = [(x.start, x.start + text_width(chart.y.label, theme.type.note) + _APART, 0)]
    for index, mark in enumerate(chart.marks):
        at = x.at(mark.x)
        colour = theme.text if mark.is_here else theme.faint
        line = np.array([(at, y.start, at, y.stop)])
        primitives.append(Lines(f"mark-{index}", line, colour, 2.0 if mark.is_here else 1.5, dashed=not mark.is_here))
        if mark.text:
            wide = text_width(mark.text, size)
            sides = [at - 6 - wide, at] if index + 1 < len(chart.marks) else [at, at - 6 - wide]
            left, row = _free_place(sides, wide, taken)
            taken.append((left, left + wide + _APART, row))
            place = (left, y.stop - 12 - 1.2 * size * row)
            primitives.append(text_at(f"mark-{index}-text", place, mark.text, size, theme.faint))
    return primitives


def _free_place(sides: list[float], wide: float, taken: list[tuple[float, float, int]]) -> tuple[float, int]:
    """Return the first left edge and row above the plot where a text covers no other."""
    for row in (0, 1):
        for left in sides:
            if left >= MARGIN and not any(at == row and left < end and start < left + wide for start, end, at in taken):
                return left, row
    return sides[0], 1


# A chart in words, and its points and bars as rows of a table.

ChartRow = tuple[str, str, str, str]


def chart_columns(chart: Chart) -> ChartRow:
    """Return the names of the columns of ``chart_rows``."""
    return tr("curve or part"), chart.x.label, chart.y.label, tr("what was measured")


def chart_rows(chart: Chart) -> Iterator[ChartRow]:
    """Yield a row for each point of a curve, each segment of a bar, and each value beside the curves."""
    for curve in chart.curves:
        for (x, y), text in zip(curve.points, curve.texts, strict=True):
            yield tr(curve.label), f"{x:g}", number(y), text
    for bars in chart.bars:
        for x, bottom, height in zip(bars.x, bars.bottoms, bars.heights, strict=True):
            yield (
                tr(bars.role),
                f"{x:g}",
                number(height),
                tr("from {least} to {most}", least=number(bottom), most=number(bottom + height)),
            )
    for aside in chart.asides:
        yield aside.family, "", number(aside.y), aside.text


def chart_facts(chart: Chart) -> Iterator[tuple[str, str]]:
    """Yield the facts of a chart as names and texts: its axes, each curve with its points, its bars, and its notes."""
    yield tr("Axes"), tr("{y} by {x}", y=chart.y.label, x=chart.x.label)
    for curve in chart.curves:
        yield tr(curve.label), ", ".join(f"{x:g}: {number(y)}" for x, y in curve.points)
    for bars in chart.bars:
        yield capital(tr(bars.role)), ", ".join(f"{x:g}: {number(y)}" for x, y in zip(bars.x, bars.heights, strict=True))
    for aside in chart.asides:
        yield aside.family, aside.text
    if chart.notes:
        yield tr("Notes"), ". ".join(chart.notes)


def chart_words(chart: Chart) -> str:
    """Return a chart in words, one fact a line."""
    return "\n".join((chart.title, *(f"{name}: {text}" for name, text in chart_facts(chart))))
