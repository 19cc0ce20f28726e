"""What stands on and around the matrices: numbers of rows and columns, the corner of the tiles, signs of the lens, padding,
places of errors, and parts of vectors.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product

import numpy as np

from gemmviz.analysis.replay.divergence import NOT_WAITING, waiting_in_block
from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.messages import many, tr
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import CONSTANT
from gemmviz.scenes.kit.layout import NEAR, Box, Edge, Paragraph, Point, paragraphs_in, swatch, text_at
from gemmviz.scenes.kit.primitives import (
    ANCHORED,
    CAP_HEIGHT,
    Anchor,
    Labels,
    Lines,
    Primitive,
    Rects,
    boxes,
    label_step,
    points,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import Style, Theme, mixed
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.cells import CellGrid, boxes_around, grown
from gemmviz.scenes.stage.cross import title_text
from gemmviz.scenes.stage.layout import Plan, tile_grids
from gemmviz.scenes.stage.tile_cells import tile_name

# Numbers of rows and columns along the outer sides of the matrices, as many as fit; in a zoomed view they stand at the edge of
# the visible part.

_TO_NUMBERS = 8.0  # from a matrix to what stands beside it
_OF_ARRAYS: tuple[str, ...] = ("left", "below")
_OF_CROSS: dict[str, tuple[str, ...]] = {"A": ("left", "above"), "B": ("right",), "C": ("right", "above")}


def is_clear_beside_numbers(table: CellGrid, theme: Theme) -> bool:
    """Whether a line along the edge of a column misses the numbers of columns, which stand in the middle of theirs."""
    return text_width(str(table.first[1] + table.columns), theme.type.least) < table.wide


def axis_primitives(plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the numbers of A on its left and above, of B on its right, of C on its right and above, where they number B's
    columns too; those of other arrays on their left and below.
    """
    return _cached_axes(plan, options.theme, options.zoom, options.clip, options.labels.first)


@lru_cache(maxsize=32)
def _cached_axes(
    plan: Plan, theme: Theme, zoom: float, clip: tuple[float, float, float, float] | None, counted_from: int
) -> list[Primitive]:
    """Return the axes, cached because they stay the same from step to step."""
    size, drawn = theme.type.least / zoom, list[Primitive]()
    for name, table in plan.matrices.items():
        for side in _OF_CROSS[name] if isinstance(plan.window, Window) else _OF_ARRAYS:
            is_row = side in ("left", "right")
            numbers = _shown_numbers(table, size, is_row)
            middle = table.middle(numbers, numbers)[:, 1 if is_row else 0]
            box, low, high = table.box, -np.inf, np.inf
            if clip is not None:
                seen = Box(*clip)
                low, high = (seen.y, seen.bottom) if is_row else (seen.x, seen.right)
                box = _common(box, seen.inset(4 * size, 2 * size))
            shown = (middle > low) & (middle < high)
            if shown.any():
                at = _number_places(box, side, middle[shown], size, _TO_NUMBERS / zoom) + _past_padding(
                    side, table, plan.beyond
                )
                step = table.row_step if is_row else 1
                texts = tuple(map(str, (numbers[shown] * step + counted_from).tolist()))
                anchor: Anchor = "end" if side == "left" else "start" if side == "right" else "middle"
                drawn.append(Labels(f"{name}-axis-{side}", at, texts, size, theme.faint, anchor, meaning="scale"))
    return drawn


def _shown_numbers(table: CellGrid, size: float, is_row: bool) -> Longs:
    """Return multiples of a power of two with space between them."""
    first, count = (table.first[0], table.rows) if is_row else (table.first[1], table.columns)
    needed = 1.35 * size if is_row else text_width(str(first + count - 1), size) + 0.7 * size
    step = label_step(table.cell if is_row else table.wide, needed, 1 << 30)
    return np.arange(-(-first // step) * step, first + count, step)


def _common(one: Box, other: Box) -> Box:
    x, y = max(one.x, other.x), max(one.y, other.y)
    return Box(x, y, min(one.right, other.right) - x, min(one.bottom, other.bottom) - y)


def _past_padding(side: str, table: CellGrid, beyond: tuple[int, int]) -> Point:
    """Return how far numbers stand from their matrix because of padding between."""
    return (beyond[1] * table.wide if side == "right" else 0.0), (beyond[0] * table.cell if side == "below" else 0.0)


def _number_places(box: Box, side: str, middle: Floats, size: float, air: float) -> Floats:
    """Return the baselines of numbers at a side of a box."""
    capital = CAP_HEIGHT * size
    if side in ("left", "right"):
        return np.column_stack([np.full_like(middle, box.x - air if side == "left" else box.right + air), middle + capital / 2])
    return np.column_stack([middle, np.full_like(middle, box.y - air if side == "above" else box.bottom + air + capital)])


# Threads that wait while other lanes of their warp go another way: their elements of the result are hatched.

_LEAST_HATCHED, _HATCHED = 5.0, 0.7  # units: of a cell; strength of the lines


def waiting_threads(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw what hatches the elements of waiting threads of the block; nothing where cells are small."""
    home = plan.home(moment)
    if home is None or home.cell < _LEAST_HATCHED:
        return []
    places = moment.homes[waiting_in_block(moment) != NOT_WAITING]
    places = places[~np.isnan(places).any(axis=1)]
    places = places[home.holds(*places.T)]
    if not len(places):
        return []
    where = home.boxes(*places.T)
    return [hatching("waiting", where, options.theme.faded(options.theme.text, _HATCHED))]


# The corner between A and B: the box of the block's shared memory, its title, and lines between each tile and what it is a
# copy of.

_AROUND, _RADIUS, _INSET, _TO_TITLE = 8.0, 12.0, 28.0, 4.0
_MOST_LINES, _LEADING = 4, 1.25
GROUND = 0.4  # strength of the slate behind the tiles


def corner_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the box behind the tiles; nothing for a kernel without shared arrays."""
    lanes, theme = plan.lanes, options.theme
    if lanes is None:
        return []
    grids = tile_grids(moment, plan)
    left = max(_AROUND, lanes.corner.x - min(each.x for each in grids.values()) + _AROUND)
    box = lanes.corner.trimmed(-left, -_AROUND, -_AROUND / 2, -_AROUND / 2)
    names = [each for number, table in grids.items() for each in tile_name(moment, number, table, plan, theme)]
    taken = (*map(_text_box, names), *(each.box for each in grids.values()))
    return [
        Rects("corner", boxes(box), mixed(theme.background, theme.slate, GROUND), theme.line, 1.5, _RADIUS),
        *_corner_title(tuple(_corner_titles(moment)), lanes.corner, taken, theme),
    ]


@lru_cache(maxsize=64)
def _corner_title(titles: tuple[str, ...], corner: Box, taken: tuple[Box, ...], theme: Theme) -> list[Labels]:
    """Draw what the box is, in as many lines as its free part is wide, apart from what is ``taken``."""
    size, starts = theme.type.least, [corner.x + _TO_TITLE, *(box.right + _INSET for box in taken)]
    for text, start, end in product(titles, starts, [corner.right, *(box.x - _INSET for box in taken)]):
        width = end - start
        lines = wrap_text(text, size, width, _MOST_LINES) if width > 0 else ()
        title = Paragraph("corner-name", lines, size, theme.faint)
        room = Box(start, corner.y + _TO_TITLE, max(width, 0.0), title.height(_LEADING))
        if lines and not any("…" in line for line in lines) and not any(map(room.meets, taken)):
            return [dataclasses.replace(each, tells=("block",)) for each in paragraphs_in(room, [title], leading=_LEADING)[0]]
    return []


def _corner_titles(moment: Moment) -> list[str]:
    """Return what the box is, from the longest text; if all blocks are watched, that the others have a box of their own."""
    column, row = moment.scope.focus.block[:2]
    block, others = tr("block\u00a0({column},\u00a0{row})", column=column, row=row), moment.trace.launch.block_count - 1
    text = tr("shared memory of {block}", block=block)
    if not moment.focus.everyone or not others:
        return [text]
    other_blocks = many(others, "other block")
    return [
        tr("{owner}; {other_blocks} has its own", owner=text, other_blocks=other_blocks)
        if others == 1
        else tr("{owner}; {other_blocks} have their own", owner=text, other_blocks=other_blocks),
        tr("{owner} only", owner=text),
        tr("only {block}", block=block),
    ]


# Signs of the lens: torn edges where a matrix continues, and a small map of the cross with the visible part.

_TOOTH, _DEPTH, _HALF = 30.0, 8.0, 5.5  # of a torn edge; half of the width of the strip beneath it
_LEAST_MARK, _MAP_GAP, _WIDEST_MAP = 5.0, 8.0, 260.0


def lens_primitives(plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the signs; nothing without the lens."""
    return _cached_lens(plan, options.theme, tr("visible part")) if plan.window.is_lens else []


@lru_cache(maxsize=32)
def _cached_lens(plan: Plan, theme: Theme, caption: str) -> list[Primitive]:
    """Return the signs with the caption of the map, cached because they stay the same while the lens stays in place."""
    torn = [each for name, table in plan.matrices.items() for each in _torn(name, table, plan, theme)]
    if isinstance(plan.window, Window) and "map" in plan.rooms:
        torn += _map(plan.window, plan.rooms["map"], theme, caption)
    return torn


def _torn(name: str, table: CellGrid, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw zigzags over the cut edges, on strips that cover the ends of the cells."""
    (rows, columns), box, (row, column) = plan.window.extents(name), table.box, table.first
    cut: list[tuple[bool, Edge]] = [
        (column > 0, "left"), (column + table.columns < columns, "right"),
        (row > 0, "top"), (row + table.rows < rows, "bottom"),
    ]  # fmt: skip
    strips = [(side, box.inset(-_HALF).strip(side, 2 * _HALF)[0]) for is_cut, side in cut if is_cut]
    if not strips:
        return []
    teeth = np.concatenate([_zigzag(strip, side) for side, strip in strips])
    covers = boxes(*(strip for _, strip in strips))
    return [Rects(f"{name}-tear", covers, theme.background), Lines(f"{name}-torn", teeth, theme.faint, 1.5)]


def _zigzag(strip: Box, side: Edge) -> Floats:
    """Return the segments (n, 4) along the middle of a strip."""
    is_flat, inner = side in ("top", "bottom"), strip.inset(_HALF)
    start, length, at = (inner.x, inner.width, inner.y) if is_flat else (inner.y, inner.height, inner.x)
    count = max(2, round(length / _TOOTH))
    along = start + np.linspace(0.0, length, count + 1)
    across = at + np.where(np.arange(count + 1) % 2, _DEPTH / 2, -_DEPTH / 2)
    corners = np.stack([along, across] if is_flat else [across, along], axis=1)
    return np.concatenate([corners[:-1], corners[1:]], axis=1)


def _map(window: Window, room: Box, theme: Theme, caption: str) -> list[Primitive]:
    """Draw A, B and C as a whole, small, with the visible part of each."""
    m, n, k = window.whole
    words, rest = paragraphs_in(room, [Paragraph.wrapped("map-name", caption, theme.soft.sized(theme.type.least), room, 2)])
    scale = min(min(rest.width - _MAP_GAP, _WIDEST_MAP) / (k + n), (rest.height - 2 * _MAP_GAP) / (k + m))
    if scale <= 0:
        return []
    cross = rest.strip("top", (k + m) * scale + 2 * _MAP_GAP)[0].trimmed(top=_MAP_GAP)
    (left, right), (top, low) = (
        cross.columns(k * scale, n * scale, gap=_MAP_GAP),
        cross.rows(k * scale, m * scale, gap=_MAP_GAP),
    )
    drawn: list[Primitive] = [*words]
    for name, (across, down) in {"A": (left, low), "B": (right, top), "C": (right, low)}.items():
        box = Box(across.x, down.y, across.width, down.height)
        rows, columns = window.of(name)
        x, wide = _visible_stretch(box.x + columns[0] * scale, (columns[1] - columns[0]) * scale, box.x, box.width)
        y, high = _visible_stretch(box.y + rows[0] * scale, (rows[1] - rows[0]) * scale, box.y, box.height)
        drawn.append(Rects(f"{name}-map", boxes(box), theme.tint(name, 0.22), theme.line))
        drawn.append(Rects(f"{name}-place", boxes((x, y, wide, high)), theme.accent(name)))
    return drawn


def _visible_stretch(start: float, length: float, low: float, extent: float) -> tuple[float, float]:
    """Return a stretch, widened so that it stays visible."""
    longer = min(max(length, _LEAST_MARK), extent)
    return min(max(low, start + (length - longer) / 2), low + extent - longer), longer


# Padding: what a tile holds as zero because it lies beyond the edge of its matrix, as hatched cells beyond that edge and in
# the tile. Where a cell would lie follows from the neighbours in the tile that are copies.

_LEAST_OUTLINED_CELL = 9.0  # units: smallest cell with its own outline
_TINT, _HATCH = 0.34, 0.32  # of the matrix's colour in outlines and hatching
_AROUND_NUMBER = np.array(((0.1, 0.42, 0.42, 0.1), (0.58, 0.9, 0.9, 0.58)))  # two diagonals of a cell
_STROKE_ACROSS = np.array(((0.12, 0.88, 0.88, 0.12),))
_Where = tuple[Longs, Longs]


def ghost_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the padding of this phase; nothing without any."""
    if plan.lanes is None:
        return []
    contents, grids = moment.tiles if options.arrived else moment.tiles_before, tile_grids(moment, plan)
    drawn: list[Primitive] = []
    for tile in plan.lanes.tiles:
        content, number = contents.get(tile.number), moment.trace.number_of(tile.side)
        if content is None or not tile.side:
            continue
        now = content.phase >= moment.phase
        cells = np.flatnonzero((content.array == CONSTANT) & now)
        if not len(cells):
            continue
        place = np.divmod(cells, tile.columns)
        drawn += _hatched(f"padding-{tile.number}", grids[tile.number], place, tile.side, options.theme)
        outside = None if number is None else _padding_outside(moment, number, content, place, tile.columns)
        if outside is not None:
            near = _with_space(plan, tile.side, outside)
            drawn += _hatched(f"beyond-{tile.number}", plan.matrices[tile.side], near, tile.side, options.theme)
    return drawn


def _padding_outside(moment: Moment, number: int, content: TileContent, place: _Where, columns: int) -> _Where | None:
    """Return the rows and columns, beyond the matrix, of the elements for which cells of a tile stand, if its copies lie in the
    same or the transposed order; None if they can't be told.
    """
    array = moment.trace.arrays[number]
    copies = np.flatnonzero((content.array == number) & (content.phase >= moment.phase))
    if not len(copies):
        return None
    elements, at = array.row_column(content.element[copies]), np.divmod(copies, columns)
    for first, second in ((0, 1), (1, 0)):
        down, across = elements[0] - at[first], elements[1] - at[second]
        if (down == down[0]).all() and (across == across[0]).all():
            r, c = place[first] + int(down[0]), place[second] + int(across[0])
            beyond = (r >= array.extents[0]) | (c >= array.extents[1])
            return r[beyond], c[beyond]
    return None


def _with_space(plan: Plan, side: str, place: _Where) -> _Where:
    """Return those of the places for which there is space beside the matrix."""
    (rows, columns), (down, across), c = place, plan.beyond, plan.matrices["C"]
    right, low = (c.x - 2, c.bottom + down * c.cell) if side == "A" else (c.right + across * c.wide, c.y - 2)
    table = plan.matrices[side]
    x, y = (table.middle(rows, columns) + np.array(table.sides) / 2).T
    seen = (x <= right + 0.5) & (y <= low + 0.5)
    return rows[seen], columns[seen]


def _hatched(key: str, table: CellGrid, place: _Where, name: str, theme: Theme) -> list[Primitive]:
    """Hatch each cell, and draw its outline if there is space."""
    if not len(place[0]):
        return []
    side, cells = table.cell, boxes_around(table.middle(*place), table.sides)
    hatch = Lines(key, _strokes_in(cells, _AROUND_NUMBER), theme.tint(name, _HATCH), max(1.0, 0.05 * side))
    outline = Rects(f"{key}-outline", grown(cells, -1), None, theme.tint(name, _TINT), radius=min(3.0, 0.1 * side))
    return [hatch, outline] if side >= _LEAST_OUTLINED_CELL else [hatch]


def _strokes_in(cells: Floats, strokes: Floats) -> Floats:
    """Return lines within each of some cells (n, 4), which are given in shares of a cell."""
    return (np.tile(cells[:, None, :2], 2) + strokes * np.tile(cells[:, None, 2:], 2)).reshape(-1, 4)


def lane_line(middle: Floats, dot: float, colour: str, width: float) -> list[Primitive]:
    """Draw a line through centres (n, 2) in the order of their lanes, with a dot at the first."""
    line = Lines("lane-order", np.hstack([middle[:-1], middle[1:]]), colour, width)
    return [line, Rects("lane-first", boxes_around(middle[:1], dot), colour, radius=dot / 2)]


# Marks where a run ended early: the elements of the invalid access, inside or outside their array.

_LEAST_SIDE, _GAP, _WIDE = 10.0, 16.0, 1e6
_OUTSIDE, _TO_ELEMENT = 26.0, 4.0  # largest size of an element outside its array, and its distance from the edge
_PlacedName = tuple[Point, Anchor, str]


def stop_marks(moment: Moment, plan: Plan, theme: Theme) -> list[Primitive]:
    """Draw frames around the elements that ended the run, at its last step."""
    stop = moment.trace.stop
    if stop is None or stop.array < 0 or moment.step != moment.replay.steps - 1:
        return []
    array, elements, is_tile = moment.trace.arrays[stop.array], np.array(stop.elements), False
    if array.space == "global":
        table, (rows, columns) = plan.matrices[array.name], array.row_column(elements)
    elif stop.array in tile_grids(moment, plan):
        table, is_tile = tile_grids(moment, plan)[stop.array], True
        rows, columns = np.divmod(elements, table.columns)
    else:
        return []
    frames, size = _at_or_beyond(table, rows, columns), theme.type.note
    element = array.subscripted(stop.elements[0])
    if 0 <= stop.elements[0] < array.size:
        x, y, side, _ = frames[0].tolist()
        name: _PlacedName = (
            ((table.x, table.y - _TO_NUMBERS), "start", element)
            if is_tile
            else ((x + side / 2, y - _TO_NUMBERS), "middle", element)
        )
    else:
        name = _name_outside(element, frames, table, is_tile, size)
    at, anchor, text = name
    label = text_at("stop-name", at, text, size, theme.warning, anchor, "semibold")
    return [Rects("stop", frames, None, theme.warning, 5.0), label]


def _name_outside(element: str, frames: Floats, table: CellGrid, is_tile: bool, size: float) -> _PlacedName:
    """Return the name right of all elements in its row; left of them where it would cover the numbers of the matrix's rows."""
    _, y, side, _ = frames[0].tolist()
    row = frames[np.abs(frames[:, 1] - y) < side]
    element += " …" if len(row) > 1 else ""
    end, base = float(row[:, 0].max()) + side + _TO_NUMBERS, y + side - 6
    if is_tile or end + text_width(element, size, "semibold") < table.right:
        return (end, base), "start", element
    return (float(row[:, 0].min()) - _TO_NUMBERS, base), "end", element


def _at_or_beyond(table: CellGrid, rows: Longs, columns: Longs) -> Floats:
    """Return the cells (x, y, width, height); those outside the table just beyond its edge."""
    largest = np.maximum(_LEAST_SIDE, table.sides)
    sides = np.where(table.holds(rows, columns)[:, None], largest, min(largest[1], _OUTSIDE))
    far, box = sides / 2 + _TO_ELEMENT, table.box
    middle = np.clip(table.middle(rows, columns), np.subtract(box[:2], far), np.add((box.right, box.bottom), far))
    return np.hstack([middle - sides / 2, sides])


def apart_from_marks(names: list[Labels], marks: Sequence[Primitive]) -> list[Labels]:
    """Move the names of matrices that stand on a mark, or on the text beside it, to the nearest free place."""
    taken = [box for each in marks for box in _covered(each)]
    moved: list[Labels] = []
    for place, name in enumerate(names):
        others = [*taken, *map(_text_box, (*moved, *names[place + 1 :]))]
        free = (each for each in _other_places(name, taken) if not any(_text_box(each).meets(box) for box in others))
        moved.append(next(free, name))
    return moved


def _covered(mark: Primitive) -> Iterable[Box]:
    if isinstance(mark, Rects):
        return [Box(*box) for box in mark.boxes.tolist()]
    return [_text_box(mark)] if isinstance(mark, Labels) else []


def _other_places(name: Labels, taken: list[Box]) -> Iterator[Labels]:
    """The name where it is, right of the marks that it meets, left of them, and below them."""
    yield name
    (x, y), own = name.at[0].tolist(), _text_box(name)
    near = [box for box in taken if own._replace(x=-_WIDE, width=2 * _WIDE).meets(box)]
    if near:
        yield dataclasses.replace(name, at=points((max(box.right for box in near) + _GAP, y)), anchor="start")
        yield dataclasses.replace(name, at=points((min(box.x for box in near) - _GAP, y)), anchor="end")
        yield dataclasses.replace(name, at=points((x, max(box.bottom for box in near) + name.size)))


def _text_box(name: Labels) -> Box:
    (x, y), width = name.at[0].tolist(), text_width(name.texts[0], name.size, name.face)
    return Box(x - ANCHORED[name.anchor] * width, y - name.size, width, 1.2 * name.size)


# Parts of a vector that stands in rows: the elements of a phase with an outline along their edge, and, hatched behind the
# end of the vector, the places of the threads for which there is no element.

_EDGE, _ABOVE, _AFTER_NAME = 4.0, 12.0, 24.0  # width of an outline; from a vector up to its words; behind its name


def part_outline(array: MemoryArray, elements: Longs, table: CellGrid, theme: Theme) -> list[Primitive]:
    """Draw a line along the edge of the visible ones of some elements; nothing for none."""
    row, column = array.row_column(elements)
    seen = table.holds(row, column)
    inside = np.zeros((table.rows + 2, table.columns + 2), bool)
    inside[row[seen] - table.first[0] + 1, column[seen] - table.first[1] + 1] = True
    segments = _edges(inside) * np.array(2 * table.sides) + np.array([table.x, table.y, table.x, table.y])
    return [Lines(f"{array.name}-area", segments, theme.accent(array.name), _EDGE)] if len(segments) else []


def _edges(inside: np.ndarray) -> Floats:
    """Return the segments (n, 4) between cells that are inside and those that aren't, in cells from the first; the table has a
    margin of one cell. A segment is as long as the edge goes straight on, and as a line is wide at its corners.
    """
    found = []
    for across, table in ((True, inside), (False, inside.T)):
        change = table[1:] != table[:-1]  # (edges, cells along them)
        step = np.diff(change.astype(np.int8), axis=1, prepend=0, append=0)
        (edge, first), (_, last) = (np.nonzero(step == sign) for sign in (1, -1))
        edges = np.stack([first - 1.0, edge, last - 1.0, edge], axis=1)
        found.append(edges if across else edges[:, [1, 0, 3, 2]])
    return np.concatenate(found)


def threads_beyond(moment: Moment, array: MemoryArray, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw, hatched, the places behind the end of a vector where the threads of the block without an element would be, and say
    above the vector that is accessed now how many there are. Nothing if threads and elements aren't in the same order.
    """
    number, table = moment.trace.number_of(array.name), plan.matrices[array.name]
    beyond = None if number is None or len(array.shape) != 1 else _indices_beyond(moment, number)
    if number is None or beyond is None:
        return []
    cells = table.boxes(*np.divmod(beyond, array.extents[1]))
    if not len(cells):
        return []
    theme, size = options.theme, options.theme.type.note
    drawn: list[Primitive] = [
        Rects(f"{array.name}-idle-outline", grown(cells, -1), None, theme.faint, 1.0, 2.0),
        Lines(f"{array.name}-idle", _strokes_in(cells, _STROKE_ACROSS), theme.faint, max(1.5, 0.06 * table.cell)),
    ]
    text = tr("{threads} without an element", threads=many(len(beyond), "thread"))
    wide = 1.1 * size + NEAR + text_width(text, size)
    named = text_width(title_text(array.name, array.shape), theme.type.name, "semibold") + _AFTER_NAME
    if any(moment.of_array(number)) and named + wide <= table.box.width:
        row = Box(table.right - wide, table.y - _ABOVE - size, wide, size)
        mark, words = swatch(f"{array.name}-idle-swatch", row, text, None, Style(size, theme.text), theme.faint)
        drawn += [mark, hatching(f"{mark.key}-hatching", mark.boxes, theme.faint), words]
    return drawn


def _indices_beyond(moment: Moment, number: int) -> Longs | None:
    """Return the indices behind the end of a vector of the block's threads, if every thread's index is its number and a
    constant; None else.
    """
    trace, array = moment.trace, moment.trace.arrays[number]
    touched = next(
        (trace.element[each.rows[0], moment.scope.of_block] for each in trace.touches_of(number) if len(each.rows)), None
    )
    if touched is None or not (touched >= 0).any():
        return None
    threads = np.arange(len(touched))
    shift = (touched - threads)[touched >= 0]
    if (shift != shift[0]).any():
        return None
    place = threads[touched < 0] + int(shift[0])
    return place[place >= array.size]
