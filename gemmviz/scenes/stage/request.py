"""The request of one warp: its lanes as cells, and below them the sectors that it moves, or the banks that serve it."""

import math

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.banks import Punchcard, access_card
from gemmviz.analysis.memory.costs import MovedSectors, moved_sectors
from gemmviz.analysis.memory.counts import Counts
from gemmviz.analysis.replay.moment import Moment, Request, TouchedOperand
from gemmviz.model.arrays import Floats
from gemmviz.model.records import replace
from gemmviz.model.translation import counted, tr
from gemmviz.model.words import many, number
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, points
from gemmviz.scenes.kit.text import fitted, text_width, wrap_text
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.stage.lanes import step_sectors, wasted_cells
from gemmviz.scenes.stage.meter import asked_cost
from gemmviz.scenes.stage.tile_cells import tile_matrix

# The lanes of a warp over the banks of shared memory that serve them: a bank with several words to deliver has a stack of
# lanes over it, of which it serves one in each wavefront.

IDLE, FIRST, AGAIN, WAITING = range(4)
_BANK, _AIR = 30.0, 6.0  # height of the row of banks; between it and the stacks
_LARGEST_ROW = 44.0
_LABEL_STEPS = (1, 2, 4, 8, 16, 32, 64)
_WAITS = 0.35  # light of a lane that waits


def waiting_primitives(
    card: Punchcard, box: Box, accent: str, theme: Theme, key: str = "banks", *, share: float = 1.0, numbers: float = 0.0
) -> list[Primitive]:
    """Draw banks along the lower edge of a box and the lanes over them; the first wavefront stands at the bottom.

    ``share``: how many of the wavefronts have passed, 0 to 1; lanes of later ones are dim. ``numbers``: the size of the lanes'
    numbers, 0 for none; they are left out where they don't fit.
    """
    rows, banks = card.first.shape
    cell, high = stack_cell(card, box)
    floor = box.bottom - _BANK - _AIR
    cells = stack_cells(card, (box.x, floor - rows * high, cell, high), accent, theme, key, share, numbers)
    return [
        _shafts(banks, (box.x, box.y, floor), cell, key, theme),
        cells,
        *_bank_row(banks, box.x, floor + _AIR, cell, key, theme),
    ]


def stack_cell(card: Punchcard, box: Box) -> tuple[float, float]:
    """Return the width and the height of a lane in the stacks within a box."""
    rows, banks = card.first.shape
    return box.width / banks, min((box.height - _BANK - _AIR) / rows, _LARGEST_ROW, 1.5 * box.width / banks)


def stack_cells(
    card: Punchcard, at: tuple[float, float, float, float], accent: str, theme: Theme, key: str, share: float, numbers: float
) -> Cells:
    """Return the stacks as cells (wavefronts, banks) whose last row is the first wavefront. ``at``: left and upper edge, width
    and height of a lane.
    """
    x, y, cell, high = at
    first, served = card.first[::-1], card.served[::-1]
    rows = len(first)
    wavefront = np.arange(rows)[::-1, None]
    fill = np.where(first < 0, IDLE, np.where(np.isin(wavefront, card.starts), FIRST, AGAIN)).astype(np.uint8)
    later = wavefront >= math.ceil(share * rows - 1e-9)
    fill = np.where((first >= 0) & later, WAITING, fill).astype(np.uint8)
    palette = (theme.background, accent, theme.warning, mixed(theme.background, theme.faint, _WAITS))
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    texts = np.where(first < 0, "", np.where(served > 1, np.strings.add("×", served.astype("<U3")), first.astype("<U4")))
    fits = numbers if _fits(texts, cell, high, numbers) else 0.0
    line = theme.background if high > 3 else None
    return Cells(key, x, y, cell, fill, palette, inks, texts if fits else None, fits, line, 1, high, meaning="banks")


def _fits(texts: npt.NDArray[np.str_], cell: float, high: float, size: float) -> bool:
    return bool(size) and high >= size and max(text_width(text, size) for text in np.unique(texts).tolist()) <= cell - 2


def _shafts(banks: int, at: tuple[float, float, float], cell: float, key: str, theme: Theme) -> Lines:
    """Draw lines between the banks, so that the space over an idle bank is seen. ``at``: left, upper and lower edge."""
    x, top, floor = at
    edges = x + np.arange(banks + 1) * cell
    lines = np.stack([edges, np.full(banks + 1, top), edges, np.full(banks + 1, floor)], axis=1)
    return Lines(f"{key}-shafts", lines, theme.line, 1.0)


def _bank_row(banks: int, x: float, y: float, cell: float, key: str, theme: Theme) -> list[Primitive]:
    """Draw the banks and number them at even distances."""
    size = theme.type.least
    gap = min(1.5, 0.06 * cell)
    boxes = np.array([(x + bank * cell + gap, y, cell - 2 * gap, _BANK) for bank in range(banks)])
    every = next((step for step in _LABEL_STEPS if step * cell >= text_width("31", size) + 8), _LABEL_STEPS[-1])
    shown = range(0, banks, every)
    at = points(*((x + (bank + 0.5) * cell, baseline(y + 0.5 * _BANK, size)) for bank in shown))
    return [
        Rects(f"{key}-row", boxes, theme.slate, radius=min(4.0, 0.2 * cell)),
        Labels(f"{key}-numbers", at, tuple(map(str, shown)), size, theme.text, "middle"),
    ]


_LEADING = 1.3
_LANES, _LANE_HEIGHT = 8, 34.0  # lanes of a row; largest height of one
_LARGEST_CELL, _LEAST_CELL = 76.0, 3.0  # units: cell of a sector
_GAP = 0.35  # between sectors, of a cell
_LOWEST = 1.6  # width of the flattest cell, of its height
_COLUMNS, _MOST_SECTORS = (1, 2, 4, 8, 16), 256
_GRID = "request-sectors"
_LEAST_HATCHED, _LEAST_STACKS = 6.0, 60.0


def request_primitives(moment: Moment, box: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the request of the watched warp, or of the first active warp of the block, within a box; a sentence for a step
    without memory access.
    """
    theme, sizes = options.theme, options.theme.type
    touched = moment.main
    request = None if touched is None else moment.request_of(touched.row)
    if touched is None or request is None:
        return [_text("request-none", tr("No request in this step"), sizes.words, theme.faint, box, box.y)]
    place = tr("{kind} {array}, line {line}", kind=tr(moment.site.kind), array=touched.array.name, line=moment.site.place.line)
    above, room = _rooms(moment, box, theme)
    draw = _sectors if touched.array.space == "global" else _banks
    return [
        _text("request-name", tr("request of warp {warp}", warp=request.warp), sizes.words, theme.faint, box, box.y),
        _text("request-place", place, sizes.heading, theme.text, box, box.y + _LEADING * sizes.words),
        *(lane_cells(moment, touched, request, above, theme) if above.height else ()),
        *draw(moment, touched, request, room, options),
    ]


def request_motion(moment: Moment, box: Box, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lanes over the banks with those of later wavefronts dim, over the still picture."""
    touched = moment.main
    request = None if touched is None else moment.request_of(touched.row)
    if touched is None or request is None or touched.array.space == "global":
        return ()
    _, room = _rooms(moment, box, options.theme)
    return tuple(each for each in _stacks(moment, touched, request, room, options) if isinstance(each, Cells))


def _rooms(moment: Moment, box: Box, theme: Theme) -> tuple[Box, Box]:
    """Return the places of the lanes, of no height in a low box, and of the sectors or banks."""
    sizes = theme.type
    y = box.y + _LEADING * (sizes.words + sizes.heading) + 8
    below = box.bottom - 2 * _LEADING * sizes.words - 10
    rows = math.ceil(moment.trace.rules.warp_size / _LANES)
    high = min(_LANE_HEIGHT * rows, 0.4 * (below - y))
    if high < sizes.least * rows:
        high = 0.0
    top = y + high + (14 if high else 0)
    return Box(box.x, y, box.width, high), Box(box.x, top, box.width, max(0.0, below - top))


def _text(key: str, text: str, size: float, colour: str, box: Box, y: float) -> Labels:
    return text_at(key, (box.x, y + size), fitted(text, size, box.width), size, colour)


def lane_cells(moment: Moment, touched: TouchedOperand, request: Request, box: Box, theme: Theme) -> list[Primitive]:
    """Draw the lanes of a request as cells, active ones in the matrix's colour."""
    lanes = moment.trace.rules.warp_size
    columns = min(lanes, _LANES)
    rows = math.ceil(lanes / columns)
    wide, high = box.width / columns, box.height / rows
    number_of = np.arange(rows * columns).reshape(rows, columns)
    active = np.zeros(rows * columns, bool)
    active[: len(request.lanes)] = request.lanes >= 0
    accent = theme.accent(matrix_of(moment, touched))
    texts = np.where(number_of < lanes, number_of.astype("<U4"), "")
    size = theme.type.least if wide >= text_width(str(lanes - 1), theme.type.least) + 2 else 0.0
    palette, inks = (theme.empty, accent), (theme.faint, theme.ink_on(accent))
    fill, labels = active.reshape(rows, columns).astype(np.uint8), texts if size else None
    primitives: list[Primitive] = [
        Cells(
            "request-lanes", box.x, box.y, wide, fill, palette, inks, labels, size, theme.background, 1, high, meaning="lanes"
        )
    ]
    if moment.focus.thread is not None:
        row, column = divmod(moment.focus.thread % lanes, columns)
        ring = np.array([(box.x + column * wide, box.y + row * high, wide, high)])
        primitives.append(Rects("request-followed", ring, None, theme.accent("C"), 3.0, 3.0, "lanes"))
    return primitives


def matrix_of(moment: Moment, touched: TouchedOperand) -> str:
    """Return the name whose colour stands for an operand: of a copy in shared memory, that of the copied matrix."""
    return touched.array.name if touched.array.space == "global" else tile_matrix(moment) or touched.array.name


def request_sectors(moment: Moment, touched: TouchedOperand, request: Request) -> tuple[MovedSectors, Counts]:
    """Return the sectors that one warp's request moves, and its counts."""
    cost = asked_cost(moment, touched, request)
    if moment.focus.warp is not None:
        return step_sectors(moment, touched), cost
    rules = moment.trace.rules
    return moved_sectors(request.lanes.reshape(-1, rules.request_lanes), touched.operand, touched.array, rules), cost


def _sectors(moment: Moment, touched: TouchedOperand, request: Request, room: Box, options: ViewOptions) -> list[Primitive]:
    theme, rules = options.theme, moment.trace.rules
    moved, cost = request_sectors(moment, touched, request)
    accent = theme.accent(touched.array.name)
    primitives, end = sector_grid(moved, room, accent, options)
    moved_bytes = cost.bytes_moved(rules)
    used = (
        counted(tr("all requested"))
        if cost.bytes_used == moved_bytes
        else tr("{bytes_used} % requested", bytes_used=counted(number(100 * cost.bytes_used / moved_bytes)))
    )
    text = tr(
        "{sectors} of {sector_bytes} bytes: {used}",
        sectors=many(cost.sectors, "sector"),
        sector_bytes=rules.sector_bytes,
        used=used,
    )
    return [*primitives, *_foot("request-bytes", text, room, end, theme)]


def _foot(key: str, text: str, room: Box, end: float, theme: Theme) -> list[Primitive]:
    size = theme.type.words
    lines = wrap_text(text, size, room.width, 2)
    at = points(*((room.x, end + 10 + (n + 0.85) * _LEADING * size) for n in range(len(lines))))
    return [Labels(key, at, lines, size, theme.text, meaning="count")]


def sector_columns(count: int, elements: int, room: Box, largest: float = _LARGEST_CELL) -> tuple[int, float, float]:
    """Return how many sectors stand side by side, and the width and height of their cells, as large as the room allows."""

    def cell(columns: int) -> tuple[float, float]:
        wide = min(largest, room.width / (columns * (elements + _GAP) - _GAP))
        return wide, min(wide, room.height / (math.ceil(count / columns) * (1 + _GAP)))

    def area(columns: int) -> float:
        wide, high = cell(columns)
        return round(min(wide, _LOWEST * high) * high, 3)

    columns = max(_COLUMNS, key=lambda each: (area(each), -each))
    return columns, *cell(columns)


def sector_grid(
    moved: MovedSectors, room: Box, accent: str, options: ViewOptions, key: str = _GRID, largest: float = _LARGEST_CELL
) -> tuple[list[Primitive], float]:
    """Draw sectors as rows of their elements, requested ones in ``accent`` with their lanes where they fit, and return the
    lower edge. ``largest``: the most width of a cell.
    """
    theme = options.theme
    count, elements = len(moved.numbers[:_MOST_SECTORS]), moved.first.shape[1]
    outlines = sector_places(moved, room, largest)
    if not len(outlines):
        return [], room.y
    x, y, wide, high = outlines[:, 0], outlines[:, 1], outlines[0, 2] / elements, outlines[0, 3]
    asked, wasteful = moved.is_asked[:count], moved.is_wasteful[:count]
    at = np.stack([x[:, None] + np.arange(elements) * wide, np.broadcast_to(y[:, None], asked.shape)], axis=-1)
    air = min(1.0, 0.06 * high)

    def boxes(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        return np.hstack([at[chosen] + air, np.tile([wide - 2 * air, high - 2 * air], (int(chosen.sum()), 1))])

    along, free = ~asked & wasteful[:, None], ~asked & ~wasteful[:, None]
    primitives: list[Primitive] = [
        Rects(f"{key}-along", boxes(free), theme.empty, meaning="count"),
        *wasted_cells(f"{key}-wasted", boxes(along), theme, high * options.pixels >= _LEAST_HATCHED, 2 * air),
        Rects(f"{key}-asked", boxes(asked), accent, meaning="count"),
        Rects(f"{key}-outlines", outlines, None, theme.faint, 1.5, meaning="count"),
        *_lane_numbers(moved, at, (wide, high), accent, theme, key),
    ]
    return primitives, float(y[-1]) + high * (1 + _GAP)


def sector_places(moved: MovedSectors, room: Box, largest: float = _LARGEST_CELL) -> Floats:
    """Return the boxes (n, 4) of the sectors that ``sector_grid`` draws: none if they would be too flat."""
    place, elements = np.arange(len(moved.numbers[:_MOST_SECTORS])), moved.first.shape[1]
    columns, wide, high = sector_columns(len(place), elements, room, largest)
    if high < _LEAST_CELL:
        return np.zeros((0, 4))
    x = room.x + place % columns * wide * (elements + _GAP)
    y = room.y + place // columns * high * (1 + _GAP)
    return np.column_stack([x, y, np.full(len(place), wide * elements), np.full(len(place), high)])


def _lane_numbers(
    moved: MovedSectors, at: npt.NDArray[np.float64], cell: tuple[float, float], accent: str, theme: Theme, key: str
) -> list[Primitive]:
    """Write on each requested element the lane that requests it, or how many lanes do, if that fits."""
    (wide, high), size = cell, min(0.75 * cell[1], theme.type.words)
    asking, first = moved.asking[: len(at)], moved.first[: len(at)]
    if size < theme.type.least or text_width("×32" if (asking > 1).any() else "31", size) > wide - 3:
        return []
    row, column = np.nonzero(asking)
    pairs = zip(asking[row, column].tolist(), first[row, column].tolist(), strict=True)
    texts = tuple(f"×{times}" if times > 1 else str(lane) for times, lane in pairs)
    middle = at[row, column] + (wide / 2, baseline(high / 2, size))
    return [Labels(f"{key}-lane-numbers", middle, texts, size, theme.ink_on(accent), "middle", meaning="count")]


def _banks(moment: Moment, touched: TouchedOperand, request: Request, room: Box, options: ViewOptions) -> list[Primitive]:
    cost = asked_cost(moment, touched, request)
    text = tr(
        "{wavefronts}, {ideal_wavefronts} needed",
        wavefronts=many(cost.wavefronts, "wavefront"),
        ideal_wavefronts=counted(cost.ideal_wavefronts),
    )
    stacks = _stacks(moment, touched, request, room, replace(options, moment=1.0))
    return [*stacks, *_foot("request-wavefronts", text, room, room.bottom, options.theme)]


def _stacks(moment: Moment, touched: TouchedOperand, request: Request, room: Box, options: ViewOptions) -> list[Primitive]:
    if room.height < _LEAST_STACKS:
        return []
    card = moment.cached(
        ("card", touched.row, request.warp),
        lambda: access_card(request.lanes, touched.operand, touched.array, moment.trace.rules),
    )
    accent = options.theme.accent(matrix_of(moment, touched))
    return waiting_primitives(card, room, accent, options.theme, "request-waiting", share=options.moment)
