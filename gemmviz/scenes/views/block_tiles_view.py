"""Blocks and tiles: C in the colours of its blocks, and the rows of A and columns of B that the watched block needs, those
of the current phase brighter.
"""

import dataclasses

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.analysis.replay.replay import Area
from gemmviz.model.arrays import AnyArray, Bytes, Floats, Longs
from gemmviz.model.messages import many, marked, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, NEAR, ROW_PITCH, Box, all_beside, beside, cells_in, write, write_all
from gemmviz.scenes.kit.primitives import Lines, Primitive, Rects, Scene, boxes, label_step
from gemmviz.scenes.kit.shapes import group_colours
from gemmviz.scenes.kit.theme import FIRM, PALE, PHASE, SOFT, Style, Theme
from gemmviz.scenes.kit.view import MARGIN, View, ViewOptions, framed
from gemmviz.scenes.stage.cells import CellGrid

_GAP, _SIGN_GAP = 40, 84  # between matrices: of a cross, and of a row with signs
_ABOVE = 78  # above the matrices: what is drawn, and their names
_MOST_LINES = 33
_TINTS_OF_BLOCKS = (PALE, SOFT)  # of the blocks in turn, so that neighbours are told apart
_MOST_BLOCKS, _MOST_CELLS = 1024, 256
_MOVING, _LEAST_MOVING, _MOST_MOVING = 0.46, 6, 4096  # side of a moving element, of a cell and in units; elements that move


def tiles_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw A · B = C in a row, or as a cross with B above C where that gives larger cells."""
    return framed(_drawn_matrices(moment, options), moment, options)


def tiles_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the elements of this step on their way between their matrices and the elements of C of the threads that access
    them, as small squares; nothing after they have arrived.
    """
    if options.arrived:
        return ()
    places, unit = _matrix_places(moment, options)
    first, homes, primitives = moment.scope.in_block.start - moment.scope.of_block.start, moment.homes, list[Primitive]()
    for place, touched in enumerate(moment.touched):
        active = np.flatnonzero(touched.in_block >= 0)
        own = homes[first + active] if len(homes) else np.zeros((0, 2))
        if touched.array.name not in places or not len(own) or len(own) > _MOST_MOVING or np.isnan(own).any():
            continue
        cells = np.stack(touched.array.row_column(touched.in_block[active].astype(np.int64)), axis=1)
        ends = [_centres(cells, places[touched.array.name], unit), _centres(own, places["C"], unit)]
        start, stop = ends if touched.operand.access == "read" else ends[::-1]
        middle = start + (stop - start) * options.way
        side = min(max(_MOVING * unit, _LEAST_MOVING), unit)
        squares = np.column_stack([middle - side / 2, np.full((len(middle), 2), side)])
        accent = options.theme.accent(touched.array.name)
        line = options.theme.background if side >= 2 * _LEAST_MOVING else None
        primitives.append(Rects(f"moving-{place}", squares, accent, line, 1, min(3, side / 4), "moving"))
    return tuple(primitives)


def _centres(cells: AnyArray, box: Box, unit: float) -> Floats:
    """Return the centres of elements, given as rows and columns: (n, 2)."""
    return CellGrid(box.x, box.y, unit, *cells.shape).middle(cells[:, 0], cells[:, 1])


def _matrix_places(moment: Moment, options: ViewOptions) -> tuple[dict[str, Box], float]:
    """Return the boxes of the matrices, and the side of a cell."""
    m, n, k = moment.trace.setup.problem.sizes.values()
    least = options.theme.type.least
    room = options.room().trimmed(top=-10).trimmed(bottom=ROW_PITCH * least)
    wide, high = room.width - 2 * least, room.height - _ABOVE
    row = min((wide - 2 * _SIGN_GAP) / (k + n + n), high / max(m, k))
    cross = min((wide - _GAP - 60) / (k + n), (high - _GAP) / (k + m))
    unit, y = max(row, cross), room.y + _ABOVE
    if row >= cross:
        x = room.x + (wide - (k + n + n) * unit - 2 * _SIGN_GAP) / 2
        a, b, c = Box(x, y, (k + n + n) * unit + 2 * _SIGN_GAP, 0).columns(k * unit, n * unit, n * unit, gap=_SIGN_GAP)
        heights = {"A": (a, m), "B": (b, k), "C": (c, m)}
        return {name: box._replace(height=rows * unit) for name, (box, rows) in heights.items()}, unit
    x = room.x + (wide - (k + n) * unit - _GAP) / 2
    b = Box(x + k * unit + _GAP, y, n * unit, k * unit)
    below = y + k * unit + _GAP
    return {"A": Box(x, below, k * unit, m * unit), "B": b, "C": Box(b.x, below, n * unit, m * unit)}, unit


def _drawn_matrices(moment: Moment, options: ViewOptions) -> list[Primitive]:
    m, n, k = moment.trace.setup.problem.sizes.values()
    places, unit = _matrix_places(moment, options)
    primitives: list[Primitive] = []
    for name, box in places.items():
        primitives.append(Rects(f"{name}-ground", boxes(box), options.theme.panel))
    primitives += _blocks_of_c(moment, places["C"], unit, options)
    for name in "AB":
        primitives += _needed_areas(moment, name, places[name], unit, options)
    for name, rows, columns in (("A", m, k), ("B", k, n), ("C", m, n)):
        primitives += _element_lines(name, places[name], rows, columns, options)
    primitives += _block_names(moment, places["C"], unit, options)
    primitives += _numbers_of_c(places["C"], (m, n), unit, options)
    return [*primitives, *_matrix_names(moment, places, options)]


def _area_box(area: Area, box: Box, unit: float) -> Box:
    r0, r1, c0, c1 = area
    return Box(box.x + c0 * unit, box.y + r0 * unit, (c1 - c0) * unit, (r1 - r0) * unit)


class _Blocks(Struct, frozen=True):
    """The traced blocks that store into C: ``numbers`` (n,), half-open ``areas`` (n, 4) as r0, r1, c0 and c1, and
    ``shades`` (n,), indices of the shades of C.
    """

    numbers: Longs
    areas: Longs
    shades: Longs

    def parts(self, box: Box, unit: float) -> Floats:
        """Return the areas as drawn: (n, 4), x, y, width and height."""
        r0, r1, c0, c1 = self.areas.T
        return np.column_stack([box.x + c0 * unit, box.y + r0 * unit, (c1 - c0) * unit, (r1 - r0) * unit])


def _blocks_of(moment: Moment) -> _Blocks:
    """Return the blocks of the trace, cached with it."""
    return moment.replay.cached("block areas", lambda: _stored_areas(moment))


def _stored_areas(moment: Moment) -> _Blocks:
    trace, owners = moment.trace, moment.replay.owners
    if owners.array is None or not len(owners.elements):
        return _Blocks(np.zeros(0, np.int64), np.zeros((0, 4), np.int64), np.zeros(0, np.int64))
    rows, columns = (np.asarray(each, np.int64) for each in owners.array.row_column(owners.elements))
    block = owners.threads // trace.space.threads_per_block
    count = int(block.max()) + 1
    low, high = np.full((2, count), np.iinfo(np.int64).max), np.full((2, count), -1, np.int64)
    for axis, places in enumerate((rows, columns)):
        np.minimum.at(low[axis], block, places)
        np.maximum.at(high[axis], block, places)
    numbers = np.flatnonzero(high[0] >= 0)
    areas = np.column_stack([low[0], high[0] + 1, low[1], high[1] + 1])[numbers]
    colours = group_colours(trace, numbers * trace.space.threads_per_block, "block")
    return _Blocks(numbers, areas, np.asarray(colours % len(_TINTS_OF_BLOCKS), np.int64))


def _blocks_of_c(moment: Moment, box: Box, unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw the part of C of every traced block in its colour; the watched one is framed."""
    theme, blocks = options.theme, _blocks_of(moment)
    parts = blocks.parts(box, unit)
    primitives: list[Primitive] = []
    if len(parts) > _MOST_BLOCKS:
        primitives.append(_as_cells(moment, box, options))
    else:
        for shade in np.unique(blocks.shades).tolist():
            primitives.append(Rects(f"blocks-{shade}", parts[blocks.shades == shade], theme.tint("C", _TINTS_OF_BLOCKS[shade])))
    here = parts[blocks.numbers == moment.scope.block_number]
    if len(here) and not moment.focus.everyone:
        primitives.append(Rects("block-here", here, theme.tint("C", FIRM)))
    return primitives


def _as_cells(moment: Moment, box: Box, options: ViewOptions) -> Primitive:
    """Draw very many blocks as cells of C in their colours."""
    (rows, columns), replay = moment.trace.setup.problem.shapes["C"], moment.replay
    shape = min(rows, _MOST_CELLS), min(columns, _MOST_CELLS)

    def made() -> Bytes:
        owners, threads = replay.owners, moment.trace.space.threads_per_block
        assert owners.array is not None
        row, column = owners.array.row_column(owners.elements)
        starts = owners.threads // threads * threads
        fill = np.zeros(shape, np.uint8)
        fill[row * shape[0] // rows, column * shape[1] // columns] = (
            group_colours(moment.trace, starts, "block") % len(_TINTS_OF_BLOCKS) + 1
        )
        return fill

    fill, palette = replay.cached("block cells", made), (options.theme.panel, *_block_tints(options.theme))
    return cells_in("blocks", box, fill, palette, None)


def _block_tints(theme: Theme) -> tuple[str, ...]:
    return tuple(theme.tint("C", shade) for shade in _TINTS_OF_BLOCKS)


def _block_names(moment: Moment, box: Box, unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw x and y of every traced block in its upper left cell, or in its middle where single elements have no lines."""
    trace, theme, blocks = moment.trace, options.theme, _blocks_of(moment)
    parts, size = blocks.parts(box, unit), options.theme.type.words
    if not len(parts) or len(parts) > _MOST_BLOCKS:
        return []
    starts = (blocks.numbers * trace.space.threads_per_block).tolist()
    texts = tuple(f"({x}, {y})" for x, y in (trace.space.indices(start)[0][:2] for start in starts))
    rows, columns = trace.setup.problem.shapes["C"]
    has_lines = bool(_element_lines("C", box, rows, columns, options))
    block = float(parts[:, 2].min()), float(parts[:, 3].min())
    needed = max(theme.strong.sized(1).width(text) for text in texts)
    cells = 2 if has_lines and needed * theme.type.least + 8 > unit and block[0] >= 2 * unit else 1
    wide, high = (cells * unit, unit) if has_lines else block
    size = min(size, high / LINE_PITCH, (wide - 8) / needed)
    if size < theme.type.least:
        return []
    here = (blocks.numbers == moment.scope.block_number) & (not moment.focus.everyone)
    spots = [Box(x, y, wide, high) if has_lines else Box(x, y, *rest) for x, y, *rest in parts.tolist()]
    primitives: list[Primitive] = []
    for shade, fill in enumerate((*_block_tints(theme), theme.tint("C", FIRM))):
        some = np.flatnonzero(here if shade == len(_TINTS_OF_BLOCKS) else ~here & (blocks.shades == shade)).tolist()
        own, style = [spots[place] for place in some], Style(size, theme.ink_on(fill), "semibold")
        if some and cells > 1:  # a name over two cells hides the line between them
            primitives.append(Rects(f"block-ground-{shade}", boxes(*(box.inset(1) for box in own)), fill))
        if some:
            primitives.append(write_all(f"block-names-{shade}", own, [texts[place] for place in some], style, "middle"))
    return primitives


def _needed_areas(moment: Moment, name: str, box: Box, unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw what the watched block accesses in all phases, then what it accesses in the current one."""
    theme, areas = options.theme, moment.areas(name)
    parts = [_area_box(area, box, unit) for area in areas.values()]
    primitives: list[Primitive] = []
    if parts:
        primitives.append(Rects(f"{name}-strip", np.array(parts), theme.tint(name, PHASE)))
        primitives.append(Rects(f"{name}-tiles", np.array(parts), None, theme.background, 2))
    here = areas.get(moment.phase)
    if here is not None:
        primitives.append(Rects(f"{name}-phase", boxes(_area_box(here, box, unit)), theme.accent(name)))
    return primitives


def _element_lines(name: str, box: Box, rows: int, columns: int, options: ViewOptions) -> list[Primitive]:
    """Draw lines between single elements if there are few."""
    if max(rows, columns) >= _MOST_LINES:
        return []
    down = [(*row.at(0, 0), *row.at(1, 0)) for row in box.grid(rows, 1)[1:]]
    across = [(*column.at(0, 0), *column.at(0, 1)) for column in box.grid(1, columns)[1:]]
    if not down and not across:
        return []
    return [Lines(f"{name}-lines", boxes(*down, *across), options.theme.background)]


def _numbers_of_c(c: Box, shape: tuple[int, int], unit: float, options: ViewOptions) -> list[Primitive]:
    """Draw row and column numbers below C and on its right, as many as can be read."""
    theme, first = options.theme, options.labels.first
    step = label_step(unit, theme.small.width(f"{max(shape)}") + NEAR, 256)
    if step == 256:
        return []
    beside_c = [each.part((1, 1)) for each in c.grid(shape[0], 1)[::step]]
    below_c = [each.inset(-unit, 0) for each in c.grid(1, shape[1])[::step]]
    rows, columns = ([str(place + first) for place in range(0, count, step)] for count in shape)
    numbers = (
        all_beside("columns", below_c, "bottom", columns, theme.aside, 8, "middle"),
        all_beside("rows", beside_c, "right", rows, theme.aside, 8),
    )
    return [dataclasses.replace(each, meaning="scale") for each in numbers]


def _matrix_names(moment: Moment, places: dict[str, Box], options: ViewOptions) -> list[Primitive]:
    """Draw the names of the matrices above them, signs between them, and what the cells of C stand for."""
    theme, cross, primitives = options.theme, places["C"].y > places["B"].y, list[Primitive]()
    style = theme.strong.sized(theme.type.name)
    for name, box in places.items():
        if name == "C" and cross:
            spot = Box(box.right + 32, box.y, MARGIN, style.size)
            primitives.append(write("C-name", spot, name, style.inked(theme.accent(name))))
        else:
            above = box._replace(width=max(box.width, MARGIN))
            primitives.append(beside(f"{name}-name", above, "top", name, style.inked(theme.accent(name))))
    for sign, left in () if cross else (("×", "A"), ("=", "B")):
        spot = places[left].shifted(places[left].width)._replace(y=places["A"].y, width=_SIGN_GAP, height=places["A"].height)
        primitives.append(write(f"sign-{left}", spot, sign, theme.soft.sized(theme.type.sentence), "middle"))
    line = options.room().trimmed(top=-14)._replace(height=34)
    return [*primitives, write("tiles-words", line, _what_c_shows(moment), theme.plain)]


def _what_c_shows(moment: Moment) -> str:
    """Return what the numbers in C are, and what a block of a kernel with tiles reads."""
    tall, words = list(moment.areas("A").values()), tr("In C: blocks (x, y)")
    has_tiles = any(array.space == "shared" for array in moment.trace.arrays)
    if not (tall and has_tiles) or moment.focus.warp is not None or moment.focus.thread is not None or moment.focus.everyone:
        return words
    r0, r1, c0, c1 = tall[0]
    tiles = many(moment.replay.phases, "tile")
    return tr(
        "{words}. A block reads {tiles} of A, {r1} × {c1}, in a row, and as many of B in a column",
        words=words,
        tiles=tiles,
        r1=r1 - r0,
        c1=c1 - c0,
    )


VIEW = View(marked("Blocks and their tiles"), Moment, tiles_scene, tiles_motion, multiplies=True, order=105)
