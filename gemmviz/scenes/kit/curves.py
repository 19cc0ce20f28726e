"""The curves of a chart: lines and markers from the left up to where they are drawn, values at points, names beside ends, and
rings for values without an x.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.models import WhatIf, tried, what_ifs
from gemmviz.model.chart import Chart, Curve
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Button, Cells, Hit, Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.scale import Scale
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import ViewOptions

ASIDES = 140.0  # width of the column of values without an x
_GREYS = (1.0, 0.72, 0.48)  # shares of the text's colour, far from each other and legible
_MARKER, _RING, _RING_AT = 7.0, 10.0, 70.0
_LEADING = 30.0  # distance of the names beside the curves
_ALONG = 24  # places along each line that values keep clear of
_MOST_VALUED = 6  # curves with values at their points
_GROWS = 0.85  # share of the time at which rings begin to grow

_Scales = tuple[Scale, Scale]
_Box = tuple[float, float, float, float]  # left, top, right, bottom


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
    at = _places(curve, scales)
    primitives: list[Primitive] = []
    if len(at) > 1:
        primitives.append(Lines(f"curve-{curve.label}", _segments(at, until), colour, 3.0, dashed=curve.dashed))
    return [*primitives, _markers(f"points-{curve.label}", at[at[:, 0] <= until], colour, family, theme)]


def _places(curve: Curve, scales: _Scales) -> npt.NDArray[np.float64]:
    x, y = scales
    return np.array([(x.at(px), y.at(py)) for px, py in curve.points])


def _segments(at: npt.NDArray[np.float64], until: float) -> npt.NDArray[np.float64]:
    """Return the lines between points (n, 2), the last one cut at ``until``."""
    reached = at[at[:, 0] <= until]
    if 0 < len(reached) < len(at):
        (x0, y0), (x1, y1) = reached[-1], at[len(reached)]
        share = (until - x0) / (x1 - x0)
        reached = np.vstack([reached, [until, y0 + share * (y1 - y0)]])
    return np.column_stack([reached[:-1], reached[1:]]) if len(reached) > 1 else np.empty((0, 4))


def _markers(key: str, at: npt.NDArray[np.float64], colour: str, family: int, theme: Theme) -> Rects:
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
    lines = np.concatenate([_along(_places(curve, scales)) for curve in chart.curves])
    walls = [(x.at(mark.x), y.stop, x.at(mark.x), y.start) for mark in chart.marks]
    taken, found = [*map(_around, lines.tolist()), *walls], list[tuple[tuple[float, _Box, str], ...]]()
    for curve in chart.curves:
        own: list[tuple[float, _Box, str]] = []
        for at, text in zip(_places(curve, scales).tolist(), curve.values, strict=False):
            place = _free(at, text_width(text, size, "semibold"), size, np.array(taken), room) if text else None
            if place is not None:
                taken.append(place)
                own.append((at[0], place, text))
        found.append(tuple(own))
    return tuple(found)


def _along(at: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return points (n, 2) with as many more on the lines between them that a text can't lie between two."""
    share = np.linspace(0.0, 1.0, _ALONG)[:, None, None]
    return np.concatenate([at, (at[:-1] + share * np.diff(at, axis=0)).reshape(-1, 2)])


def _around(at: list[float]) -> _Box:
    return at[0] - 2, at[1] - 2, at[0] + 2, at[1] + 2


def _free(at: list[float], wide: float, size: float, taken: npt.NDArray[np.float64], room: _Box) -> _Box | None:
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
    for number, (aside, row) in enumerate(zip(ordered, rows, strict=True)):
        at, colour = y.at(aside.y), colours[aside.family]
        ring = boxes((middle - radius, at - radius, 2 * radius, 2 * radius))
        primitives.append(Rects(f"aside-{number}", ring, theme.background, colour, 3.0, radius))
        place, wide = points((middle + _RING + 7, baseline(row, size))), text_width(aside.text, size, "semibold")
        behind = boxes((middle + _RING + 3, row - 0.6 * size, wide + 8, 1.2 * size))
        primitives.append(Rects(f"aside-{number}-ground", behind, theme.background))
        primitives.append(Labels(f"aside-{number}-text", place, (aside.text,), size, colour, "start", "semibold"))
    name = text_at("asides", (middle, y.start + 60), chart.asides_name, theme.type.least, theme.faint, "middle")
    return [*primitives, name]


def _name_places(chart: Chart, scales: _Scales) -> list[tuple[Curve, float, float, float]]:
    """Return each curve with its end and the height of its name, without overlaps."""
    x, y = scales
    ends = {curve.label: (x.at(curve.points[-1][0]), y.at(curve.points[-1][1])) for curve in chart.curves}
    ordered = sorted(chart.curves, key=lambda curve: ends[curve.label][1])
    places = apart([ends[curve.label][1] for curve in ordered], _LEADING, y.start - 8)
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

_NAMES = {
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
    value = _value(each.name, case.needs)
    here = None if value is None else each.nearest(value)
    ground = np.zeros((1, len(each.values)), np.uint8)
    button = Button("value", name=each.name)
    cells = Cells(
        f"what-if-{each.name}", room.x, top, wide, ground, (theme.panel,), (theme.faint,), height=high, meaning=button
    )
    columns = _columns(each, case.device.max_warps_per_sm, Box(room.x, top, room.width, high))
    bars: list[Primitive] = [Rects(f"{each.name}-columns", columns, theme.loaded(_OTHERS))]
    if here is not None:
        column = columns[here : here + 1].copy()
        more = max(0.0, 6.0 - float(column[0, 2]))  # a thin column is widened so that it is seen
        column += (-more / 2, 0.0, more, 0.0)
        bars.append(Rects(f"{each.name}-column", column, theme.load))
    scale = tr("top: {max_warps_per_sm} warps", max_warps_per_sm=case.device.max_warps_per_sm) if has_scale else ""
    top_scale = text_at(f"{each.name}-most", (room.right - 4, top - 6), scale, size, theme.faint, "end")
    return [cells, *bars, *([top_scale] if scale else []), *_texts(each, case, Box(room.x, top, room.width, high), size, theme)]


def _value(name: str, needs: Needs) -> int | None:
    return {"threads": needs.threads, "registers": needs.registers, "shared": needs.shared_bytes}[name]


def _columns(each: WhatIf, most: int, room: Box) -> np.ndarray:
    """Return the columns as x, y, width, height."""
    count = len(each.values)
    wide = room.width / count
    heights = room.height * each.warps / most
    x, inner = room.x + np.arange(count) * wide, np.full(count, max(wide - 1.0, 0.6 * wide))
    return np.stack([x, room.bottom - heights, inner, heights], axis=1)


def _texts(each: WhatIf, case: OccupancyCase, room: Box, size: float, theme: Theme) -> list[Primitive]:
    """Draw the ends of the range and the current value below the columns."""
    value, y = _value(each.name, case.needs), room.bottom
    words = fitted(f"{'?' if value is None else grouped(value)} {tr(_NAMES[each.name])}", size, room.width, "semibold")
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
