"""A kernel's listing beside the tiles of a block: the line of the step is lit, stored elements move from it into the tiles, and
those that are read are framed.
"""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.listing import first_line, listing_of
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.model.arrays import Floats, Longs
from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.beat import beat, stage_of_run
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.listing import INSET, LEADING, Sheet
from gemmviz.scenes.kit.meaning import ArrayCells
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, Scene, Squares, points
from gemmviz.scenes.kit.text import text_width, wrap_text
from gemmviz.scenes.kit.view import View

_TOP, _CODE, _HEAD, _GAP, _LARGEST = 112.0, 0.6, 44.0, 40.0, 110.0
_SENTENCE = 120.0  # height of the sentence of the step
_MUCH_LARGER = 1.5  # times the size of cells from which arrays lie side by side

_Shapes = dict[int, tuple[int, int]]  # rows and columns of shared arrays by their numbers
_Corners = dict[int, tuple[float, float]]


class _Plan(Struct, frozen=True):
    """The ``sheet`` of the listing, and the corner of each shared array by its number, with the size of their cells."""

    sheet: Sheet
    corners: _Corners
    cell: float
    left: float

    @classmethod
    def of(cls, moment: Moment, options: ViewOptions) -> "_Plan":
        kernel, wide = moment.trace.setup.kernel, options.width - 2 * MARGIN
        line = moment.site.place.line - 1 - first_line(kernel)
        listing = replace(listing_of(kernel), lit=frozenset({line}))
        top, sentence = _upper(options), _SENTENCE if options.words else 0.0
        room = Box(MARGIN, top, _CODE * wide, options.height - top - 24)
        longest = max(text_width(each, 1.0, "mono") for each in listing.lines)
        size = min((room.width - 2 * INSET) / longest, (room.height - 8) / (LEADING * len(listing.lines)))
        size = max(options.theme.type.least, min(size, options.theme.type.caption))
        left, arrays = MARGIN + room.width + 50, _shared(moment)
        below = Box(left, top + sentence, options.width - MARGIN - left, options.height - top - sentence - 24)
        stacked, beside = _stacked(arrays, below), _beside(arrays, below)
        cell, corners = beside if beside[0] > _MUCH_LARGER * stacked[0] else stacked
        return cls(Sheet.of("code", listing, room, size), corners, cell, left)

    def cells(self, number: int, cell: Longs, columns: int) -> Floats:
        """Return cells of a shared array: x, y, side."""
        x, y = self.corners[number]
        side = np.full(len(cell), self.cell)
        return np.column_stack([x + cell % columns * self.cell, y + cell // columns * self.cell, side])


def _upper(options: ViewOptions) -> float:
    return _TOP if options.words else options.top


def _stacked(arrays: _Shapes, room: Box) -> tuple[float, _Corners]:
    """Return the size of cells and the corners of shared arrays one below the other."""
    rows, columns = sum(each[0] for each in arrays.values()), max((each[1] for each in arrays.values()), default=1)
    free = room.height - len(arrays) * (_HEAD + _GAP)
    cell = min(free / max(1, rows), room.width / columns, _LARGEST)
    y, corners = room.y, {}
    for number, (count, _) in arrays.items():
        corners[number] = room.x, y + _HEAD
        y += _HEAD + count * cell + _GAP
    return cell, corners


def _beside(arrays: _Shapes, room: Box) -> tuple[float, _Corners]:
    """Return the size of cells and the corners of shared arrays side by side."""
    rows, columns = max((each[0] for each in arrays.values()), default=1), sum(each[1] for each in arrays.values())
    free = room.width - _GAP * (len(arrays) - 1)
    cell = min((room.height - _HEAD) / rows, free / max(1, columns), _LARGEST)
    x, corners = room.x, {}
    for number, (_, count) in arrays.items():
        corners[number] = x, room.y + _HEAD
        x += count * cell + _GAP
    return cell, corners


def code_and_tiles_scene(moment: Moment, options: ViewOptions) -> Scene:
    """Draw the listing without its lit line, the sentence of the step, and the tiles before or after it."""
    plan, theme, size = _Plan.of(moment, options), options.theme, options.theme.type.words
    contents = moment.tiles if options.arrived else moment.tiles_before
    room = options.width - MARGIN - plan.left
    pieces = plan.sheet.still(theme)
    if options.words:
        lines = wrap_text(beat(moment, options.labels).text, size, room, 3, "semibold")
        at = points(*((plan.left, _TOP + 1.25 * size * (place + 1)) for place in range(len(lines))))
        pieces.append(Labels("action", at, lines, size, theme.text, "start", "semibold", "action"))
    for number, (rows, columns) in _shared(moment).items():
        name, (x, y) = moment.trace.arrays[number].name, plan.corners[number]
        pieces.append(text_at(f"{name}-name", (x, y - 12), name, size, theme.text, "start", "semibold"))
        pieces.append(_tile(moment, number, (rows, columns), contents.get(number), plan, options))
    progress = stage_of_run(moment, options.labels)
    return titled(pieces, tr(moment.trace.setup.kernel.title), progress, options)


def code_and_tiles_motion(moment: Moment, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the lit line, elements on their way from it into the tiles, and frames around those that are read."""
    plan, theme = _Plan.of(moment, options), options.theme
    pieces = plan.sheet.lit(min(1.0, 2 * options.moment), False, theme)
    for place, touched in enumerate(moment.touched):
        if touched.operand.array not in plan.corners or not len(touched.block_cells):
            continue
        columns = touched.array.extents[1]
        cells = plan.cells(touched.operand.array, np.unique(touched.block_cells), columns)
        if touched.operand.access == "read":
            frames = np.column_stack([cells[:, :2] + 2, cells[:, 2] - 4, cells[:, 2] - 4])
            pieces.append(Rects(f"read-{place}", frames, None, theme.text, 3.0 + 5.0 * (1.0 - options.moment)))
        elif not options.arrived:
            pieces.append(_flying(moment, touched, cells, plan, options))
    return tuple(pieces)


def _shared(moment: Moment) -> _Shapes:
    """Return rows and columns of each shared array of two dimensions by its number."""
    arrays = enumerate(moment.trace.arrays)
    return {
        number: (each.extents[0], each.extents[1])
        for number, each in arrays
        if each.space == "shared" and len(each.extents) == 2
    }


def _tile(
    moment: Moment, number: int, shape: tuple[int, int], content: TileContent | None, plan: _Plan, options: ViewOptions
) -> Cells:
    """Draw a shared array with the elements that its cells hold, in the colours of their matrices."""
    theme, arrays, (x, y) = options.theme, moment.trace.arrays, plan.corners[number]
    held = np.full(shape[0] * shape[1], -1) if content is None else np.maximum(content.array.astype(np.int64), -1)
    palette = (theme.empty, *(theme.accent(each.name) for each in arrays))
    inks = tuple(theme.ink_on(colour) for colour in palette)
    elements = np.zeros(len(held), np.int64) if content is None else content.element
    pairs = zip(held.tolist(), elements.tolist(), strict=True)
    texts = np.array([options.labels.indices(arrays[a], e) if a >= 0 else "" for a, e in pairs]).reshape(shape)
    size = theme.type.least
    fits = max(text_width(text, size) for text in texts.ravel().tolist()) + 6 <= plan.cell and 1.2 * size <= plan.cell
    fill = (held + 1).reshape(shape).astype(np.uint8)
    return Cells(f"tile-{arrays[number].name}", x, y, plan.cell, fill, palette, inks, texts if fits else None,
                 size if fits else 0.0, theme.background, meaning=ArrayCells(arrays[number].name, "shared"))  # fmt: skip


def _flying(moment: Moment, touched: TouchedOperand, cells: Floats, plan: _Plan, options: ViewOptions) -> Primitive:
    """Draw the elements that are stored, between the line and their cells."""
    theme, sheet = options.theme, plan.sheet
    content = moment.tiles.get(touched.operand.array)
    kinds = np.unique(content.array[touched.block_cells]) if content is not None else np.array([-1])
    name = moment.trace.arrays[int(kinds[0])].name if len(kinds) == 1 and kinds[0] >= 0 else ""
    share = options.way
    line = next(iter(sheet.listing.lit))
    start = np.array([sheet.box.right - 30, sheet.middles.get(line, sheet.box.y) - 9, 18.0])
    now = start + (cells - start) * share
    colour = (theme.accent(name),)
    return Squares("flying", now * [1, 1, 0.94], np.zeros(len(now), np.uint8), colour, colour, line=theme.background)


VIEW = View(marked("Source code and tiles"), Moment, code_and_tiles_scene, code_and_tiles_motion, order=38)
