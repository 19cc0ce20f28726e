"""The column between two compared runs: the request of each as a bar of squares on one base line, and below it the largest
differences of the whole launches.
"""

import math
from functools import partial

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Difference, Pair, differences
from gemmviz.model.arrays import Floats
from gemmviz.model.translation import tr, trn
from gemmviz.model.words import listed, number, spaced
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.hatching import hatching
from gemmviz.scenes.kit.primitives import Anchor, Face, Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import fitted, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.stage.meter import Meter, meters_of

_LEADING, _AIR, _PAD = 1.28, 14.0, 16.0
_ROWS, _LARGEST, _LEAST = (4, 8, 16, 32, 64), 40.0, 3.0  # squares of a row; sides of a square in units
_SHARE = 0.42  # of the column, for the squares
_GAP = 0.14  # of a square's side


class _Line(Struct, frozen=True):
    """A line of words: its key, text, size, colour and face."""

    key: str
    text: str
    size: float
    colour: str
    face: Face = "regular"


def column_primitives(pair: Pair, box: Box, lock: str, options: ViewOptions) -> list[Primitive]:
    """Draw the column: how the runs are locked, the meter of both, and as many differences as fit."""
    theme = options.theme
    inner = Box(box.x + _PAD, box.y, box.width - 2 * _PAD, box.height)
    ink = theme.faint if pair.is_same_problem else theme.warning
    heading = wrap_text(lock, theme.type.note, inner.width, 2)
    lines = [_Line(f"lock-{place}", text, theme.type.note, ink) for place, text in enumerate(heading)]
    primitives, y = _column(lines, inner, inner.y)
    meters = meter_of(pair.left, pair.right), meter_of(pair.right, pair.left)
    if any(meters):
        made, y = _meters(pair, meters, Box(inner.x, y + _AIR, inner.width, _SHARE * box.height), options)
        primitives += made
    return primitives + _differences(
        pair, Box(inner.x, y + 1.4 * _AIR, inner.width, box.y + box.height - y - 1.4 * _AIR), theme
    )


def meter_of(moment: Moment, other: Moment) -> Meter | None:
    """Return the meter of one side, of the memory that both access if there is one; None for a step without access."""
    meters, others = (each.cached("meters", partial(meters_of, each)) for each in (moment, other))
    units = [meter.unit for meter in others]
    return next((meter for meter in meters if meter.unit in units), next(iter(meters), None))


def _meters(
    pair: Pair, meters: tuple[Meter | None, Meter | None], box: Box, options: ViewOptions
) -> tuple[list[Primitive], float]:
    """Draw the squares of both sides on one base line, with their numbers below, and return the lower end."""
    theme, sizes = options.theme, options.theme.type
    half = (box.width - 2 * _AIR) / 2
    foot = _LEADING * (sizes.title + 3 * sizes.note)
    head = _LEADING * sizes.words + _AIR
    most = max((meter.moved for meter in meters if meter is not None), default=1)
    side, row = _side_and_row(most, half, box.height - head - foot)
    base = box.y + head + math.ceil(most / row) * side + 4.0
    titles = dict.fromkeys(meter.title for meter in meters if meter is not None)
    words = next(iter(titles)) if len(titles) == 1 else tr("one request")
    title = _Line("meter-title", words, sizes.words, theme.faint)
    line = Lines("meter-base", boxes((box.x, base, box.x + box.width, base)), theme.line, 2.0)
    middle = box.x + box.width / 2
    primitives: list[Primitive] = [_centred(title, middle, box.y + sizes.words, box.width), line]
    low = base
    for place, (meter, moment) in enumerate(zip(meters, pair.sides, strict=True)):
        prefix, left = ("left-meter", "right-meter")[place], box.x + place * (half + 2 * _AIR)
        if meter is not None:
            primitives += _bar(meter, prefix, (left, base - 4.0, half, side), row, options)
        made, low = _numbers(meter, moment, prefix, Box(left, base, half, foot), theme)
        primitives += made
    return primitives, low


def _numbers(meter: Meter | None, moment: Moment, prefix: str, box: Box, theme: Theme) -> tuple[list[Primitive], float]:
    """Write what one side moves and needs below its squares, and of which array."""
    sizes, names = theme.type, ", ".join(dict.fromkeys(touched.array.name for touched in moment.touched))
    lines = [_Line(f"{prefix}-none", tr("no access"), sizes.note, theme.faint)]
    if meter is not None:
        ink = theme.warning if meter.moved > meter.needed else theme.text
        lines = [
            _Line(f"{prefix}-moved", spaced(meter.moved), sizes.title, ink, "semibold"),
            _Line(f"{prefix}-unit", _unit(meter), sizes.note, theme.text),
            _Line(f"{prefix}-needed", tr("{needed} needed", needed=spaced(meter.needed)), sizes.note, theme.text),
            _Line(f"{prefix}-array", names, sizes.note, theme.faint),
        ]
    primitives: list[Primitive] = []
    y = box.y
    for line in lines:
        y += _LEADING * line.size
        primitives.append(_centred(line, box.x + box.width / 2, y, box.width))
    return primitives, box.y + box.height


def _side_and_row(count: int, width: float, height: float) -> tuple[float, int]:
    """Return the side of the largest squares with which ``count`` fit, and how many stand in a row."""
    sides = ((min(_LARGEST, width / row, height / math.ceil(count / row)), -row) for row in _ROWS)
    side, row = max(sides)
    return max(_LEAST, side), -row


def _bar(meter: Meter, prefix: str, at: tuple[float, float, float, float], row: int, options: ViewOptions) -> list[Primitive]:
    """Stack the squares of one side from the base line up, those that are needed first."""
    left, base, width, side = at
    theme = options.theme
    count = math.ceil(meter.moved * options.counted)
    places = np.arange(count)
    start = left + (width - min(row, max(1, meter.moved)) * side) / 2
    corners = np.stack([start + places % row * side, base - (places // row + 1) * side], axis=1)
    squares = np.hstack([corners, np.full((count, 2), (1 - _GAP) * side)])
    return _squares(prefix, squares[: meter.needed], squares[meter.needed :], theme)


def _squares(prefix: str, needed: Floats, wasted: Floats, theme: Theme) -> list[Primitive]:
    primitives: list[Primitive] = [Rects(f"{prefix}-squares", needed, theme.faint, radius=2.0)] if len(needed) else []
    if len(wasted):
        primitives.append(
            Rects(f"{prefix}-wasted", wasted, mixed(theme.background, theme.warning, 0.3), theme.warning, 1.5, 2.0)
        )
        inner = np.hstack([wasted[:, :2] + 0.12 * wasted[:, 2:], 0.76 * wasted[:, 2:]])
        primitives.append(hatching(f"{prefix}-hatching", inner, theme.warning))
    return primitives


def _differences(pair: Pair, box: Box, theme: Theme) -> list[Primitive]:
    """Write the largest differences of the whole launches, and the times of the real kernels, as many as fit."""
    sizes, y, primitives = theme.type, box.y, []
    low = box.y + box.height
    for place, (name, values, ratio) in enumerate(_entries(pair)):
        lines = [
            *(_Line(f"name-{place}-{n}", text, sizes.least, theme.faint)
              for n, text in enumerate(wrap_text(name, sizes.least, box.width, 2))),
            _Line(f"values-{place}", values, sizes.note, theme.text),
            *([_Line(f"ratio-{place}", ratio, sizes.note, theme.text, "semibold")] if ratio else []),
        ]  # fmt: skip
        if y + sum(_LEADING * line.size for line in lines) > low:
            break
        made, y = _column(lines, box, y)
        primitives += made
        y += 0.8 * _AIR
    return primitives


def _entries(pair: Pair) -> list[tuple[str, str, str]]:
    """Return name, both values and ratio of each line: the marked element, the time, then what differs in the launches."""
    found = differences(pair)
    differing = [each for each in found if each.ratio != 1.0]
    entries = [_entry(each) for each in differing or found]
    times = [None if time is None else f"{number(time * 1e3)} µs" for time in pair.times_ms]
    if any(times):
        sources = listed(dict.fromkeys(source.partition(",")[0] for source in pair.time_sources if source))
        left, right = pair.times_ms
        ratio = factor(right / left, tr("slower"), tr("faster")) if left and right else ""
        at = 1 if pair.marked is not None else 0
        entries.insert(
            at, (tr("real kernel: {sources}", sources=sources), " | ".join(time or tr("unknown") for time in times), ratio)
        )
    return entries


def _unit(meter: Meter) -> str:
    """Return the unit of a meter, in the plural if it moves several."""
    if meter.unit == "sector":
        return trn("sector", "sectors", meter.moved)
    return trn("wavefront", "wavefronts", meter.moved)


def _entry(each: Difference) -> tuple[str, str, str]:
    whole = each.ratio is not None or each.so_far is None
    values = each.in_all if whole else each.so_far
    assert values is not None
    shown = " | ".join("…" if value is None else "–" if value != value else number(value) for value in values)
    return each.name, shown, "" if each.ratio is None else factor(each.ratio, tr("more"), tr("fewer"))


def factor(ratio: float, more: str, less: str) -> str:
    """Return a ratio in words: "2 × more"."""
    if ratio in (0.0, math.inf):
        return tr("none on the right") if ratio == 0.0 else tr("only on the right")
    if ratio == 1.0:
        return tr("the same")
    return f"{max(ratio, 1 / ratio):.3g} × {more if ratio > 1 else less}"


def _column(lines: list[_Line], box: Box, y: float) -> tuple[list[Primitive], float]:
    """Write lines below each other in the middle of a column, and return the lower end."""
    primitives: list[Primitive] = []
    for line in lines:
        y += _LEADING * line.size
        primitives.append(_centred(line, box.x + box.width / 2, y - 0.28 * line.size, box.width))
    return primitives, y


def _centred(line: _Line, x: float, y: float, room: float) -> Labels:
    """Return a line of text in the middle of its room, smaller if it is too long."""
    size = line.size
    wide = text_width(line.text, size, line.face)
    size = max(min(size, 20.0), min(size, size * room / max(1.0, wide)))
    anchor: Anchor = "middle"
    return Labels(line.key, points((x, y)), (fitted(line.text, size, room, line.face),), size, line.colour, anchor, line.face)
