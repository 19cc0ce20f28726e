"""A kernel's listing beside the tiles of a block: the line of the step is lit, stored elements move from it into the tiles, and
those that are read are framed.
"""

from typing import NamedTuple

import numpy as np

from gemmviz.analysis.listing import first_line, listing_of
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.files.devices import load_device
from gemmviz.model.arrays import Floats
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.layout import CELL_FILL, LINE_PITCH, NEAR, REST, Box, Share, cell_squares, cells_in, term, write_all
from gemmviz.scenes.kit.listing import MORE_ROWS, Sheet, listing_size
from gemmviz.scenes.kit.primitives import ArrayCells, Cells, Primitive, Rects, Scene, Squares
from gemmviz.scenes.kit.sentence import beat, stage_of_run
from gemmviz.scenes.kit.text import wrap_text
from gemmviz.scenes.kit.view import View, ViewOptions, titled

_HEAD, _GAP, _LARGEST = 44, 40, 110  # height of a name above an array; between arrays; largest cell
_SENTENCE = 120  # height of the sentence of the step
_MUCH_LARGER = 1.5  # times the size of cells from which arrays lie side by side

_Shapes = dict[int, tuple[int, int]]  # rows and columns of shared arrays by their numbers


class _Plan(NamedTuple):
    """The ``sheet`` of the listing; the room of the sentence; the table of each shared array by its number."""

    sheet: Sheet
    said: Box
    tables: dict[int, Box]

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_Plan":
        kernel, sizes = moment.trace.setup.kernel, options.theme.type
        line = moment.site.place.line - 1 - first_line(kernel)
        listing = replace(listing_of(kernel), lit=frozenset({line}))
        code, right = options.room(112 if options.words else None, 24).columns(Share(3), Share(2), gap=50)
        size = min(listing_size((listing,), code.width, code.height, sizes.least, MORE_ROWS), sizes.caption)
        said, below = right.rows(_SENTENCE if options.words else 0, REST)
        tables = _tables(_shared_shapes(moment), below)
        return cls(Sheet.of("code", listing, code, size), said, tables)


def _tables(arrays: _Shapes, room: Box) -> dict[int, Box]:
    """Return the tables of shared arrays with cells of one size: one below the other, or side by side if they are much larger
    then.
    """
    rows, columns = [each[0] for each in arrays.values()], [each[1] for each in arrays.values()]
    if not arrays:
        return {}
    free = room.height - len(arrays) * (_HEAD + _GAP)
    stacked = min(free / sum(rows), room.width / max(columns), _LARGEST)
    free = room.width - _GAP * (len(arrays) - 1)
    across = min((room.height - _HEAD) / max(rows), free / sum(columns), _LARGEST)
    if across > _MUCH_LARGER * stacked:
        found = [box.trimmed(top=_HEAD) for box in room.columns(*(count * across for count in columns), gap=_GAP)]
    else:
        found = [box.trimmed(top=_HEAD) for box in room.rows(*(count * stacked + _HEAD for count in rows), gap=_GAP)]
    cell = max(across if across > _MUCH_LARGER * stacked else stacked, 0)
    shapes = zip(arrays.items(), found, strict=True)
    return {n: box._replace(width=columns * cell, height=rows * cell) for (n, (rows, columns)), box in shapes}


def code_and_tiles_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the listing without its lit line, the sentence of the step, and the tiles before or after it."""
    plan, theme = _Plan.of(moment, options), options.theme
    memory = tr(load_device(moment.trace.setup.device).words["shared memory"])
    contents = moment.tiles if options.arrived else moment.tiles_before
    pieces = plan.sheet.still(theme)
    if options.words:
        lines = wrap_text(beat(moment, options.labels).text, theme.strong.size, plan.said.width, 3, "semibold")
        places = plan.said.rows(*[LINE_PITCH * theme.strong.size] * len(lines))
        pieces.append(replace(write_all("action", places, lines, theme.strong), meaning="action"))
    for number, box in plan.tables.items():
        name = moment.trace.arrays[number].name
        is_beside = any(other.y == box.y for other in plan.tables.values() if other is not box)
        head = box._replace(y=box.y - _HEAD, width=box.width + _GAP if is_beside else plan.said.width, height=_HEAD)
        is_named = theme.strong.width(name) + theme.soft.width(memory) + 2 * NEAR <= head.width
        words = term(f"{name}-name", head, name, theme.strong, memory, theme.soft)
        pieces += words if is_named else words[:1]
        pieces.append(_tile_table(moment, number, contents.get(number), box, options))
    progress = stage_of_run(moment, options.labels)
    return titled(pieces, tr(moment.trace.setup.kernel.title), progress, options)


def code_and_tiles_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lit line, elements on their way from it into the tiles, and frames around those that are read."""
    plan, theme = _Plan.of(moment, options), options.theme
    pieces = plan.sheet.lit(min(1, 2 * options.moment), False, theme)
    for place, touched in enumerate(moment.touched):
        if touched.operand.array not in plan.tables or not len(touched.block_cells):
            continue
        cells = cell_squares(plan.tables[touched.operand.array], touched.array.extents[1], np.unique(touched.block_cells))
        if touched.operand.access == "read":
            frames = np.column_stack([cells[:, :2] + 2, cells[:, 2] - 4, cells[:, 2] - 4])
            pieces.append(Rects(f"read-{place}", frames, None, theme.text, 8 - 5 * options.moment))
        elif not options.arrived:
            pieces.append(_flying(moment, touched, cells, plan, options))
    return tuple(pieces)


def _shared_shapes(moment: Moment) -> _Shapes:
    """Return rows and columns of each shared array of two dimensions by its number."""
    arrays = enumerate(moment.trace.arrays)
    return {
        number: (each.extents[0], each.extents[1])
        for number, each in arrays
        if each.space == "shared" and len(each.extents) == 2
    }


def _tile_table(moment: Moment, number: int, content: TileContent | None, box: Box, options: ViewOptions) -> Cells:
    """Draw a shared array with the elements that its cells hold, in the colours of their matrices."""
    theme, arrays, shape = options.theme, moment.trace.arrays, _shared_shapes(moment)[number]
    held = np.full(shape[0] * shape[1], -1) if content is None else np.maximum(content.array.astype(np.int64), -1)
    palette = (theme.empty, *(theme.accent(each.name) for each in arrays))
    inks = tuple(theme.ink_on(colour) for colour in palette)
    elements = np.zeros(len(held), np.int64) if content is None else content.element
    pairs = zip(held.tolist(), elements.tolist(), strict=True)
    texts = np.array([options.labels.indices(arrays[a], e) if a >= 0 else "" for a, e in pairs]).reshape(shape)
    fill, name = (held + 1).reshape(shape).astype(np.uint8), arrays[number].name
    meaning, size = ArrayCells(name, "shared"), theme.type.least
    return cells_in(f"tile-{name}", box, fill, palette, theme.background, inks, meaning, texts, size)


def _flying(moment: Moment, touched: TouchedOperand, cells: Floats, plan: _Plan, options: ViewOptions) -> Primitive:
    """Draw the elements that are stored, between the line and their cells."""
    theme, sheet = options.theme, plan.sheet
    content = moment.tiles.get(touched.operand.array)
    kinds = np.unique(content.array[touched.block_cells]) if content is not None else np.array([-1])
    name = moment.trace.arrays[int(kinds[0])].name if len(kinds) == 1 and kinds[0] >= 0 else ""
    share = options.way
    line = next(iter(sheet.listing.lit))
    start = np.array([sheet.box.right - 30, sheet.middles.get(line, sheet.box.y) - 9, 18])
    now = start + (cells - start) * share
    colour = (theme.accent(name),)
    return Squares("flying", now * [1, 1, CELL_FILL], np.zeros(len(now), np.uint8), colour, colour, line=theme.background)


VIEW = View(marked("Source code and tiles"), Moment, code_and_tiles_scene, code_and_tiles_motion, order=102)
