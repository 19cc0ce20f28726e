"""The shared arrays of one block: each cell in the colour of the matrix that it holds a copy of, with that element's
indices. Cells stored in an earlier phase are faded.
"""

import dataclasses
from functools import lru_cache
from itertools import combinations, product

import numpy as np
from msgspec import Struct

from gemmviz.analysis.hazard import Hazard
from gemmviz.analysis.replay.focus import thread_text
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.tiles import EMPTY, THREADS, TileContent
from gemmviz.model.arrays import AnyArray, Bytes, Floats, Longs, Strings
from gemmviz.model.messages import all_blocks, capital, counted, many, tr
from gemmviz.model.sites import LabelStyle, MemoryArray, Site
from gemmviz.model.trace import COMPUTED, CONSTANT
from gemmviz.scenes.kit.layout import Box, Paragraph, Point, baseline, paragraph, paragraphs_in, text_at
from gemmviz.scenes.kit.primitives import (
    Anchor,
    ArrayCells,
    Cells,
    Labels,
    Primitive,
    Rects,
    Squares,
    Told,
    boxes,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.shapes import GROUPED, group_accents, group_colours, group_numbers
from gemmviz.scenes.kit.theme import (
    HEAT_LEVELS,
    HEAT_LIT,
    HELD,
    NOW,
    PHASE,
    REST,
    STALE,
    TOUCHED,
    Palette,
    Theme,
    heat_levels,
    heat_palette,
    inks_for,
    mixed,
    most_loads,
    shared_cells,
)
from gemmviz.scenes.kit.view import Layer, ViewOptions, eased
from gemmviz.scenes.stage.cells import (
    CellGrid,
    Texts,
    boxes_around,
    cells_side_by_side,
    fitting_size,
    index_labels,
    label_size,
    longest_of,
    table_cells,
    value_texts,
)
from gemmviz.scenes.stage.layout import Plan, places, sides_of, tile_grids

# Small pictures of the inputs of a multiplication, beside a table of reads, and of the arrays in shared memory; and the
# elements that fly from the inputs to the threads that read them: an element that several threads read parts on its way.

_HEAD, _ABOVE = 1.3, 0.35  # of the size of a name: the line with it, and its distance from the table
_TILE_CELLS_GAP, _CHIP, _LEAST_SIDE, _MOST_CELLS = 36.0, 40.0, 5.0, 64
_TILE_GAP, _LARGEST_TILE_CELL, _MOST_OF_TILE = 60.0, 60.0, 4096
_REST, _HELD = 0.22, 0.4  # of the colour of an array: cells that aren't read now, and copies of its elements
Element = tuple[int, int]  # of an array by its number
Tables = dict[int, CellGrid]  # by the number of the array


def small_inputs(moment: Moment, room: Box, options: ViewOptions) -> Tables:
    """Return the places of the inputs side by side in a room, below a line with their names."""
    shapes = {number: moment.trace.arrays[number].extents for number in moment.trace.inputs}
    return cells_side_by_side(shapes, room, _HEAD * options.theme.type.words, _TILE_CELLS_GAP, _CHIP)


def middle_of(moment: Moment, placed: Tables, element: Element) -> Point:
    """Return the centre of an element of an input."""
    number, offset = element
    row, column = moment.trace.arrays[number].row_column(np.array([offset]))
    x, y = placed[number].middle(row, column)[0].tolist()
    return x, y


def small_matrices(moment: Moment, placed: Tables, now: set[Element], options: ViewOptions) -> list[Primitive]:
    """Draw the inputs with the elements that are read now lit, and with indices where they fit."""
    drawn, theme = list[Primitive](), options.theme
    for number, table in placed.items():
        array, key = moment.trace.arrays[number], f"small-{moment.trace.arrays[number].name}"
        accent, rest, size = theme.accent(array.name), theme.tint(array.name, _REST), theme.type.words
        at = table.x, table.y - _ABOVE * size
        drawn.append(text_at(f"{key}-name", at, array.name, size, accent, "start", "semibold"))
        lit = np.array([element for each, element in now if each == number], np.int64)
        if max(array.extents) <= _MOST_CELLS:
            fill = np.zeros(array.extents, np.uint8)
            fill[array.row_column(lit)] = 1
            names = index_labels(array, *array.extents, (0, 0), options.labels)
            drawn.append(table_cells(key, table, fill, (rest, accent), options, names))
        else:
            more = max(0.0, (_LEAST_SIDE - table.cell) / 2)
            drawn += [Rects(key, boxes(table.box), rest), Rects(f"{key}-lit", table.of(array, lit, more), accent)]
    return drawn


def reading_motion(
    moment: Moment, placed: Tables, reads: list[tuple[Element, Point]], options: ViewOptions
) -> tuple[Primitive, ...]:
    """Draw each element that is read on its way to a place of the table; nothing after it has arrived."""
    if options.arrived or not reads:
        return ()
    share, arrays, theme = options.way, moment.trace.arrays, options.theme
    start: Floats = np.array([middle_of(moment, placed, element) for element, _ in reads])
    end = np.array([place for _, place in reads])
    numbers = sorted({number for (number, _), _ in reads})
    side = max(_LEAST_SIDE, placed[numbers[0]].cell * (1 - share) + _CHIP * share)
    palette = tuple(theme.accent(arrays[number].name) for number in numbers)
    texts = np.array([options.labels.indices(arrays[number], element) for (number, element), _ in reads])
    size = fitting_size(texts, side, options)
    fill = np.array([numbers.index(number) for (number, _), _ in reads], np.uint8)
    chips = boxes_around(start + (end - start) * share, side)[:, :3]
    inks = tuple(map(theme.ink_on, palette))
    return (Squares("reading", chips, fill, palette, inks, texts if size else None, size, theme.background),)


# The arrays of a block in shared memory as small tables with the indices of the elements that they hold copies of.


def small_tile_places(moment: Moment, room: Box, options: ViewOptions) -> Tables:
    """Return the places of the shared arrays side by side, below their names, in the middle of the room."""
    arrays = enumerate(moment.trace.arrays)
    shapes = {n: each.extents for n, each in arrays if each.space == "shared" and each.size <= _MOST_OF_TILE}
    return cells_side_by_side(shapes, room, _HEAD * options.theme.type.least, _TILE_GAP, _LARGEST_TILE_CELL, 0.5)


def small_tiles(moment: Moment, placed: Tables, options: ViewOptions) -> list[Primitive]:
    """Draw the tables; the cells that this step accesses are lit."""
    theme, size, drawn, arrays = options.theme, options.theme.type.least, list[Primitive](), moment.trace.arrays
    contents = moment.tiles if options.arrived else moment.tiles_before
    names = [each.name if each.space == "global" else "" for each in arrays]
    palette = (theme.panel, *(theme.tint(name, _HELD) for name in names), *(theme.accent(name) for name in names))
    for number, table in placed.items():
        held = contents[number].array.astype(np.int64) if number in contents else np.full(arrays[number].size, -1)
        fill = np.where(held >= 0, held + 1, 0)
        for touched in moment.of_array(number):
            cells = touched.block_cells
            fill[cells] = np.where(held[cells] >= 0, held[cells] + 1 + len(names), 0)
        key, at = f"small-{arrays[number].name}", (table.x, table.y - _ABOVE * size)
        drawn.append(table_cells(key, table, fill, palette, options, _held_names(moment, number, options)))
        drawn.append(text_at(f"{key}-name", at, arrays[number].name, size, theme.text))
    return drawn


def _held_names(moment: Moment, number: int, options: ViewOptions) -> Texts | None:
    """Return the indices of the elements of which a shared array holds copies, "0" for a constant."""
    content = (moment.tiles if options.arrived else moment.tiles_before).get(number)
    if content is None:
        return None
    held = zip(content.array.tolist(), content.element.tolist(), strict=True)
    arrays, labels = moment.trace.arrays, options.labels
    names = [labels.indices(arrays[each], at) if each >= 0 else "0" if each == CONSTANT else "" for each, at in held]
    return np.array(names)


_HEADING, _NAME_AIR, _SUM = 24.0, 12.0, "Σ{}"  # the last: a sum of so many elements
_NOTHING, _FIRST_MATRIX = 0, -EMPTY  # contents: EMPTY, CONSTANT, COMPUTED, then the matrices, from 0
_MOST_LABELLED_CELLS = 96 * 96


def tile_primitives(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw all shared arrays of the watched block."""
    contents = moment.tiles if options.arrived else moment.tiles_before
    primitives: list[Primitive] = []
    for number, table in tile_grids(moment, plan).items():
        primitives += _tile(moment, number, table, contents.get(number), plan, options)
    return primitives


def tile_matrix(moment: Moment) -> str | None:
    """Return the matrix whose copies are read or written in a tile at this moment, None if there is no single one."""
    return moment.cached("tile matrix", lambda: _tile_matrix(moment))


def _tile_matrix(moment: Moment) -> str | None:
    for touched in moment.touched:
        content = moment.tiles.get(touched.operand.array) if touched.array.space == "shared" else None
        cells = touched.block_cells
        if content is not None and len(cells):
            numbers = np.unique(content.array[cells])
            return moment.trace.arrays[int(numbers[0])].name if len(numbers) == 1 and numbers[0] >= 0 else None
    return None


def _tile(
    moment: Moment, number: int, table: CellGrid, content: TileContent | None, plan: Plan, options: ViewOptions
) -> list[Primitive]:
    array, theme, zoom = moment.trace.arrays[number], options.theme, options.zoom
    kinds = np.full(array.size, _NOTHING, np.uint8) if content is None else _kinds(content)
    if options.layer == "reuse":
        fill, palette, texts = _tile_heat(moment, number, array, kinds, theme)
        inks = inks_for(theme, palette)
    else:
        palette = tile_palette(moment.trace.arrays, theme, group_accents(options.layer, theme))
        inks = tile_inks(moment.trace.arrays, theme, group_accents(options.layer, theme))
        fill = _tile_look(moment, number, kinds, content, options)
        is_readable = (
            array.size <= _MOST_LABELLED_CELLS
            and label_size("0,0", table.cell, options.pixels, options.least, table.stretch) > 0
        )
        texts = _shown_texts(moment, content, table, options) if content is not None and is_readable else None
    size = 0.0
    if texts is not None:
        names = (options.labels.indices(each, each.size - 1) for each in moment.trace.arrays if each.space == "global")
        sums = [] if content is None else [_SUM.format(content.summands.max())]
        longest = longest_of(texts.tolist() if options.values or options.layer == "reuse" else [*names, *sums])
        size = label_size(longest, table.cell, options.pixels, options.least, table.stretch)
    labels = _padded(texts, table) if texts is not None and size else None
    key = f"tile-{array.name}"
    cells = Cells(
        key, table.x, table.y, table.wide, _padded(fill, table), palette, inks, labels, size,
        theme.background if table.cell * zoom >= 7.5 else None, height=table.cell,
        meaning=ArrayCells(array.name, array.space),
    )  # fmt: skip
    frame = Rects(f"{key}-frame", boxes(table.box), None, theme.line, 1.5)
    return [cells, frame, *tile_name(moment, number, table, plan, theme)]


def tile_name(moment: Moment, number: int, table: CellGrid, plan: Plan, theme: Theme) -> list[Labels]:
    """Draw the name of a tile in a lane on its left or right, above it or below it, where no other tile and no other name is;
    above other tiles.
    """
    text, lanes = moment.trace.arrays[number].name, plan.lanes
    sides = {} if lanes is None else {each.number: each.side for each in lanes.tiles}
    if lanes is None or not sides[number]:
        size, after = theme.type.heading, _summands_text(moment, number)
        name = text_at(f"tile-{text}-name", (table.x, table.y - 10), text, size, theme.text, "start", "semibold")
        at = table.x + text_width(text, size, "semibold") + 2 * _NAME_AIR, table.y - 10
        return [name, *([text_at(f"tile-{text}-sums-name", at, after, theme.type.note, theme.faint)] if after else [])]
    grids = tile_grids(moment, plan).items()
    tiles = tuple((moment.trace.arrays[each].name, sides[each], grid.box) for each, grid in grids)
    return [name for name in _names_in_corner(tiles, lanes.corner, theme) if text in name.texts]


def _summands_text(moment: Moment, number: int) -> str:
    """Return of how many elements each sum is that this phase has stored in a shared array; "" if none is, or that differs."""
    content = moment.tiles.get(number)
    if content is None or not (content.array == COMPUTED).any():
        return ""
    counts = np.unique(content.summands[(content.array == COMPUTED) & (content.phase == content.phase.max())])
    return tr("sums of {count} elements", count=counted(int(counts[0]))) if len(counts) == 1 and counts[0] > 1 else ""


@lru_cache(maxsize=64)
def _names_in_corner(tiles: tuple[tuple[str, str, Box], ...], corner: Box, theme: Theme) -> list[Labels]:
    """Return the names of tiles in lanes, each given by name, side and box: as many as have free places, at the first ones."""
    named = [(text, side, _free_places(text, box, tiles, corner, theme)) for text, side, box in tiles if side]
    best: list[Labels] = []
    most = sum(bool(free) for _, _, free in named)
    for way in product(*([*free, None] for _, _, free in named)):
        rooms = [place[0] for place in way if place is not None]
        if len(rooms) > len(best) and not any(one.meets(other) for one, other in combinations(rooms, 2)):
            best = [
                text_at(f"tile-{text}-name", place[1], text, theme.type.heading, theme.accent(side), place[2], "semibold")
                for (text, side, _), place in zip(named, way, strict=True)
                if place is not None
            ]
        if len(best) == most:
            break
    return best


def _free_places(
    text: str, tile: Box, tiles: tuple[tuple[str, str, Box], ...], corner: Box, theme: Theme
) -> list[tuple[Box, Point, Anchor]]:
    """Return the places for a name around its tile where no tile is: the room, and where the text begins or ends."""
    size, needed = theme.type.heading, text_width(text, theme.type.heading, "semibold") + _NAME_AIR
    beside, row = baseline(tile.middle_y, size), tile.middle_y - size / 2
    free: tuple[tuple[Box, Point, Anchor], ...] = (
        (Box(tile.x - needed, row, needed, size), (tile.x - _NAME_AIR, beside), "end"),
        (Box(tile.right, row, needed, size), (tile.right + _NAME_AIR, beside), "start"),
        (Box(tile.x, tile.y - size - 10, needed, size + 10), (tile.x, tile.y - 10), "start"),
        (Box(tile.x, tile.bottom, needed, size + 10), (tile.x, tile.bottom + size), "start"),
    )
    return [
        (room, at, anchor)
        for room, at, anchor in free
        if room.x >= min(tile.x, corner.x) and room.right <= corner.right
        and room.y >= corner.y and room.bottom <= corner.bottom
        and not any(room.meets(other) for _, _, other in tiles if other != tile)
    ]  # fmt: skip


@lru_cache(maxsize=16)
def tile_palette(arrays: tuple[MemoryArray, ...], theme: Theme, accents: Palette) -> Palette:
    """Return three colours (stale, held, accessed) for empty cells, constants, computed values and copies of each matrix.

    They are followed by accessed by several groups of threads, and by each group (``accents``).
    """
    grey = (theme.empty, theme.empty, mixed(theme.empty, theme.faint, 0.45))
    threes = [grey, grey, (theme.empty, theme.line, theme.faint)]
    for array in arrays:
        if array.space == "global":
            threes.append((theme.tint(array.name, REST), theme.tint(array.name, PHASE), theme.tint(array.name, NOW)))
    return *(colour for three in threes for colour in three), theme.faint, *accents


@lru_cache(maxsize=16)
def tile_inks(arrays: tuple[MemoryArray, ...], theme: Theme, accents: Palette) -> Palette:
    """Return the text colours on ``tile_palette``, faint on what an earlier phase stored."""
    palette = tile_palette(arrays, theme, accents)
    return tuple(
        theme.faint if entry < _first_group_entry(arrays) and entry % 3 == STALE else theme.ink_on(colour)
        for entry, colour in enumerate(palette)
    )


def _first_group_entry(arrays: tuple[MemoryArray, ...]) -> int:
    """Return the first entry of ``tile_palette`` after the threes: accessed by several groups of threads."""
    return 3 * (_FIRST_MATRIX + sum(array.space == "global" for array in arrays))


def _tile_look(moment: Moment, number: int, kinds: Bytes, content: TileContent | None, options: ViewOptions) -> Bytes:
    """Return the palette entry of every element, flat."""
    stale = np.zeros(len(kinds), bool) if content is None else content.phase < moment.phase
    fill = (kinds * 3 + np.where(stale, STALE, HELD)).astype(np.uint8)
    for touched in moment.of_array(number):
        if touched.operand.access == "write" and not options.arrived:
            continue
        cells = touched.block_cells
        fill[cells] = kinds[cells] * 3 + TOUCHED
        if options.layer in GROUPED:
            first = _first_group_entry(moment.trace.arrays)
            fill[cells] = first + _group_entries(moment, touched, len(kinds), options.layer)
    return fill


def _group_entries(moment: Moment, touched: TouchedOperand, size: int, layer: Layer) -> AnyArray:
    """Return for each accessed cell 0 if several groups access it, else 1 + the group's colour."""
    threads = np.repeat(np.flatnonzero(touched.in_block >= 0) + moment.scope.in_block.start, touched.operand.width)
    several = shared_cells(touched.block_cells, group_numbers(moment.trace, threads, layer), size)
    return np.where(several, 0, 1 + group_colours(moment.trace, threads, layer))


def _tile_heat(
    moment: Moment, number: int, array: MemoryArray, kinds: Bytes, theme: Theme
) -> tuple[Bytes, Palette, Strings | None]:
    """Return the loads of the current content of every cell: fill, palette and labels."""
    counts = moment.tile_loads(number)
    levels = heat_levels(counts, 1, most_loads(moment.trace.setup.problem))
    names = [each.name for each in moment.trace.arrays if each.space == "global"]
    accents = [theme.faint] * _FIRST_MATRIX + [theme.accent(name) for name in names]
    palette = tuple(colour for accent in accents for colour in heat_palette(theme, accent))
    for touched in moment.of_array(number):
        levels[touched.block_cells] = HEAT_LIT
    texts = np.where(counts > 0, counts.astype("<U6"), "") if array.size <= _MOST_LABELLED_CELLS else None
    return (kinds * (HEAT_LEVELS + 1) + levels).astype(np.uint8), palette, texts


def _kinds(content: TileContent) -> Bytes:
    return (content.array.astype(np.int16) + _FIRST_MATRIX).astype(np.uint8)


def _shown_texts(moment: Moment, content: TileContent, table: CellGrid, options: ViewOptions) -> Strings | None:
    """Return the text of each cell, flat: what it is a copy of, or its value; None if values don't fit."""
    if options.values:
        return value_texts(content.value.astype(np.float64), table.cell, options.least)
    return _content_names(moment, content, options.labels)


def _content_names(moment: Moment, content: TileContent, labels: LabelStyle) -> Strings:
    texts = np.full(len(content.array), "", "<U12")
    for number, array in enumerate(moment.trace.arrays):
        here = content.array == number
        if here.any():
            elements = content.element[here]
            texts[here] = _element_names(array, elements.tobytes(), elements.dtype.str, labels)
    sums = content.summands > 1
    texts[sums] = [_SUM.format(count) for count in content.summands[sums].tolist()]
    constant = content.array == CONSTANT
    if constant.any():
        texts[constant] = ["" if np.isnan(value) else f"{value:.3g}" for value in content.value[constant].tolist()]
    return texts


@lru_cache(maxsize=256)
def _element_names(array: MemoryArray, elements: bytes, dtype: str, labels: LabelStyle) -> list[str]:
    return [labels.indices(array, element) for element in np.frombuffer(elements, dtype).tolist()]


def _padded(flat: AnyArray, table: CellGrid) -> AnyArray:
    missing = table.rows * table.columns - len(flat)
    return (
        np.concatenate([flat, np.zeros(missing, flat.dtype)]).reshape(table.rows, -1)
        if missing
        else flat.reshape(table.rows, -1)
    )


# A race as it happens: both threads meet in the element that they touch without a barrier between, which turns red, and words
# that say who does what.

_MEET, _SHAKES = 0.6, 0.85  # shares of the step: the threads have met; the cells come to rest
_SWINGS, _SWING = 3, 0.09  # how often a cell shakes, and how far, in cells
_MOST_MET, _AWAY = 16, 1.5  # cells whose threads are drawn; distance in cells at which a thread without a place begins
_DOT, _ASIDE = 0.4, 0.24  # size of a thread and its distance from the middle, in cells
_LEADING, _COLLISIONS_GAP = 1.25, 6.0
_TELLS: dict[str, Told] = {"clash-count": "collisions", "clash-so-far": "collisions so far", "clash-words": "who collides"}


class Clash(Struct, frozen=True):
    """Collisions in one array at one step. ``elements`` (n,): each element once, with the ``earlier`` and ``later`` thread of
    one collision, by their numbers in the block, -1 for one of another block; ``count``: collisions of the watched block;
    ``sites``: the earlier and the later access; ``words``: who does what.
    """

    array: int
    elements: Longs
    earlier: Longs
    later: Longs
    count: int
    sites: tuple[Site, Site]
    words: str


def clashes(moment: Moment) -> tuple[Clash, ...]:
    """Return the collisions at a moment, of the watched block in shared memory and of all blocks in global memory."""
    return moment.cached("clashes", lambda: (*_in_shared(moment), *_in_global(moment)))


def _in_shared(moment: Moment) -> list[Clash]:
    found = []
    for number in dict.fromkeys(operand.array for operand in moment.site.operands):
        all_ = moment.replay.conflicts.at(moment.step, number, moment.scope.block_number)
        if not len(all_):
            continue
        elements, first = np.unique(all_.elements, return_index=True)
        threads = all_.earlier[first], all_.later[first]
        earlier = moment.trace.site_of(int(all_.before[first[0]]))
        words = _who_does_what(
            moment, number, int(elements[0]), (earlier, moment.site), (int(threads[0][0]), int(threads[1][0]))
        )
        found.append(Clash(number, elements, *threads, len(all_), (earlier, moment.site), words))
    return found


def _who_does_what(moment: Moment, number: int, element: int, sites: tuple[Site, Site], threads: tuple[int, int]) -> str:
    """Return who does what, the later access first."""
    before, after = (tr("writes") if _stores_into(site, number) else tr("reads") for site in sites)
    one, other = (tr("thread {thread}", thread=thread_text(thread, moment.trace.launch)) for thread in threads)
    what = moment.trace.arrays[number].subscripted(element)
    return tr(
        "{other} {after} {what}, line {line}; {one} {before} it, line {earlier_line}, with no barrier between",
        other=capital(other),
        after=after,
        what=what,
        line=sites[1].place.line,
        one=one,
        before=before,
        earlier_line=sites[0].place.line,
    )


def _stores_into(site: Site, array: int) -> bool:
    return any(each.array == array and each.access == "write" for each in site.operands)


def _in_global(moment: Moment) -> list[Clash]:
    """Return the first collision of each kind in global memory, at the step of its later access."""
    names = {array.name: number for number, array in enumerate(moment.trace.arrays) if array.space == "global"}
    return [
        _of_hazard(each, names[each.array], moment) for each in moment.replay.hazards
        if each.step == moment.step and each.array in names
    ]  # fmt: skip


def _of_hazard(hazard: Hazard, number: int, moment: Moment) -> Clash:
    block = moment.scope.focus.block
    blocks = (hazard.block if hazard.earlier_block is None else hazard.earlier_block), hazard.block
    earlier, later = (np.array([t if at == block else -1]) for t, at in zip(hazard.threads, blocks, strict=True))
    return Clash(
        number, np.array([hazard.element]), earlier, later, hazard.count, (hazard.earlier, hazard.later),
        capital(hazard.words),
    )  # fmt: skip


def guilty_sites(moment: Moment) -> tuple[Site, ...]:
    """Return the accesses that collide at a moment, in the order of the source."""
    sites = dict.fromkeys(site for clash in clashes(moment) for site in clash.sites)
    return tuple(sorted(sites, key=lambda site: (site.place.line, site.place.column)))


def collision_marks(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the elements in which threads have met, red, with both threads."""
    if not options.arrived and options.shows_flights:
        return []
    return [part for clash in clashes(moment) for part in _clash(moment, clash, plan, 1.0, options)]


def collision_motion(moment: Moment, plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the threads on their way to the element in which they meet, and the shaking that follows."""
    if options.arrived or not options.shows_flights:
        return []
    return [part for clash in clashes(moment) for part in _clash(moment, clash, plan, options.moment, options)]


def _clash(moment: Moment, clash: Clash, plan: Plan, passed: float, options: ViewOptions) -> list[Primitive]:
    theme, sides = options.theme, sides_of(moment, plan, clash.array)
    cell = sides[1]
    middle = places(moment, plan, clash.array, clash.elements)
    known = ~np.isnan(middle).any(axis=1)
    middle = middle[known]
    if not len(middle):
        return []
    parts: list[Primitive] = []
    if passed >= _MEET:
        past = min(1.0, (passed - _MEET) / (_SHAKES - _MEET))
        swing = np.array([_SWING * cell * (1 - past) * np.sin(2 * np.pi * _SWINGS * past), 0.0])
        parts.append(Rects(f"clash-{clash.array}", boxes_around(middle + swing, sides), theme.warning, theme.background, 1.0))
    share, at = eased(min(1.0, passed / _MEET)), middle[:_MOST_MET]
    dot = max(5.0, _DOT * cell)
    for side, threads in ((-1, clash.earlier), (1, clash.later)):
        end = at + np.array([side * _ASIDE * cell, 0.0])
        start = _starts(moment, plan, threads[known][:_MOST_MET], end, side * _AWAY * cell)
        boxes = boxes_around(start + (end - start) * share, dot)
        parts.append(Rects(f"clash-{clash.array}-thread-{side}", boxes, theme.slate, theme.faint, 2.0, dot / 2))
    return parts


def _starts(moment: Moment, plan: Plan, threads: Longs, end: Floats, aside: float) -> Floats:
    """Return where threads come from: from where they compute, or from beside the element if that is not another place."""
    homes = places(moment, plan, THREADS, np.maximum(threads, 0))
    near = np.hypot(*(homes - end).T) < 2 * abs(aside)
    is_elsewhere = (threads >= 0) & ~np.isnan(homes).any(axis=1) & ~near
    return np.where(is_elsewhere[:, None], homes, end + np.array([aside, 0.0]))


def collision_words(moment: Moment, room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw how many collide at this step and up to now, and who does what in the first collision."""
    theme, sizes, found = options.theme, options.theme.type, clashes(moment)
    count = many(sum(each.count for each in found), "collision")
    so_far = _so_far(moment, options) if moment.trace.arrays[found[0].array].space == "shared" else ""
    so_far_lines = wrap_text(so_far, sizes.least, room.width, 2) if so_far else ()
    lines = [
        Paragraph("clash-count", (count,), sizes.sentence, theme.warning, "semibold"),
        Paragraph("clash-so-far", so_far_lines, sizes.least, theme.faint),
    ]
    drawn, rest = paragraphs_in(room, lines, _COLLISIONS_GAP, _LEADING)
    if rest.height >= _LEADING * sizes.note:
        drawn += paragraph("clash-words", rest, found[0].words, theme.plain.sized(sizes.note), leading=_LEADING)
    return [dataclasses.replace(each, tells=(_TELLS[each.key],)) for each in drawn]


def _so_far(moment: Moment, options: ViewOptions) -> str:
    """Return how many collisions have happened in shared memory, of how many in the run."""
    conflicts, last = moment.replay.conflicts, moment.step if options.arrived else moment.step - 1
    whole, blocks = conflicts.count(moment.trace.steps), moment.trace.blocks.count
    return tr(
        "so far {count} of {whole} in {all_blocks}", count=conflicts.count(last), whole=whole, all_blocks=all_blocks(blocks)
    )
