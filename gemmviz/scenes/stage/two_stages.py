"""The layout of a comparison: two runs in the same frame, with cells of one size and the matrices in the same places, and
between them a column for the meter.
"""

import math
from functools import partial

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Difference, Pair, differences
from gemmviz.model.arrays import Floats
from gemmviz.model.records import replace
from gemmviz.model.translation import counted, grouped, tr, trn
from gemmviz.model.words import listed, number, spaced
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Anchor, Face, Labels, Lines, Primitive, Rects, boxes
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.text import fitted, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.window import ArrayPart, Parts, Window, lens_of, lens_parts, whole_of, whole_parts
from gemmviz.scenes.stage.cost import Meter, meters_of
from gemmviz.scenes.stage.cross import (
    Cross,
    LaneTile,
    StageFrame,
    Title,
    cross_at,
    cross_cell,
    lane_extents,
    lane_tiles,
    padding_beyond,
    title_text,
)
from gemmviz.scenes.stage.layout import Plan, arranged_arrays

_HEAD, _EDGE = 108.0, 14.0  # units: title and sentence of each side; from the edges
_AIR = 16.0  # units between titles
_LEAST_CELL, _CLOSER = 6.0, 1.3  # units; how much larger cells have to be for the lens
_SHARE, _LEAST, _MOST = 0.22, 250.0, 360.0  # of the column between


class TwoStages(Struct, frozen=True):
    """The layouts of both sides; ``heads``: the places of their titles; ``between``: the column of the meter."""

    plans: tuple[Plan, Plan]
    heads: tuple[Box, Box]
    between: Box


def two_stages(pair: Pair, options: ViewOptions) -> TwoStages:
    """Return the layout of a comparison. The lens is used as on the stage, for both sides the same."""
    frame = options.width, options.height, options.timeline_height, options.lens, options.theme.type
    key = "two stages", id(pair.left.replay), pair.left.step, pair.left.focus, frame
    return pair.right.cached(key, lambda: _two_stages(pair, options))


def _two_stages(pair: Pair, options: ViewOptions) -> TwoStages:
    middle = min(max(_LEAST, _SHARE * options.width), _MOST)
    half = (options.width - middle) / 2 - _EDGE
    lefts = (_EDGE, options.width - _EDGE - half)
    low = options.height - options.timeline_height - _EDGE
    heads = [Box(left + MARGIN - _EDGE, _EDGE, half - MARGIN + _EDGE, _HEAD - _EDGE) for left in lefts]
    rooms = [Box(left, _HEAD, half, low - _HEAD) for left in lefts]
    between = Box(_EDGE + half, _EDGE, middle, low - _EDGE)
    left, right = _plans(pair, (rooms[0], rooms[1]), options)
    return TwoStages((left, right), (heads[0], heads[1]), between)


def _plans(pair: Pair, rooms: tuple[Box, Box], options: ViewOptions) -> tuple[Plan, Plan]:
    """Return the layouts of both sides: of all of the matrices, unless the lens shows much larger cells."""
    whole = _planned(pair, rooms, options, is_lens=False)
    if options.lens == "whole" or (options.lens == "auto" and whole[0].cell >= _LEAST_CELL):
        return whole
    part = _planned(pair, rooms, options, is_lens=True)
    return part if options.lens == "lens" or part[0].cell >= _CLOSER * whole[0].cell else whole


def _planned(pair: Pair, rooms: tuple[Box, Box], options: ViewOptions, is_lens: bool) -> tuple[Plan, Plan]:
    if all(moment.trace.is_multiply for moment in pair.sides):
        return _crosses(pair, rooms, options, is_lens)
    left, right = (_arrays(moment, room, pair, options, is_lens) for moment, room in zip(pair.sides, rooms, strict=True))
    return left, right


def _crosses(pair: Pair, rooms: tuple[Box, Box], options: ViewOptions, is_lens: bool) -> tuple[Plan, Plan]:
    """Return the crosses of two multiplications: of the same sizes, in exactly the same places."""
    windows = _windows(pair, is_lens)
    frame = _frame(_more_tiles(pair), pair.sides, options)
    cell = min(cross_cell(window, frame, room) for window, room in zip(windows, rooms, strict=True))
    plans = []
    for moment, window, room in zip(pair.sides, windows, rooms, strict=True):
        cross, own = cross_at(window, frame, room, cell), lane_tiles(moment.replay)
        lanes = None if cross.lanes is None or not own else replace(cross.lanes, tiles=own)
        titles = _apart(cross, window, room, frame)
        plans.append(Plan(window, cross.matrices, {}, lanes, frame.beyond, titles))
    return plans[0], plans[1]


def _apart(cross: Cross, window: Window, room: Box, frame: StageFrame) -> dict[str, Title]:
    """Return the titles with those of A and C apart, where a narrow cross has no room for both side by side."""
    titles, size = dict(cross.titles), frame.type.name
    a, c = titles["A"], titles["C"]
    wide_a, wide_c = (text_width(title_text(name, window.extents(name)), size, "semibold") for name in "AC")
    needed = a.x + wide_a + _AIR + wide_c
    titles["C"] = replace(c, x=min(max(c.x, needed), room.right))
    if titles["C"].x < needed and cross.lanes is None:
        titles["A"] = replace(a, y=cross.matrices["A"].y - 0.5 * _AIR)  # in the corner, which is empty
    return titles


def _windows(pair: Pair, is_lens: bool) -> tuple[Window, Window]:
    """Return what is visible of each side: of the same problem, the same rows and columns."""
    left, right = (lens_of(moment) if is_lens else whole_of(moment) for moment in pair.sides)
    if left.whole != right.whole:
        return left, right
    m, n, k = (
        (min(one[0], other[0]), max(one[1], other[1]))
        for one, other in ((left.m, right.m), (left.n, right.n), (left.k, right.k))
    )
    both = Window(m, n, k, left.whole)
    return both, both


def _more_tiles(pair: Pair) -> tuple[LaneTile, ...]:
    """Return the shared arrays of the side that has the larger ones: the other one leaves their places empty."""
    return max((lane_tiles(moment.replay) for moment in pair.sides), key=lambda tiles: (sum(lane_extents(tiles)), len(tiles)))


def _frame(tiles: tuple[LaneTile, ...], moments: tuple[Moment, ...], options: ViewOptions) -> StageFrame:
    """Return a frame with the space for padding that any of the runs needs."""
    beyond = [padding_beyond(moment, lane_tiles(moment.replay)) for moment in moments]
    most = max(rows for rows, _ in beyond), max(columns for _, columns in beyond)
    size = options.width, options.height
    return StageFrame(tiles, *size, False, False, options.timeline_height, options.theme.type, most)


def _arrays(moment: Moment, room: Box, pair: Pair, options: ViewOptions, is_lens: bool) -> Plan:
    """Return the arrays of another problem; both sides leave the same room for shared arrays."""
    if moment.trace.is_multiply:
        window = lens_of(moment) if is_lens else whole_of(moment)
        frame = _frame(lane_tiles(moment.replay), (moment,), options)
        cross = cross_at(window, frame, room, cross_cell(window, frame, room))
        return Plan(window, cross.matrices, {}, cross.lanes, frame.beyond, cross.titles)
    inputs = frozenset(moment.trace.arrays[number].name for number in moment.trace.inputs)
    parts = _parts(moment, pair, is_lens)
    arranged = arranged_arrays(parts, inputs, room, _more_tiles(pair))
    has_tiles = arranged.tiles is not None and lane_tiles(moment.replay)
    return Plan(parts, arranged.grids, {"tiles": arranged.tiles} if has_tiles and arranged.tiles is not None else {})


def _parts(moment: Moment, pair: Pair, is_lens: bool) -> Parts:
    """Return what is visible of the arrays: of the same problem, the same rows and columns on both sides."""
    if not is_lens:
        return whole_parts(moment)
    own, both = lens_parts(moment), [lens_parts(side) for side in pair.sides if not side.trace.is_multiply]
    if len({tuple((part.name, part.shape) for part in each.arrays) for each in both}) > 1:
        return own
    return Parts(tuple(_spanned(parts) for parts in zip(*(each.arrays for each in both), strict=True)))


def _spanned(parts: tuple[ArrayPart, ...]) -> ArrayPart:
    """Return the part of an array that holds all of these parts."""
    rows = min(part.rows[0] for part in parts), max(part.rows[1] for part in parts)
    columns = min(part.columns[0] for part in parts), max(part.columns[1] for part in parts)
    return replace(parts[0], rows=rows, columns=columns)


# The column between two compared runs: the request of each as a bar of squares on one base line, and below it the largest
# differences of the whole launches.

_LEADING, _BETWEEN, _PAD = 1.28, 14.0, 16.0
_ROWS, _LARGEST, _SMALLEST = (4, 8, 16, 32, 64), 40.0, 3.0  # squares of a row; sides of a square in units
_SQUARES_SHARE = 0.42  # of the column, for the squares
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
        made, y = _meters(pair, meters, Box(inner.x, y + _BETWEEN, inner.width, _SQUARES_SHARE * box.height), options)
        primitives += made
    return primitives + _differences(
        pair, Box(inner.x, y + 1.4 * _BETWEEN, inner.width, box.bottom - y - 1.4 * _BETWEEN), theme
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
    half = (box.width - 2 * _BETWEEN) / 2
    foot = _LEADING * (sizes.title + 3 * sizes.note)
    head = _LEADING * sizes.words + _BETWEEN
    most = max((meter.moved for meter in meters if meter is not None), default=1)
    side, row = _side_and_row(most, half, box.height - head - foot)
    base = box.y + head + math.ceil(most / row) * side + 4.0
    titles = dict.fromkeys(meter.title for meter in meters if meter is not None)
    words = next(iter(titles)) if len(titles) == 1 else tr("one request")
    title = _Line("meter-title", words, sizes.words, theme.faint)
    line = Lines("meter-base", boxes((box.x, base, box.right, base)), theme.line, 2.0)
    middle = box.middle_x
    primitives: list[Primitive] = [_centred(title, middle, box.y + sizes.words, box.width), line]
    low = base
    for place, (meter, moment) in enumerate(zip(meters, pair.sides, strict=True)):
        prefix, left = ("left-meter", "right-meter")[place], box.x + place * (half + 2 * _BETWEEN)
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
            _Line(f"{prefix}-moved", counted(grouped(meter.moved), meter.moved), sizes.title, ink, "semibold"),
            _Line(f"{prefix}-unit", _unit(meter), sizes.note, theme.text),
            _Line(f"{prefix}-needed", tr("{needed} needed", needed=spaced(meter.needed)), sizes.note, theme.text),
            _Line(f"{prefix}-array", names, sizes.note, theme.faint),
        ]
    primitives: list[Primitive] = []
    y = box.y
    for line in lines:
        y += _LEADING * line.size
        primitives.append(_centred(line, box.middle_x, y, box.width))
    return primitives, box.bottom


def _side_and_row(count: int, width: float, height: float) -> tuple[float, int]:
    """Return the side of the largest squares with which ``count`` fit, and how many stand in a row."""
    sides = ((min(_LARGEST, width / row, height / math.ceil(count / row)), -row) for row in _ROWS)
    side, row = max(sides)
    return max(_SMALLEST, side), -row


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
    primitives: list[Primitive] = (
        [Rects(f"{prefix}-squares", needed, theme.faint, radius=2.0, meaning="count")] if len(needed) else []
    )
    if len(wasted):
        primitives.append(
            Rects(f"{prefix}-wasted", wasted, mixed(theme.background, theme.warning, 0.3), theme.warning, 1.5, 2.0, "count")
        )
        inner = np.hstack([wasted[:, :2] + 0.12 * wasted[:, 2:], 0.76 * wasted[:, 2:]])
        primitives.append(hatching(f"{prefix}-hatching", inner, theme.warning, "count"))
    return primitives


def _differences(pair: Pair, box: Box, theme: Theme) -> list[Primitive]:
    """Write the largest differences of the whole launches, and the times of the real kernels, as many as fit."""
    sizes, y, primitives = theme.type, box.y, []
    low = box.bottom
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
        y += 0.8 * _BETWEEN
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
    moved = counted(meter.moved)  # a hidden count has the plural
    if meter.unit == "sector":
        return trn("sector", "sectors", meter.moved, moved=moved)
    return trn("wavefront", "wavefronts", meter.moved, moved=moved)


def _entry(each: Difference) -> tuple[str, str, str]:
    whole = each.ratio is not None or each.so_far is None
    values = each.in_all if whole else each.so_far
    assert values is not None
    shown = " | ".join("…" if value is None else "–" if value != value else counted(number(value)) for value in values)
    return each.name, shown, "" if each.ratio is None else factor(each.ratio, tr("more"), tr("fewer"))


def factor(ratio: float, more: str, less: str) -> str:
    """Return a ratio in words: "2 × more"."""
    if ratio in (0.0, math.inf):
        return tr("none on the right") if ratio == 0.0 else tr("only on the right")
    if ratio == 1.0:
        return tr("the same")
    return f"{counted(f'{max(ratio, 1 / ratio):.3g}')} × {more if ratio > 1 else less}"


def _column(lines: list[_Line], box: Box, y: float) -> tuple[list[Primitive], float]:
    """Write lines below each other in the middle of a column, and return the lower end."""
    primitives: list[Primitive] = []
    for line in lines:
        y += _LEADING * line.size
        primitives.append(_centred(line, box.middle_x, y - 0.28 * line.size, box.width))
    return primitives, y


def _centred(line: _Line, x: float, y: float, room: float) -> Labels:
    """Return a line of text in the middle of its room, smaller if it is too long."""
    size = line.size
    wide = text_width(line.text, size, line.face)
    size = max(min(size, 20.0), min(size, size * room / max(1.0, wide)))
    anchor: Anchor = "middle"
    return text_at(line.key, (x, y), fitted(line.text, size, room, line.face), size, line.colour, anchor, line.face)
