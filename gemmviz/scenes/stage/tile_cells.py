"""The shared arrays of one block: each cell in the colour of the matrix that it holds a copy of, with that element's
indices. Cells stored in an earlier phase are faded.
"""

from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.tiles import EMPTY, TileContent
from gemmviz.model.arrays import Floats
from gemmviz.model.labels import LabelStyle
from gemmviz.model.sites import MemoryArray
from gemmviz.model.trace import COMPUTED, CONSTANT
from gemmviz.model.translation import counted, tr
from gemmviz.scenes.kit.layout import Box, Point, baseline, text_at
from gemmviz.scenes.kit.primitives import Anchor, ArrayCells, Cells, Labels, Primitive, Rects, Squares, boxes
from gemmviz.scenes.kit.shapes import GROUPED, group_accents, group_colours, group_numbers
from gemmviz.scenes.kit.text import text_width
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
from gemmviz.scenes.kit.view import Layer, ViewOptions
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
from gemmviz.scenes.stage.layout import Plan, tile_grids

# Small pictures of the inputs of a multiplication, beside a table of reads, and of the arrays in shared memory; and the
# elements that fly from the inputs to the threads that read them: an element that several threads read parts on its way.

_HEAD, _ABOVE = 1.3, 0.35  # of the size of a name: the line with it, and its distance from the table
_GAP, _CHIP, _LEAST_SIDE, _MOST_CELLS = 36.0, 40.0, 5.0, 64
_TILE_GAP, _LARGEST_TILE_CELL, _MOST_OF_TILE = 60.0, 60.0, 4096
_REST, _HELD = 0.22, 0.4  # of the colour of an array: cells that aren't read now, and copies of its elements
Element = tuple[int, int]  # of an array by its number
Tables = dict[int, CellGrid]  # by the number of the array


def small_inputs(moment: Moment, room: Box, options: ViewOptions) -> Tables:
    """Return the places of the inputs side by side in a room, below a line with their names."""
    shapes = {number: moment.trace.arrays[number].extents for number in moment.trace.inputs}
    return cells_side_by_side(shapes, room, _HEAD * options.theme.type.words, _GAP, _CHIP)


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
    most = sum(bool(places) for _, _, places in named)
    for way in product(*([*places, None] for _, _, places in named)):
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
    places: tuple[tuple[Box, Point, Anchor], ...] = (
        (Box(tile.x - needed, row, needed, size), (tile.x - _NAME_AIR, beside), "end"),
        (Box(tile.right, row, needed, size), (tile.right + _NAME_AIR, beside), "start"),
        (Box(tile.x, tile.y - size - 10, needed, size + 10), (tile.x, tile.y - 10), "start"),
        (Box(tile.x, tile.bottom, needed, size + 10), (tile.x, tile.bottom + size), "start"),
    )
    return [
        (room, at, anchor)
        for room, at, anchor in places
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


def _tile_look(
    moment: Moment, number: int, kinds: npt.NDArray[np.uint8], content: TileContent | None, options: ViewOptions
) -> npt.NDArray[np.uint8]:
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


def _group_entries(moment: Moment, touched: TouchedOperand, size: int, layer: Layer) -> npt.NDArray[Any]:
    """Return for each accessed cell 0 if several groups access it, else 1 + the group's colour."""
    threads = np.repeat(np.flatnonzero(touched.in_block >= 0) + moment.scope.in_block.start, touched.operand.width)
    several = shared_cells(touched.block_cells, group_numbers(moment.trace, threads, layer), size)
    return np.where(several, 0, 1 + group_colours(moment.trace, threads, layer))


def _tile_heat(
    moment: Moment, number: int, array: MemoryArray, kinds: npt.NDArray[np.uint8], theme: Theme
) -> tuple[npt.NDArray[np.uint8], Palette, npt.NDArray[np.str_] | None]:
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


def _kinds(content: TileContent) -> npt.NDArray[np.uint8]:
    return (content.array.astype(np.int16) + _FIRST_MATRIX).astype(np.uint8)


def _shown_texts(moment: Moment, content: TileContent, table: CellGrid, options: ViewOptions) -> npt.NDArray[np.str_] | None:
    """Return the text of each cell, flat: what it is a copy of, or its value; None if values don't fit."""
    if options.values:
        return value_texts(content.value.astype(np.float64), table.cell, options.least)
    return _content_names(moment, content, options.labels)


def _content_names(moment: Moment, content: TileContent, labels: LabelStyle) -> npt.NDArray[np.str_]:
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


def _padded(flat: npt.NDArray[Any], table: CellGrid) -> npt.NDArray[Any]:
    missing = table.rows * table.columns - len(flat)
    return (
        np.concatenate([flat, np.zeros(missing, flat.dtype)]).reshape(table.rows, -1)
        if missing
        else flat.reshape(table.rows, -1)
    )
