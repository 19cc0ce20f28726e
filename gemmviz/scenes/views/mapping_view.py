"""The mapping of threads to elements: the lanes of a warp in order, the elements of the result that they compute, and, for one
k, what they read of A and B, with the sectors that each request moves. Each lane sends a chip to its elements.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.focus import thread_place
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.reads import WarpRead, warp_reads
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.messages import counted, many, marked, sized, tr
from gemmviz.model.sites import MemoryArray
from gemmviz.scenes.kit.layout import (
    AIR,
    LINE_PITCH,
    REST,
    ROW_PITCH,
    Box,
    Line,
    Share,
    beside,
    cells_in,
    lines_down,
    names_of_parts,
    write,
)
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, Scene, text_width
from gemmviz.scenes.kit.theme import DIM, HALF, Style, Theme, mixed
from gemmviz.scenes.kit.view import ARRIVAL, View, ViewOptions, eased, framed, message
from gemmviz.scenes.stage.cells import CellGrid, boxes_around
from gemmviz.scenes.stage.cost import Meter, meter_primitives, meters_of, outlined, square_side
from gemmviz.scenes.stage.marks import lane_line

_NAMES, _ROW, _LANE_ROW = 150, 27, 36  # width of the names of the strip's rows; heights of its rows
_METERS, _METER_WORDS, _LEAST_SQUARES = 0.56, 122, 24  # share of the width for the meters; heights in one
_LARGEST_CELL, _LARGEST_SQUARE, _BESIDE = 70, 60, 40  # the last: free beside the matrices
_LANE_SHADES = 32  # light of a warp's lanes, in order
_CHIP_AT_LANE = 20  # side of a chip at its lane
_LOW = 420  # height of a frame with the lanes' numbers alone


class _MappingPlan(Struct, frozen=True):
    """What a frame shows of the watched ``warp``, and where. ``owned``: elements of the result with their threads; ``own``:
    which of them are the warp's; ``names`` and ``lanes``: the strip of lanes, from their numbers down; ``grids``: the drawn
    parts of the result, A and B, by name.
    """

    warp: int
    owned: tuple[Longs, Longs]
    own: np.ndarray
    reads: list[WarpRead]
    names: Box
    lanes: Box
    beside: Box
    grids: dict[str, CellGrid]

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_MappingPlan":
        owned, warp = moment.replay.owners.of(moment.scope.of_block), moment.focus.warp or 0
        room, size = options.room(), moment.trace.rules.warp_size
        strip, below = room.strip("top", _LANE_ROW + _ROW * len(_thread_axes(moment, options)), 24)
        names, lanes = strip.columns(_NAMES if options.words else 60, REST)
        reads = moment.cached(("mapping", warp), lambda: warp_reads(moment, warp))
        left, beside = below.columns(Share(1 - _METERS), Share(_METERS))
        grids = _grids(moment, owned[0], reads, left.trimmed(right=_BESIDE), options)
        return cls(warp, owned, owned[1] // size == warp, reads, names, lanes, beside, grids)

    def lane(self, lanes: Longs, size: int) -> Floats:
        """Return the middles of lanes in the strip: (n, 2)."""
        x = self.lanes.x + (lanes + 0.5) * self.lanes.width / max(size, 1)
        return np.column_stack([x, np.full(len(lanes), self.lanes.y + _LANE_ROW / 2)])


def mapping_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the lanes of the watched warp, and below them their elements and, once they have arrived, what that costs."""
    if not len(moment.replay.owners.of(moment.scope.of_block)[0]):
        missing = tr(
            "This block stores no element of {output_names}.",
            output_names=", ".join(moment.problem.output_names) or tr("an output"),
        )
        return framed([message(missing, options)], moment, options)
    plan = _MappingPlan.of(moment, options)
    costs = _costs(moment, plan.warp, plan.owned[0][plan.own], plan.reads, plan.beside, options) if options.arrived else []
    return framed([*_lane_strip(moment, plan, options), *_result_parts(moment, plan, options), *costs], moment, options)


def mapping_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a chip of each lane on its way to the elements that it reads, or to that of the result if it reads none.

    The elements of the result have their lanes from the beginning where reads follow: from the picture of another kernel, they
    swing to their new places.
    """
    if options.arrived or not len(moment.replay.owners.of(moment.scope.of_block)[0]):
        return ()
    plan, size = _MappingPlan.of(moment, options), moment.trace.rules.warp_size
    array, (elements, threads) = moment.replay.owners.array, plan.owned
    assert array is not None
    ways = [(read.array, read.elements, read.lanes) for read in plan.reads]
    ways = ways or [(array, elements[plan.own], threads[plan.own] % size)]
    share = float(eased(options.moment / ARRIVAL))
    return tuple(
        _lane_chips(matrix, plan.grids[matrix.name], cells, plan.lane(lanes, size), share, options)
        for matrix, cells, lanes in ways
    )


def _lane_chips(
    array: MemoryArray, table: CellGrid, elements: Longs, start: Floats, share: float, options: ViewOptions
) -> Primitive:
    """Draw one chip for each element, at a share of the way from its lane."""
    row, column = (np.asarray(each, np.int64) for each in array.row_column(elements))
    seen = table.holds(row, column)
    middle = start[seen] * (1 - share) + table.middle(row[seen], column[seen]) * share
    side = _CHIP_AT_LANE * (1 - share) + table.cell * share
    return Rects(
        f"flying-{array.name}", boxes_around(middle, side), options.theme.accent(array.name), options.theme.background, 1, 2
    )


def _thread_axes(moment: Moment, options: ViewOptions) -> list[tuple[int, str]]:
    """Return the axes of threadIdx that are shown below the lanes: none in a low frame."""
    block = moment.trace.launch.block
    return [(axis, name) for axis, name in enumerate("xyz") if options.height > _LOW and (axis == 0 or block[axis] > 1)]


def _lane_strip(moment: Moment, plan: _MappingPlan, options: ViewOptions) -> list[Primitive]:
    """Draw the lanes of a warp in order, with their threadIdx below."""
    theme, trace, warp = options.theme, moment.trace, plan.warp
    size, count = (
        trace.rules.warp_size,
        min(trace.rules.warp_size, trace.space.threads_per_block - warp * trace.rules.warp_size),
    )
    lane, axes = np.arange(count), _thread_axes(moment, options)
    shades = _lane_colours(theme.faint, theme)
    fill = (lane * _LANE_SHADES // size).astype(np.uint8)[None]
    names, rows = (box.rows(_LANE_ROW, *[_ROW] * len(axes)) for box in (plan.names, plan.lanes.part((0, count / size))))
    inks = tuple(theme.ink_on(each) for each in shades)
    tips = np.array([[_tip(moment, warp * size + int(each)) for each in lane]])
    numbers = lane.astype("<U4")[None]
    whose = tr("warp {warp}, lane", warp=warp) if options.words else tr("lane")
    table = cells_in("lanes", rows[0], fill, shades, theme.background, inks, None, numbers, theme.type.least, tips=tips)
    primitives: list[Primitive] = [table, write("lanes-name", names[0], whose, theme.small)]
    places = np.array([thread_place(warp * size + int(each), trace.launch) for each in lane])
    for (axis, name), left, row in zip(axes, names[1:], rows[1:], strict=True):
        texts = [*map(str, places[:, axis].tolist())]
        primitives += [
            write(f"lanes-{name}-name", left, f"threadIdx.{name}" if options.words else name, theme.aside),
            names_of_parts(f"lanes-{name}", row, texts, theme.type.least, theme.faint, "inside", 1),
        ]
    return primitives


def _lane_colours(accent: str, theme: Theme) -> tuple[str, ...]:
    """Return the colours of a warp's lanes, stronger in their order."""
    return tuple(mixed(theme.background, accent, HALF + (1 - HALF) * lane / (_LANE_SHADES - 1)) for lane in range(_LANE_SHADES))


def _tip(moment: Moment, thread: int) -> str:
    (x, y, z), size = thread_place(thread, moment.trace.launch), moment.trace.rules.warp_size
    place = {"x": x, "y": y, "z": z, "number": thread, "warp": thread // size, "lane": thread % size}
    return tr("thread ({x}, {y}, {z}), number {number}\nwarp {warp}, lane {lane}", **place)


def _grids(moment: Moment, elements: Longs, reads: list[WarpRead], room: Box, options: ViewOptions) -> dict[str, CellGrid]:
    """Return the places of the block's part of the result and, on its left and above it, of what is read of A and B."""
    array = moment.replay.owners.array
    if array is None or not len(elements):
        return {}
    r, c = (np.asarray(each, np.int64) for each in array.row_column(elements))
    rows, columns = (int(r.min()), int(r.max()) + 1), (int(c.min()), int(c.max()) + 1)
    depth = _depth(reads)
    beside = depth[1] - depth[0] + 1 if reads else 0
    above = max((read.ks[1] - read.ks[0] + 1 for read in reads if read.array.name == "B"), default=0)
    inner = room.trimmed(left=_BESIDE if reads else 0, top=ROW_PITCH * options.theme.type.name, right=0 if reads else _BESIDE)
    high, wide = rows[1] - rows[0] + above, _width(columns, reads) + beside
    cell = inner.tiled(high, wide, _LARGEST_CELL).width / wide
    at = inner.x + (beside * cell if reads else 0), inner.y + above * cell
    table = CellGrid(*at, cell, rows[1] - rows[0], columns[1] - columns[0], (rows[0], columns[0]))
    return {array.name: table, **{read.array.name: _read_grid(read, table, depth) for read in reads}}


def _read_grid(read: WarpRead, table: CellGrid, depth: tuple[int, int]) -> CellGrid:
    """Return the place of what is read of A on the left of the result, or of B above it."""
    if read.array.name == "A":
        x = table.x - (depth[1] - depth[0] + 1) * table.cell
        return CellGrid(x, table.y, table.cell, table.rows, depth[1] - depth[0], (table.first[0], depth[0]))
    rows = read.ks[1] - read.ks[0]
    columns = _width((table.first[1], table.first[1] + table.columns), [read])
    return CellGrid(table.x, table.y - (rows + 1) * table.cell, table.cell, rows, columns, (read.ks[0], table.first[1]))


def _result_parts(moment: Moment, plan: _MappingPlan, options: ViewOptions) -> list[Primitive]:
    """Draw the block's part of the result, and on its left and above it the parts of A and B that are read for one k."""
    array, (elements, threads), own = moment.replay.owners.array, plan.owned, plan.own
    assert array is not None
    table, size = plan.grids[array.name], moment.trace.rules.warp_size
    r, c = (np.asarray(each, np.int64)[own] for each in array.row_column(elements))
    lanes = threads[own] % size
    shown = slice(None) if options.arrived else slice(0)
    own_shown = slice(None) if plan.reads else shown
    primitives = _matrix_part(array, table, elements[own][own_shown], lanes[own_shown], options)
    primitives += _lane_line(table, r[own_shown], c[own_shown], lanes[own_shown], options.theme)
    style, foot = _name_style(array.name, options), table.box.strip("bottom", table.cell)[0]
    above = beside("elements-name", table.box, "top", array.name, style, 10)
    primitives.append(beside("elements-name", foot, "right", array.name, style) if plan.reads else above)
    for read in plan.reads:
        primitives += _read_part(read, plan.grids[read.array.name], shown, options)
    return primitives


def _depth(reads: list[WarpRead]) -> tuple[int, int]:
    """Return the range of k that is drawn of A: the sectors that hold what is read of it."""
    for read in reads:
        if read.array.name == "A":
            per_sector = max(1, 32 // read.array.itemsize)
            last = -(-read.ks[1] // per_sector) * per_sector
            return read.ks[0] // per_sector * per_sector, min(read.array.extents[1], last)
    return 0, 1


def _width(columns: tuple[int, int], reads: list[WarpRead]) -> int:
    """Return how many columns are drawn from the first one of the result: of B, whole sectors."""
    ends = [columns[1]]
    for read in reads:
        if read.array.name == "B":
            per_sector = max(1, 32 // read.array.itemsize)
            ends.append(min(read.array.extents[1], -(-columns[1] // per_sector) * per_sector))
    return max(ends) - columns[0]


def _matrix_part(array: MemoryArray, table: CellGrid, elements: Longs, lanes: Longs, options: ViewOptions) -> list[Primitive]:
    """Draw a part of a matrix: elements of the warp's lanes in its colour with their lanes, the others dim."""
    theme = options.theme
    shades = _lane_colours(theme.accent(array.name), theme)
    palette = (theme.tint(array.name, DIM), *shades)
    inks = tuple(theme.ink_on(each) for each in palette)
    fill = np.zeros((table.rows, table.columns), np.uint8)
    texts = np.full((table.rows, table.columns), "", "<U4")
    row, column = array.row_column(elements)
    seen = table.holds(row, column)
    row, column, lanes = row[seen] - table.first[0], column[seen] - table.first[1], lanes[seen]
    fill[row, column] = 1 + lanes * _LANE_SHADES // max(_LANE_SHADES, int(lanes.max(initial=0)) + 1)
    single = len(np.unique(row * table.columns + column)) == len(row)
    texts[row, column] = lanes.astype("<U4") if single else f"×{counted(len(row))}"
    ids = np.full((table.rows, table.columns), -1, np.int64)
    if single:
        ids[row, column] = lanes
    size = min(theme.type.words, table.cell / ROW_PITCH)
    fits = size >= theme.type.least and text_width("31" if single else "×32", size) <= table.cell - 2
    line = theme.background if table.cell >= 5 else None
    key = f"mapping-{array.name}"
    labels, size = (texts, size) if fits else (None, 0)
    return [Cells(key, table.x, table.y, table.cell, fill, palette, inks, labels, size, line, ids=ids)]


def _lane_line(table: CellGrid, rows: Longs, columns: Longs, lanes: Longs, theme: Theme) -> list[Primitive]:
    """Draw a line through the elements in the order of their lanes, with a dot at the first, where numbers don't fit."""
    if not len(lanes) or table.cell / ROW_PITCH >= theme.type.least:
        return []
    first = np.unique(lanes, return_index=True)[1]  # one element of each lane
    middle = table.middle(rows[first], columns[first])
    return lane_line(middle, table.cell / 2, theme.background, 2)


def _name_style(name: str, options: ViewOptions) -> Style:
    return Style(options.theme.type.name, options.theme.accent(name), "semibold")


def _read_part(read: WarpRead, part: CellGrid, shown: slice, options: ViewOptions) -> list[Primitive]:
    """Draw what is read of A or B; once the lanes have arrived, with their elements and the sectors that the request moves."""
    theme, name = options.theme, read.array.name
    wide = part.box._replace(width=max(part.box.width, theme.type.name))
    return [
        *_matrix_part(read.array, part, read.elements[shown], read.lanes[shown], options),
        *(outlined(read.array, read.moved, part, options) if options.arrived else ()),
        beside(f"read-{name}-name", wide, "top", name, _name_style(name, options), 10),
    ]


def _costs(
    moment: Moment, warp: int, elements: Longs, reads: list[WarpRead], room: Box, options: ViewOptions
) -> list[Primitive]:
    """Draw what the warp stores in words, and the meters of its requests one below the other, in squares of one size."""
    array, theme = moment.replay.owners.array, options.theme
    assert array is not None
    row, column = array.row_column(elements)
    sentence = tr(
        "warp {warp} computes {shape} of {array}",
        warp=warp,
        shape=_shape(np.asarray(row), np.asarray(column)),
        array=array.name,
    )
    size = theme.type.words
    head, rest = room.strip("top", LINE_PITCH * size)
    primitives: list[Primitive] = [write("mapping-stored", head, sentence, theme.strong)]
    meters = [_meter(read, moment, options) for read in reads] or list(meters_of(moment))[:2]
    parts = rest.trimmed(top=AIR).grid(max(1, len(meters)), 1)
    if parts[0].height < _METER_WORDS + _LEAST_SQUARES:
        lines = [Line(f"mapping-meter-{n}", f"{meter.title}: {meter.text}", *theme.plain) for n, meter in enumerate(meters)]
        return [*primitives, *lines_down(rest, lines)]
    squares = Box(0, 0, room.width, parts[0].height - _METER_WORDS)
    side = min((square_side(each.moved, squares, _LARGEST_SQUARE)[0] for each in meters), default=0)
    for place, (meter, part) in enumerate(zip(meters, parts, strict=False)):
        box, key = part.trimmed(bottom=16), f"mapping-meter-{place}"
        primitives += meter_primitives(meter, box, theme, key, side=side, largest=_LARGEST_SQUARE)
    return primitives


def _meter(read: WarpRead, moment: Moment, options: ViewOptions) -> Meter:
    first, (low, high) = options.labels.first, read.ks
    ks = f"k = {low + first}" if high - low == 1 else tr("k = {low} to {high}", low=low + first, high=high - 1 + first)
    what = tr(
        "{elements}; sectors of {sector_bytes} bytes",
        elements=many(len(np.unique(read.elements)), "element"),
        sector_bytes=moment.trace.rules.sector_bytes,
    )
    moved, needed = read.cost.sectors, read.cost.needed_sectors
    title = tr("reads {array}, {ks}", array=read.array.name, ks=ks)
    return Meter(title, "sector", moved, needed, read.cost.requests, moved, needed, what)


def _shape(rows: Longs, columns: Longs) -> str:
    if not len(rows):
        return "nothing"
    high, wide = len(np.unique(rows)), len(np.unique(columns))
    return tr("{rows} of {columns}", rows=sized(high, "row"), columns=sized(wide, "column"))


VIEW = View(marked("Threads and their elements of the result"), Moment, mapping_scene, mapping_motion, order=106)
