"""The layout of a comparison: two runs in the same frame, with cells of one size and the matrices in the same places, and
between them a column for the meter.
"""

from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.pairing import Pair
from gemmviz.model.records import replace
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.window import ArrayPart, Parts, Window, lens_of, lens_parts, whole_of, whole_parts
from gemmviz.scenes.stage.arrays_layout import arranged_arrays
from gemmviz.scenes.stage.cross import Cross, StageFrame, Title, cross_at, cross_cell, title_text
from gemmviz.scenes.stage.lanes import LaneTile, lane_extents, lane_tiles, padding_beyond
from gemmviz.scenes.stage.layout import Plan

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
    titles["C"] = replace(c, x=min(max(c.x, needed), room.x + room.width))
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
