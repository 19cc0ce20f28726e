"""What a request costs: squares for its sectors or wavefronts, the sectors over the cells of the matrices, and its lanes over
the sectors or the banks that serve it.
"""

import dataclasses
import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.costs import MovedSectors, Punchcard, access_card, moved_sectors
from gemmviz.analysis.counts import Counts, count_rows
from gemmviz.analysis.replay.moment import Moment, Request, TouchedOperand
from gemmviz.model.arrays import Bools, Floats
from gemmviz.model.messages import counted, grouped, many, spaced, tr, trn
from gemmviz.model.sites import SPACES, MemoryArray, Space
from gemmviz.scenes.kit.layout import (
    LINE_PITCH,
    NEAR,
    REST,
    Box,
    Point,
    baseline,
    cells_in,
    line_at,
    names_of_parts,
    swatch,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, boxes, text_width, wrap_text
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import Style, Theme, mixed
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.cells import CellGrid, boxes_of_runs, grown, runs
from gemmviz.scenes.stage.tile_cells import tile_matrix

_WASTED = 0.3  # share of red in what is moved without need

# The cost of a request as squares, one for each sector or wavefront: grey if it is needed, red if it is not. The numbers are
# those of the counts: ``needed`` is the fewest sectors or wavefronts that could carry the requested bytes.

LARGEST_SQUARE = 44.0
_LEAST_SQUARE, _GAP = 5.0, 0.14  # units; of a square's side
_OUTLINED_SQUARE = 12.0  # units: side of a square with an outline
_LEAST_ROOM, _UNDER = 36.0, 6.0  # height of the squares; between them and what stands under them
_SQUARES_OF_ROW = (4, 8, 16, 32, 64, 128)  # squares of a row


class Meter(Struct, frozen=True):
    """What one warp's request moves and needs, and the same for all ``requests`` of the watched warps.

    ``title``: whose request it is; ``unit``: "sector" or "wavefront"; ``size``: what one of them is, "" for nothing to say.
    """

    title: str
    unit: str
    moved: int
    needed: int
    requests: int = 1
    all_moved: int = 0
    all_needed: int = 0
    size: str = ""

    @property
    def text(self) -> str:
        """What the request costs and needs: "32 moved, 4 needed", of wavefronts "32 wavefronts, 1 needed"."""
        return self._said(self.moved, self.needed)

    def _said(self, moved: int, needed: int) -> str:
        values = {"moved": counted(grouped(moved), moved), "needed": spaced(needed)}
        if self.unit == "sector":
            return tr("{moved} moved, {needed} needed", **values)
        return trn(
            "{count} wavefront, {needed} needed", "{count} wavefronts, {needed} needed", moved, count=values["moved"], **values
        )

    @property
    def sum_text(self) -> str:
        """The sum over all requests, "" if there are no others."""
        if (self.moved, self.needed) == (self.all_moved, self.all_needed):
            return ""
        sentence = self._said(self.all_moved, self.all_needed)
        return tr("all {requests} requests: {sentence}", requests=spaced(self.requests), sentence=sentence)


def meters_of(moment: Moment) -> tuple[Meter, ...]:
    """Return the meters of a moment, one for each kind of memory that the step accesses."""
    return tuple(meter for space in SPACES if (meter := _meter_of(moment, space)) is not None)


def _meter_of(moment: Moment, space: Space) -> Meter | None:
    """Return the meter of one kind of memory; of the requests of other blocks if the watched one makes none."""
    touched = moment.touched_in(space)
    if touched is None:
        return None
    rules, total, request = moment.trace.rules, _cost_in(moment, space), moment.request_of(touched.row)
    if not total.requests:
        return None
    one, title = total, tr("requests of other blocks")
    if request is not None:
        one, warp = _asked_cost(moment, touched, request), request.warp
        title = tr("requests of warp {warp}", warp=warp) if one.requests > 1 else tr("request of warp {warp}", warp=warp)
    if space == "global":
        sums = one.sectors, one.needed_sectors, total.requests, total.sectors, total.needed_sectors
        return Meter(title, "sector", *sums, tr("sectors of {sector_bytes} bytes", sector_bytes=rules.sector_bytes))
    sums = one.wavefronts, one.ideal_wavefronts, total.requests, total.wavefronts, total.ideal_wavefronts
    return Meter(title, "wavefront", *sums, tr("of {banks} banks", banks=rules.banks))


def _asked_cost(moment: Moment, touched: TouchedOperand, request: Request) -> Counts:
    """Return the counts of one warp's request for an operand."""
    rules = moment.trace.rules
    rows = request.lanes.reshape(-1, rules.request_lanes)
    key = ("request cost", touched.row, request.warp)
    return moment.cached(key, lambda: count_rows(rows, touched.operand, touched.array, rules))


def _cost_in(moment: Moment, space: Space) -> Counts:
    """Return the cost of a step in one kind of memory, for the watched warps."""
    if all(each.array.space == space for each in moment.touched):
        return moment.cost
    return moment.cost_of(each for each in moment.touched if each.array.space == space)


def meter_primitives(
    meter: Meter, box: Box, theme: Theme, key: str = "meter", *, share: float = 1.0, side: float = 0.0,
    largest: float = LARGEST_SQUARE,
) -> list[Primitive]:  # fmt: skip
    """Draw a meter within a box: whose request it is, the squares, what they say, and the sum over all requests.

    ``share``: how many of the squares are shown, 0 to 1. ``side``: the side of a square, 0 for as large as fits, up to
    ``largest``.
    """
    sizes = theme.type
    sums = wrap_text(meter.sum_text, sizes.note, box.width, 2) if meter.sum_text else ()
    texts: tuple[str, ...] = (meter.text,)
    size = sizes.title
    if text_width(meter.text, sizes.least, "semibold") > box.width:
        texts, size = wrap_text(meter.text, sizes.note, box.width, 2, "semibold"), sizes.note
    strong, plain, faint = Style(size, theme.text, "semibold"), Style(sizes.note, theme.text), Style(sizes.note, theme.faint)
    lines = [
        *((f"text-{place}" if place else "text", line, strong) for place, line in enumerate(texts)),
        *((f"sum-{place}", line, plain) for place, line in enumerate(sums)),
        ("size", meter.size, faint),
    ]  # the most important ones first
    head, room = box.strip("top", LINE_PITCH * sizes.words, 8.0)
    foot = LINE_PITCH * sum(style.size for _, _, style in lines) + _UNDER
    while lines[len(texts) :] and room.height + 8.0 - foot < _LEAST_ROOM:
        foot -= LINE_PITCH * lines.pop()[2].size
    if len(lines) < len(texts) + len(sums):  # a part of the sum would say something else
        foot -= LINE_PITCH * sum(style.size for _, _, style in lines[len(texts) :])
        del lines[len(texts) :]
    at = head.x, baseline(head.middle_y, sizes.words)
    title = line_at(f"{key}-title", at, meter.title, sizes.words, theme.faint, box.width)
    squares, end = _meter_squares(meter, room.trimmed(bottom=foot), theme, key, share, side, largest)
    drawn, y = [title, *squares], end + _UNDER
    for name, text, (size, colour, face) in lines:
        at = box.x, baseline(y + 0.5 * LINE_PITCH * size, size)
        drawn.append(line_at(f"{key}-{name}", at, text, size, colour, box.width, face=face))
        y += LINE_PITCH * size
    return drawn


def square_side(
    count: int, room: Box, largest: float = LARGEST_SQUARE, rows: tuple[int, ...] = _SQUARES_OF_ROW
) -> tuple[float, int]:
    """Return the side of the largest squares that fit a room, and how many stand in a row."""
    if count <= rows[0]:
        return min(largest, room.height, room.width / rows[0]), rows[0]
    sides = ((min(largest, room.width / row, room.height / math.ceil(count / row)), row) for row in rows)
    return max(sides, key=lambda each: (round(each[0], 3), -each[1]))


def _meter_squares(
    meter: Meter, room: Box, theme: Theme, key: str, share: float, side: float, largest: float
) -> tuple[list[Primitive], float]:
    """Draw the squares of a meter and return their lower edge. More squares than fit are a bar with the same shares."""
    fitting, row = square_side(meter.moved, room, largest)
    side = min(side, fitting) if side else fitting
    if side >= _LEAST_SQUARE:
        drawn = cost_squares(key, meter, (room.x, room.y), side, row, theme, share)
        return drawn, room.y + math.ceil(meter.moved / row) * side
    bar = room._replace(width=share * room.width, height=min(LARGEST_SQUARE, room.height))
    needed, wasted = bar.strip("left", bar.width * meter.needed / max(1, meter.moved))
    return [
        Rects(f"{key}-needed", boxes(needed), theme.faint, meaning="count"),
        Rects(f"{key}-wasted", boxes(wasted), theme.warning, meaning="count"),
    ], bar.bottom


def cost_squares(
    key: str, meter: Meter, corner: Point, side: float, row: int, theme: Theme, share: float, *, upwards: bool = False
) -> list[Primitive]:
    """Draw a square for each sector or wavefront from a corner on, those that are needed first: ``row`` in a row, and the rows
    one below the other or, ``upwards``, one above the other.
    """
    down, across = np.divmod(np.arange(math.ceil(share * meter.moved)), row)
    top = corner[1] - (down + 1) * side if upwards else corner[1] + down * side
    squares = np.column_stack([corner[0] + across * side, top, np.full((len(down), 2), (1 - _GAP) * side)])
    needed, wasted, radius = squares[: meter.needed], squares[meter.needed :], 0.12 * side
    drawn: list[Primitive] = []
    if len(needed):
        drawn.append(Rects(f"{key}-needed", needed, theme.faint, radius=radius, meaning="count"))
    if len(wasted):
        is_small, fill = side < _OUTLINED_SQUARE, mixed(theme.background, theme.warning, _WASTED)
        colour, line = (theme.warning, None) if is_small else (fill, theme.warning)
        drawn.append(Rects(f"{key}-wasted", wasted, colour, line, 2.0, radius, "count"))
        if not is_small:
            drawn.append(hatching(f"{key}-hatching", grown(wasted, -radius), theme.warning, "count"))
    return drawn


# The sectors that the requests of a step move, outlined over the cells of the matrices.

_LEAST_OUTLINED, _LEAST_HATCHED = 3.0, 6.0  # pixels of a cell
_LEAST_SINGLE = 26.0  # units: width of a cell that is drawn by itself
_MOST_OUTLINED = 4096


def sector_primitives(moment: Moment, matrices: Mapping[str, CellGrid], options: ViewOptions) -> list[Primitive]:
    """Outline the sectors that the watched warps' requests move at this step; of one thread, those of its warp."""
    primitives: list[Primitive] = []
    for touched in moment.touched:
        table = matrices.get(touched.array.name)
        if touched.array.space == "global" and table is not None and table.cell * options.pixels >= _LEAST_OUTLINED:
            moved = step_sectors(moment, touched)
            if 0 < len(moved.numbers) <= _MOST_OUTLINED:
                primitives += outlined(touched.array, moved, table, options)
    return primitives


def step_sectors(moment: Moment, touched: TouchedOperand) -> MovedSectors:
    """Return the sectors that all requests of the watched warps move for an operand in global memory."""
    operand, array, rules = touched.operand, touched.array, moment.trace.rules
    key = "sectors", touched.row
    return moment.cached(key, lambda: moved_sectors(moment.requests_of(touched), operand, array, rules))


def outlined(array: MemoryArray, moved: MovedSectors, table: CellGrid, options: ViewOptions) -> list[Primitive]:
    """Outline sectors over the cells of a matrix, and hatch the elements that come along without need."""
    theme, name = options.theme, array.name
    outlines, wasteful = sector_boxes(array, moved, table)
    along = moved.elements[~moved.is_asked & moved.is_wasteful[:, None]]
    is_hatched = table.cell * options.pixels >= _LEAST_HATCHED
    drawn = _wasted_cells(f"{name}-sectors-wasted", table.of(array, along), theme, is_hatched)
    width = max(1.5, min(3.0, 0.08 * table.cell))
    for key, chosen, colour in (
        (f"{name}-sectors", ~wasteful, theme.accent(name)), (f"{name}-wasteful-sectors", wasteful, theme.warning),
    ):  # fmt: skip
        if chosen.any():
            drawn.append(Rects(key, outlines[chosen], None, colour, width, meaning="count"))
    return drawn


def _wasted_cells(key: str, cells: Floats, theme: Theme, is_hatched: bool, apart: float = 0.0) -> list[Primitive]:
    """Draw cells (n, 4) whose bytes are moved without being requested; small ones side by side, ``apart``, as one box."""
    if not len(cells):
        return []
    if cells[0, 2] < _LEAST_SINGLE:
        cells = boxes_of_runs(cells, runs(((cells[:, :2], float(cells[0, 2] + apart)),), np.zeros(len(cells), np.int64)))
    inset = np.minimum(1.0, 0.04 * cells[:, 2:].min(axis=1, keepdims=True))
    inner = np.hstack([cells[:, :2] + inset, cells[:, 2:] - 2 * inset])
    filled = Rects(key, inner, mixed(theme.background, theme.warning, _WASTED), meaning="count")
    return [filled, hatching(f"{key}-hatching", inner, theme.warning, "count")] if is_hatched else [filled]


def sector_boxes(array: MemoryArray, moved: MovedSectors, table: CellGrid) -> tuple[Floats, Bools]:
    """Return the boxes (n, 4) of the visible parts of sectors, and which of them belong to wasteful ones.

    A sector lies along a row, of a column-major matrix along a column; it has two boxes if it continues in the next one.
    """
    elements = moved.elements
    sector = np.repeat(np.arange(len(elements)), elements.shape[1])
    inside = elements.ravel() < array.size
    row, column = array.row_column(elements.ravel()[inside])
    seen = table.holds(row, column)
    row, column, sector = row[seen], column[seen], sector[inside][seen]
    if not len(row):
        return np.zeros((0, 4)), np.zeros(0, bool)
    line = column if array.column_major else row
    run = np.cumsum(np.concatenate([[0], (np.diff(line) != 0) | (np.diff(sector) != 0)]))
    return boxes_of_runs(table.boxes(row, column), run), moved.is_wasteful[sector[np.unique(run, return_index=True)[1]]]


# The request of one warp: its lanes as cells, and below them the sectors that it moves, or the banks that serve it.

_LANES, _LANE_HEIGHT, _LANE_LINE = 8, 34.0, 1.2  # lanes of a row; largest height of one, and least, of its number
_MOST_OF_LANES, _BELOW_LANES = 0.5, 14.0  # of the height; between the lanes and what serves them
_LARGEST_CELL, _LEAST_CELL = 76.0, 3.0  # units: cell of a sector
_SECTOR_GAP = 0.35  # sectors, of a cell
_LOWEST = 1.6  # width of the flattest cell, of its height
_COLUMNS, _MOST_SECTORS = (1, 2, 4, 8, 16), 256
_LEAST_STACKS, _HIGHEST_OF_WIDE = 60.0, 1.0  # height of the banks with what waits; at most, of the width of a room
LARGE = 1.4  # size of the number of a request, of a title


def request_primitives(moment: Moment, box: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the request of the watched warp, or of the first active warp of the block, within a box; nothing without one."""
    theme, found = options.theme, _asked(moment)
    if found is None:
        return []
    touched, request = found
    head, above, room, foot = _request_rooms(moment, box, theme)
    drawn: list[Primitive] = []
    if moment.focus.warp is None:
        drawn.append(_warp_name(request.warp, head, theme))
    if above.height:
        active = request.lanes >= 0
        drawn += _lane_cells(moment, active, above, theme.accent(matrix_of(moment, touched)), theme)
    cost = _asked_cost(moment, touched, request)
    if touched.array.space == "global":
        moved = request_sectors(moment, touched, request)[0]
        shapes, end = sector_grid(moved, room, theme.accent(touched.array.name), options)
        drawn += shapes
        text, needed = many(cost.sectors, "sector"), cost.needed_sectors
        is_wasteful, foot = cost.sectors > needed, foot._replace(y=min(foot.y, end + 8.0))
        if (~moved.is_asked & moved.is_wasteful[:, None]).any():
            drawn += _unasked_swatch(box.trimmed(top=foot.bottom - box.y), theme)
    else:
        drawn += _stacks(moment, touched, request, room, structs.replace(options, moment=1.0))
        foot = foot._replace(y=room.bottom + 8.0)
        text, needed = many(cost.wavefronts, "wavefront"), cost.ideal_wavefronts
        is_wasteful = cost.wavefronts > needed
    return [*drawn, *_number_below(text, needed, is_wasteful, foot, theme)]


def _warp_name(warp: int, box: Box, theme: Theme) -> Labels:
    style = Style(theme.type.words, theme.faint)
    return dataclasses.replace(write("request-name", box, tr("warp {warp}", warp=warp), style), tells=("warp",))


def _unasked_swatch(box: Box, theme: Theme) -> list[Primitive]:
    """Say what is hatched, if the line fits."""
    size = theme.type.note
    line, text = box.strip("top", LINE_PITCH * size)[0], tr("not requested")
    if box.height < line.height or 2.0 * size + text_width(text, size) > box.width:
        return []
    mark, words = swatch(
        "request-unasked", line, text, mixed(theme.background, theme.warning, _WASTED), Style(size, theme.faint)
    )
    hatched = hatching("request-unasked-hatching", mark.boxes, theme.warning)
    return [mark, hatched, dataclasses.replace(words, tells=("not requested",))]


def _number_below(moved: str, needed: int, is_wasteful: bool, box: Box, theme: Theme) -> list[Labels]:
    """Write what a request costs, large, and below it what it needs."""
    sizes, size = theme.type, LARGE * theme.type.title
    first = box.strip("top", LINE_PITCH * size)[0]
    ink, at = theme.warning if is_wasteful else theme.text, (box.x, baseline(first.middle_y, size))
    large = line_at("request-moved", at, moved, size, ink, box.width, face="semibold")
    below = first.shifted(y=first.height)._replace(height=LINE_PITCH * sizes.note)
    small = write("request-needed", below, tr("{needed} needed", needed=spaced(needed)), Style(sizes.note, theme.faint))
    return [
        dataclasses.replace(large, meaning="count", tells=("moved",)),
        dataclasses.replace(small, meaning="count", tells=("needed",)),
    ]


# The threads of a block that wait, warp by warp.

_MOST_WARPS = 16


def waiting_lanes(moment: Moment, box: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the lanes of each warp of the watched block, filled where the thread waits at this step."""
    theme, size, warps = options.theme, moment.trace.rules.warp_size, moment.trace.space.warps_per_block
    waits = moment.takes_part
    head, room = box.strip("top", LINE_PITCH * theme.type.words, 8.0)
    shown = min(warps, _MOST_WARPS)
    texts = [tr("warp {warp}", warp=warp) for warp in range(shown)]
    if shown == 1:
        name, rows = [] if moment.focus.warp is not None else [_warp_name(0, head, theme)], [room]
    else:
        names, lanes = room.columns(max(text_width(text, theme.type.least) for text in texts), REST, gap=NEAR)
        high = min(_LANE_HEIGHT, room.height / shown)
        rows = lanes.strip("top", high * shown)[0].grid(shown, 1, 4.0)
        parts = names.strip("top", high * shown)[0].grid(shown, 1, 4.0)
        style = Style(theme.type.least, theme.faint)
        fits = high >= theme.type.least
        name = [
            write_all("waiting-names", parts, texts, style) if fits else write("warps-name", head, many(warps, "warp"), style)
        ]
    drawn: list[Primitive] = [*name]
    for warp, row in enumerate(rows):
        own = waits[warp * size : (warp + 1) * size]
        own_box = row.strip("top", min(row.height, _LANE_HEIGHT * math.ceil(size / _LANES)))[0] if shown == 1 else row
        drawn += _lane_cells(moment, own, own_box, theme.faint, theme, f"waiting-{warp}", _LANES if shown == 1 else size)
    return drawn


def request_motion(moment: Moment, box: Box, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lanes over the banks with those of later wavefronts dim, over the still picture."""
    found = _asked(moment)
    if found is None or found[0].array.space == "global":
        return ()
    room = _request_rooms(moment, box, options.theme)[2]
    return tuple(each for each in _stacks(moment, *found, room, options) if isinstance(each, Cells))


def _asked(moment: Moment) -> tuple[TouchedOperand, Request] | None:
    request = None if moment.main is None else moment.request_of(moment.main.row)
    return None if moment.main is None or request is None else (moment.main, request)


def _request_rooms(moment: Moment, box: Box, theme: Theme) -> list[Box]:
    """Return the places of the words, the lanes, of no height in a low box, the sectors or banks, and the words below them."""
    sizes, rows = theme.type, math.ceil(moment.trace.rules.warp_size / _LANES)
    own = 0.0 if moment.focus.warp is not None else LINE_PITCH * sizes.words
    head, rest, foot = box.rows(own, REST, LINE_PITCH * (LARGE * sizes.title + sizes.note), gap=8.0)
    high = min(_LANE_HEIGHT * rows, _MOST_OF_LANES * rest.height)
    if high < _LANE_LINE * sizes.least * rows:
        return [head, rest._replace(height=0.0), rest, foot]
    lanes, below = rest.strip("top", high, _BELOW_LANES)
    return [head, lanes, below._replace(height=min(below.height, _HIGHEST_OF_WIDE * box.width)), foot]


def _lane_cells(
    moment: Moment, is_active: Bools, box: Box, accent: str, theme: Theme, key: str = "request", columns: int = _LANES
) -> list[Primitive]:
    """Draw the lanes of a warp as cells, active ones in a colour."""
    lanes = moment.trace.rules.warp_size
    columns = min(lanes, columns)
    lane = np.arange(math.ceil(lanes / columns) * columns).reshape(-1, columns)
    active = (lane < len(is_active)) & np.resize(is_active, lane.shape)
    fits = box.width / columns >= text_width(str(lanes - 1), theme.type.least) + 2
    texts, size = np.where(lane < lanes, lane.astype("<U4"), ""), theme.type.least if fits else 0.0
    palette, inks = (theme.empty, accent), (theme.faint, theme.ink_on(accent))
    drawn: list[Primitive] = [
        cells_in(f"{key}-lanes", box, active.astype(np.uint8), palette, theme.background, inks, "lanes", texts, size)
    ]
    if moment.focus.thread is not None and key == "request":
        ring = box.grid(*lane.shape)[moment.focus.thread % lanes]
        drawn.append(Rects("request-followed", boxes(ring), None, theme.accent("C"), 3.0, 3.0, "lanes"))
    return drawn


def matrix_of(moment: Moment, touched: TouchedOperand) -> str:
    """Return the name whose colour stands for an operand: of a copy in shared memory, that of the copied matrix."""
    return touched.array.name if touched.array.space == "global" else tile_matrix(moment) or touched.array.name


def request_sectors(moment: Moment, touched: TouchedOperand, request: Request) -> tuple[MovedSectors, Counts]:
    """Return the sectors that one warp's request moves, and its counts."""
    cost = _asked_cost(moment, touched, request)
    if moment.focus.warp is not None:
        return step_sectors(moment, touched), cost
    rules = moment.trace.rules
    return moved_sectors(request.lanes.reshape(-1, rules.request_lanes), touched.operand, touched.array, rules), cost


def sector_grid(
    moved: MovedSectors, room: Box, accent: str, options: ViewOptions, key: str = "request-sectors",
    largest: float = _LARGEST_CELL,
) -> tuple[list[Primitive], float]:  # fmt: skip
    """Draw sectors as rows of their elements, requested ones in ``accent`` with their lanes where they fit, and return the
    lower edge. ``largest``: the most width of a cell.
    """
    theme, sectors = options.theme, sector_places(moved, room, largest)
    if not len(sectors):
        return [], room.y
    asked, wasteful, high = moved.is_asked[: len(sectors)], moved.is_wasteful[: len(sectors), None], float(sectors[0, 3])
    air = min(1.0, 0.06 * high)
    free, along, requested = (elements_of(sectors, chosen) for chosen in (~asked & ~wasteful, ~asked & wasteful, asked))
    drawn: list[Primitive] = [
        Rects(f"{key}-along", grown(free, -air), theme.empty, meaning="count"),
        *_wasted_cells(f"{key}-wasted", grown(along, -air), theme, high * options.pixels >= _LEAST_HATCHED, 2 * air),
        Rects(f"{key}-asked", grown(requested, -air), accent, meaning="count"),
        Rects(f"{key}-outlines", sectors, None, theme.faint, 1.5, meaning="count"),
        *_lane_numbers(moved, sectors, accent, theme, key),
    ]
    return drawn, float(sectors[-1, 1]) + high * (1 + _SECTOR_GAP)


def sector_places(moved: MovedSectors, room: Box, largest: float = _LARGEST_CELL) -> Floats:
    """Return the boxes (n, 4) of the sectors that ``sector_grid`` draws, with cells as large as the room allows: none if they
    would be too flat.
    """
    count, elements = len(moved.numbers[:_MOST_SECTORS]), moved.first.shape[1]

    def cell(columns: int) -> tuple[float, float]:
        wide = min(largest, room.width / (columns * (elements + _SECTOR_GAP) - _SECTOR_GAP))
        return wide, min(wide, room.height / (math.ceil(count / columns) * (1 + _SECTOR_GAP)))

    def area(columns: int) -> float:
        wide, high = cell(columns)
        return round(min(wide, _LOWEST * high) * high, 3)

    columns = max(_COLUMNS, key=lambda each: (area(each), -each))
    wide, high = cell(columns)
    if high < _LEAST_CELL:
        return np.zeros((0, 4))
    row, column = np.divmod(np.arange(count), columns)
    x, y = room.x + column * wide * (elements + _SECTOR_GAP), room.y + row * high * (1 + _SECTOR_GAP)
    return np.column_stack([x, y, np.full(count, wide * elements), np.full(count, high)])


def elements_of(sectors: Floats, chosen: Bools) -> Floats:
    """Return the boxes (n, 4) of the chosen elements (sectors, elements) of sectors (n, 4)."""
    row, column = np.nonzero(chosen)
    wide = sectors[row, 2] / chosen.shape[1]
    return np.column_stack([sectors[row, 0] + column * wide, sectors[row, 1], wide, sectors[row, 3]])


def _lane_numbers(moved: MovedSectors, sectors: Floats, accent: str, theme: Theme, key: str) -> list[Primitive]:
    """Write on each requested element the lane that requests it, or how many lanes do, if that fits."""
    asking, first = moved.asking[: len(sectors)], moved.first[: len(sectors)]
    wide, high = float(sectors[0, 2]) / asking.shape[1], float(sectors[0, 3])
    size = min(0.75 * high, theme.type.words)
    if size < theme.type.least or text_width("×32" if (asking > 1).any() else "31", size) > wide - 3:
        return []
    pairs = zip(asking[asking > 0].tolist(), first[asking > 0].tolist(), strict=True)
    texts = tuple(f"×{times}" if times > 1 else str(lane) for times, lane in pairs)
    middle = elements_of(sectors, asking > 0)[:, :2] + (wide / 2, baseline(high / 2, size))
    return [Labels(f"{key}-lane-numbers", middle, texts, size, theme.ink_on(accent), "middle", meaning="lane numbers")]


def _stacks(moment: Moment, touched: TouchedOperand, request: Request, room: Box, options: ViewOptions) -> list[Primitive]:
    if room.height < _LEAST_STACKS:
        return []
    card = moment.cached(
        ("card", touched.row, request.warp),
        lambda: access_card(request.lanes, touched.operand, touched.array, moment.trace.rules),
    )
    accent = options.theme.accent(matrix_of(moment, touched))
    return waiting_primitives(card, room, accent, options.theme, "request-waiting", share=options.moment)


# The lanes of a warp over the banks of shared memory that serve them: a bank with several words to deliver has a stack of
# lanes over it, of which it serves one in each wavefront.

IDLE, FIRST, AGAIN, WAITING = range(4)
_BANK, _AIR = 30.0, 6.0  # height of the row of banks; between it and the stacks
_LARGEST_ROW = 44.0
_WAITS = 0.35  # light of a lane that waits
_LEAST_LINED_LANE = 3.0  # height of a lane with a line around it


def waiting_primitives(
    card: Punchcard, box: Box, accent: str, theme: Theme, key: str = "banks", *, share: float = 1.0, numbers: float = 0.0
) -> list[Primitive]:
    """Draw banks along the lower edge of a box and the lanes over them; the first wavefront stands at the bottom.

    ``share``: how many of the wavefronts have passed, 0 to 1; lanes of later ones are dim. ``numbers``: the size of the lanes'
    numbers, 0 for none; they are left out where they don't fit.
    """
    rows, banks = card.first.shape
    _, high = stack_cell(card, box)
    row, above = box.strip("bottom", _BANK, _AIR)
    stacks = _stack_cells(card, above.strip("bottom", rows * high)[0], accent, theme, key, share, numbers)
    shafts, *below = _bank_row(banks, row, above, theme, key)
    return [shafts, stacks, *below]


@lru_cache(maxsize=16)
def _bank_row(banks: int, row: Box, above: Box, theme: Theme, key: str) -> tuple[Primitive, ...]:
    """Return lines between the banks, so that the space over an idle one is seen, the banks and their numbers."""
    cell = row.width / banks
    edges, gap = above.x + np.arange(banks + 1) * cell, min(1.5, 0.06 * cell)
    shafts = np.column_stack([edges, np.full(banks + 1, above.y), edges, np.full(banks + 1, above.bottom)])
    parts = (each.inset(gap, 0.0) for each in row.columns(*[REST] * banks))
    texts = [str(bank) for bank in range(banks)]
    return (
        Lines(f"{key}-shafts", shafts, theme.line),
        Rects(f"{key}-row", boxes(*parts), theme.slate, radius=min(4.0, 0.2 * cell)),
        names_of_parts(f"{key}-numbers", row, texts, theme.type.least, theme.text, "inside", 8.0),
    )


def stack_cell(card: Punchcard, box: Box) -> tuple[float, float]:
    """Return the width and the height of a lane in the stacks within a box."""
    rows, banks = card.first.shape
    return box.width / banks, min((box.height - _BANK - _AIR) / rows, _LARGEST_ROW, 1.5 * box.width / banks)


def _stack_cells(card: Punchcard, box: Box, accent: str, theme: Theme, key: str, share: float, numbers: float) -> Cells:
    """Return the stacks as cells (wavefronts, banks) of a box, whose last row is the first wavefront."""
    first, served, rows = card.first[::-1], card.served[::-1], len(card.first)
    wavefront = np.arange(rows)[::-1, None]
    fill = np.where(np.isin(wavefront, card.starts), FIRST, AGAIN)
    fill = np.where(wavefront >= math.ceil(share * rows - 1e-9), WAITING, fill)
    fill = np.where(first < 0, IDLE, fill).astype(np.uint8)
    palette = (theme.background, accent, theme.warning, mixed(theme.background, theme.faint, _WAITS))
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    texts = np.where(first < 0, "", np.where(served > 1, np.strings.add("×", served.astype("<U3")), first.astype("<U4")))
    wide, high = box.width / first.shape[1], box.height / rows
    widest = max(text_width(text, numbers) for text in np.unique(texts).tolist()) if numbers else 0.0
    size = numbers if high >= numbers and widest <= wide - 2 else 0.0
    line = theme.background if high > _LEAST_LINED_LANE else None
    return cells_in(key, box, fill, palette, line, inks, "banks", texts, size)
