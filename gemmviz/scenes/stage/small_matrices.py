"""Small pictures of the inputs of a multiplication, beside a table of reads, and of the arrays in shared memory; and the
elements that fly from the inputs to the threads that read them: an element that several threads read parts on its way.
"""

import numpy as np

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats
from gemmviz.model.trace import CONSTANT
from gemmviz.scenes.kit.layout import Box, Point, text_at
from gemmviz.scenes.kit.primitives import Primitive, Rects, Squares, boxes
from gemmviz.scenes.kit.view import ViewOptions
from gemmviz.scenes.stage.cells import (
    CellGrid,
    Texts,
    boxes_around,
    cells_side_by_side,
    fitting_size,
    index_labels,
    table_cells,
)

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
