"""The layout of a comparison: two runs in the same frame, with cells of one size and the matrices in the same places, and
between them a column for the meter.
"""

import math
from functools import partial

from msgspec import Struct, structs

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Difference, Pair, differences
from gemmviz.model.messages import counted, grouped, listed, number, spaced, tr, trn
from gemmviz.scenes.kit.layout import REST, Box, Line, baseline, line_at, path
from gemmviz.scenes.kit.primitives import SIDES, Labels, Primitive, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import MARGIN, ViewOptions
from gemmviz.scenes.kit.window import ArrayPart, Parts, Window, lens_of, lens_parts, whole_of, whole_parts
from gemmviz.scenes.stage.cost import Meter, cost_squares, meters_of, square_side
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
_BETWEEN_TITLES = 16.0  # units between titles
_LEAST_CELL, _CLOSER = 6.0, 1.3  # units; how much larger cells have to be for the lens
_SHARE, _LEAST, _MOST = 0.22, 250.0, 360.0  # of the column between


class TwoStages(Struct, frozen=True):
    """The layouts of both sides; ``heads``: the places of their titles; ``between``: the column of the meter."""

    plans: tuple[Plan, Plan]
    heads: tuple[Box, Box]
    between: Box


def two_stages(pair: Pair, options: ViewOptions) -> TwoStages:
    """Return the layout of a comparison. The lens is used as on the stage, for both sides the same."""
    frame = options.width, options.height, options.edge, options.timeline, options.words, options.lens, options.theme.type
    key = "two stages", id(pair.left.replay), pair.left.step, pair.left.focus, frame
    return pair.right.cached(key, lambda: _two_stages(pair, options))


def _two_stages(pair: Pair, options: ViewOptions) -> TwoStages:
    middle = min(max(_LEAST, _SHARE * options.width), _MOST)
    edge = max(_EDGE, options.edge)
    frame = Box(0.0, 0.0, options.width, options.height - options.timeline_height(pair.right.replay)).inset(edge)
    one, between, other = frame.columns(REST, middle, REST)
    rooms, inset = [each.trimmed(top=_HEAD - _EDGE) for each in (one, other)], MARGIN - edge
    heads = [each.trimmed(left=inset).strip("top", _HEAD - _EDGE)[0] for each in (one, other)]
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
    frame = _common_frame(_more_tiles(pair), pair.sides, pair, options)
    cell = min(cross_cell(window, frame, room) for window, room in zip(windows, rooms, strict=True))
    plans = []
    for moment, window, room in zip(pair.sides, windows, rooms, strict=True):
        cross, own = cross_at(window, frame, room, cell), lane_tiles(moment.replay)
        lanes = None if cross.lanes is None or not own else structs.replace(cross.lanes, tiles=own)
        titles = _apart(cross, window, room, frame)
        plans.append(Plan(window, cross.matrices, {}, lanes, frame.beyond, titles))
    return plans[0], plans[1]


def _apart(cross: Cross, window: Window, room: Box, frame: StageFrame) -> dict[str, Title]:
    """Return the titles with those of A and C apart, where a narrow cross has no room for both side by side."""
    titles, size = dict(cross.titles), frame.type.name
    a, c = titles["A"], titles["C"]
    wide_a, wide_c = (text_width(title_text(name, window.extents(name)), size, "semibold") for name in "AC")
    needed = a.x + wide_a + _BETWEEN_TITLES + wide_c
    titles["C"] = structs.replace(c, x=min(max(c.x, needed), room.right))
    if titles["C"].x < needed and cross.lanes is None:
        titles["A"] = structs.replace(a, y=cross.matrices["A"].y - 0.5 * _BETWEEN_TITLES)  # in the corner, which is empty
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


def _common_frame(tiles: tuple[LaneTile, ...], moments: tuple[Moment, ...], pair: Pair, options: ViewOptions) -> StageFrame:
    """Return a frame with the space for padding that any of the runs needs."""
    beyond = [padding_beyond(moment, lane_tiles(moment.replay)) for moment in moments]
    most = max(rows for rows, _ in beyond), max(columns for _, columns in beyond)
    size = options.width, options.height
    return StageFrame(tiles, *size, False, False, options.timeline_height(pair.right.replay), options.theme.type, most)


def _arrays(moment: Moment, room: Box, pair: Pair, options: ViewOptions, is_lens: bool) -> Plan:
    """Return the arrays of another problem; both sides leave the same room for shared arrays."""
    if moment.trace.is_multiply:
        window = lens_of(moment) if is_lens else whole_of(moment)
        frame = _common_frame(lane_tiles(moment.replay), (moment,), pair, options)
        cross = cross_at(window, frame, room, cross_cell(window, frame, room))
        return Plan(window, cross.matrices, {}, cross.lanes, frame.beyond, cross.titles)
    inputs = frozenset(moment.trace.arrays[number].name for number in moment.trace.inputs)
    parts = _visible_parts(moment, pair, is_lens)
    arranged = arranged_arrays(parts, inputs, room, _more_tiles(pair))
    has_tiles = arranged.tiles is not None and lane_tiles(moment.replay)
    return Plan(parts, arranged.grids, {"tiles": arranged.tiles} if has_tiles and arranged.tiles is not None else {})


def _visible_parts(moment: Moment, pair: Pair, is_lens: bool) -> Parts:
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
    return structs.replace(parts[0], rows=rows, columns=columns)


# The column between two compared runs: the request of each as a bar of squares on one base line, and below it the largest
# differences of the whole launches.

_LEADING, _BETWEEN, _PAD = 1.28, 14.0, 16.0
_ROWS, _LARGEST, _SMALLEST = (4, 8, 16, 32, 64), 40.0, 3.0  # squares of a row; sides of a square in units
_SQUARES_SHARE = 0.42  # of the column, for the squares
_ABOVE_BASE = 4.0  # from the base line to the squares


def column_primitives(pair: Pair, box: Box, lock: str, options: ViewOptions) -> list[Primitive]:
    """Draw the column: how the runs are locked, the meter of both, and as many differences as fit."""
    theme, inner = options.theme, box.inset(_PAD, 0.0)
    ink, size = theme.faint if pair.is_same_problem else theme.warning, theme.type.note
    lines = [Line(f"lock-{n}", text, size, ink) for n, text in enumerate(wrap_text(lock, size, inner.width, 2))]
    words, rest = _centred_lines(lines, inner)
    drawn: list[Primitive] = [*words]
    meters = _meters_of_both(pair)
    if any(meters):
        high = _SQUARES_SHARE * box.height
        drawn += _both_meters(pair, meters, rest.trimmed(top=_BETWEEN)._replace(height=high), options)
        rest = rest.trimmed(top=_BETWEEN + _meters_end(meters, rest.width, high, theme))
    return [*drawn, *_differences(pair, rest.trimmed(top=1.4 * _BETWEEN), theme)]


def _meters_of_both(pair: Pair) -> tuple[Meter | None, Meter | None]:
    """Return the meters of both sides for one memory: the one that both access, else the first that one of them does. None for
    a side that doesn't access it.
    """
    left, right = ({meter.unit: meter for meter in each.cached("meters", partial(meters_of, each))} for each in pair.sides)
    units = sorted({*left, *right}, key=lambda unit: (unit not in left or unit not in right, unit != "sector"))
    return (left.get(units[0]), right.get(units[0])) if units else (None, None)


def _both_meters(
    pair: Pair, meters: tuple[Meter | None, Meter | None], box: Box, options: ViewOptions
) -> list[Primitive]:  # fmt: skip
    """Draw the squares of both sides on one base line, with their numbers below."""
    theme = options.theme
    side, row = _side_and_row(meters, box.width, box.height, theme)
    head, rest = box.strip("top", _head_of_meters(theme) + _rows_of_squares(meters, row) * side + _ABOVE_BASE)
    titles = dict.fromkeys(meter.title for meter in meters if meter is not None)
    words = next(iter(titles)) if len(titles) == 1 else tr("one request")
    title = Line("meter-title", words, theme.type.words, theme.faint)
    drawn: list[Primitive] = [
        *_centred_lines([title], head)[0],
        path("meter-base", [(box.x, rest.y), (box.right, rest.y)], theme.line, 2.0),
    ]
    halves = rest.columns(REST, REST, gap=2 * _BETWEEN)
    for half, meter, moment, run in zip(halves, meters, pair.sides, SIDES, strict=True):
        key = f"{run}-meter"
        if meter is not None:
            left = half.middle_x - min(row, max(1, meter.moved)) * side / 2
            corner = left, rest.y - _ABOVE_BASE
            drawn += cost_squares(f"{key}-cost", meter, corner, side, row, theme, options.counted, upwards=True)
        drawn += _words_of_meter(meter, moment, key, half, theme, next(filter(None, meters)).unit)
    return drawn


def _head_of_meters(theme: Theme) -> float:
    return _LEADING * theme.type.words + _BETWEEN


def _numbers_height(theme: Theme) -> float:
    return _LEADING * (theme.type.title + 3 * theme.type.note)


def _meters_end(meters: tuple[Meter | None, Meter | None], width: float, height: float, theme: Theme) -> float:
    """Return the height of both meters with their words."""
    side, row = _side_and_row(meters, width, height, theme)
    return _head_of_meters(theme) + _rows_of_squares(meters, row) * side + _ABOVE_BASE + _numbers_height(theme)


def _rows_of_squares(meters: tuple[Meter | None, Meter | None], row: int) -> int:
    return math.ceil(max((meter.moved for meter in meters if meter is not None), default=1) / row)


def _side_and_row(
    meters: tuple[Meter | None, Meter | None], width: float, height: float, theme: Theme
) -> tuple[float, int]:  # fmt: skip
    """Return the side of the largest squares with which those of both sides fit, and how many stand in a row."""
    count = max((meter.moved for meter in meters if meter is not None), default=1)
    high = height - _head_of_meters(theme) - _numbers_height(theme)
    side, row = square_side(count, Box(0.0, 0.0, width / 2 - _BETWEEN, high), _LARGEST, _ROWS)
    return max(_SMALLEST, side), row


def _words_of_meter(meter: Meter | None, moment: Moment, key: str, box: Box, theme: Theme, unit: str) -> list[Labels]:
    """Write what one side moves and needs below its squares, and of which array."""
    sizes, space = theme.type, "global" if unit == "sector" else "shared"
    names = ", ".join(dict.fromkeys(each.array.name for each in moment.touched if each.array.space == space))
    if meter is None:
        none = tr("no access to global memory") if space == "global" else tr("no access to shared memory")
        texts = enumerate(wrap_text(none, sizes.note, box.width, 3))
        return _centred_lines([Line(f"{key}-none-{n}", text, sizes.note, theme.faint) for n, text in texts], box)[0]
    ink = theme.warning if meter.moved > meter.needed else theme.text
    lines = [
        Line(f"{key}-moved", counted(grouped(meter.moved), meter.moved), sizes.title, ink, "semibold"),
        Line(f"{key}-unit", _unit_in_plural(meter), sizes.note, theme.text),
        Line(f"{key}-needed", tr("{needed} needed", needed=spaced(meter.needed)), sizes.note, theme.text),
        Line(f"{key}-array", names, sizes.note, theme.faint),
    ]
    return _centred_lines(lines, box)[0]


def _differences(pair: Pair, box: Box, theme: Theme) -> list[Primitive]:
    """Write the largest differences of the whole launches, and the times of the real kernels, as many as fit."""
    sizes, drawn = theme.type, list[Primitive]()
    for place, (name, values, ratio) in enumerate(_entries(pair)):
        names = wrap_text(name, sizes.least, box.width, 2)
        lines = [Line(f"name-{place}-{n}", text, sizes.least, theme.faint) for n, text in enumerate(names)]
        large = sizes.title if place == 0 else sizes.note  # the first one is what the comparison says
        lines.append(Line(f"values-{place}", values, min(large, sizes.words), theme.text))
        if ratio:
            lines.append(Line(f"ratio-{place}", ratio, large, theme.text, "semibold"))
        made, box = _centred_lines(lines, box)
        if box.height < 0:
            break
        drawn += made
        box = box.trimmed(top=0.8 * _BETWEEN)
    return drawn


def _entries(pair: Pair) -> list[tuple[str, str, str]]:
    """Return name, both values and ratio of each line: the marked element, the largest difference of launches, the time, then
    what else differs.
    """
    found = differences(pair)
    differing = [each for each in found if each.ratio != 1.0]
    entries = [_entry(each) for each in differing or found]
    times = [None if time is None else f"{number(time * 1e3)} µs" for time in pair.times_ms]
    if any(times):
        sources = listed(dict.fromkeys(pair.time_sources))
        left, right = pair.times_ms
        ratio = factor(right / left, tr("slower"), tr("faster")) if left and right else ""
        at = 1 if pair.marked is None else 2
        entries.insert(
            at, (tr("real kernel: {sources}", sources=sources), " | ".join(time or tr("unknown") for time in times), ratio)
        )
    return entries


def _unit_in_plural(meter: Meter) -> str:
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


def _centred_lines(lines: list[Line], box: Box) -> tuple[list[Labels], Box]:
    """Write lines below each other in the middle of a column, each smaller if it is too long, and return the rest of it."""
    drawn: list[Labels] = []
    for line in lines:
        row, box = box.strip("top", _LEADING * line.size)
        at = row.middle_x, baseline(row.middle_y, line.size)
        drawn.append(line_at(line.key, at, line.text, line.size, line.colour, row.width, "middle", line.face))
    return drawn, box
