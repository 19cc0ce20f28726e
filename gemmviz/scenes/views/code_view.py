"""Source code as a picture: a kernel whose additions appear, or two kernels whose differences light up; and the counts of a
launch.
"""

import numpy as np

from gemmviz.model.cases import CodeCase
from gemmviz.model.translation import counted, marked, tr
from gemmviz.scenes.kit.frame import ViewOptions, titled
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.listing import Sheet, listing_size, stop_line
from gemmviz.scenes.kit.primitives import Cells, Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.view import View

# A block as a sketch: a cell for each thread, and beside it the shared arrays that the kernel declares, cell by cell.

_MOST, _LARGEST, _SKETCH_GAP, _SKETCH_HEAD = (
    8,
    120.0,
    64.0,
    40.0,
)  # most rows and columns; largest cell; between tables; above one
_Table = tuple[str, int, int]


def block_sketch(block: tuple[int, int, int], tiles: tuple[_Table, ...], room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the threads of a block and the cells of its shared arrays (name, rows, columns) with cells of one size, as large as
    fit the room; nothing if they are too many or too small.
    """
    theme, size, (dx, dy, dz) = options.theme, options.theme.type.least, block
    threads = tr("a block: {dx} × {dy} threads", dx=dx, dy=dy)
    tables = [(threads, dy, dx), *((f"{name}: {rows} × {columns}", rows, columns) for name, rows, columns in tiles)]
    highest, widest = max(rows for _, rows, _ in tables), sum(columns for _, _, columns in tables)
    names = [text_width(name, theme.type.words, "semibold") for name, _, _ in tables]
    cell = min(_LARGEST, (room.height - _SKETCH_HEAD) / highest, (room.width - _SKETCH_GAP * len(tables)) / widest)
    wide = (
        sum(max(name, columns * cell) + _SKETCH_GAP for name, (_, _, columns) in zip(names, tables, strict=True)) - _SKETCH_GAP
    )
    if dz > 1 or max(highest, *(columns for _, _, columns in tables)) > _MOST or cell < 1.2 * size or wide > room.width:
        return []
    x, y, primitives = room.x, room.y + _SKETCH_HEAD, list[Primitive]()
    for place, ((name, rows, columns), own) in enumerate(zip(tables, names, strict=True)):
        fill, box = np.zeros((rows, columns), np.uint8), boxes((x, y, columns * cell, rows * cell))
        colour = theme.warps[0] if place == 0 else theme.slate
        texts = np.array([[f"({column}, {row})" for column in range(columns)] for row in range(rows)]) if place == 0 else None
        fits = texts is not None and text_width("(0, 0)", size) <= 0.95 * cell
        primitives += [
            text_at(f"sketch-{place}-name", (x, y - 12), name, theme.type.words, theme.text, "start", "semibold"),
            Cells(f"sketch-{place}", x, y, cell, fill, (colour,), (theme.ink_on(colour),), texts if fits else None,
                  size if fits else 0.0, theme.background),
            Rects(f"sketch-{place}-frame", box, None, theme.faint if place else theme.background, 2.0),
        ]  # fmt: skip
        x += max(own, columns * cell) + _SKETCH_GAP
    return primitives


_FACTS_WIDTH, _GAP, _BETWEEN, _HEAD = 384.0, 30.0, 60.0, 34.0


def code_scene(case: CodeCase, options: ViewOptions) -> Scene:
    """Draw one listing with its counts beside it, or two listings, without the highlighted lines."""
    sheets = _sheets(case, options)
    pieces = [piece for sheet in sheets for piece in sheet.still(options.theme)]
    if len(sheets) == 2:
        title = f"{sheets[0].listing.name} → {case.main.name}"
        return titled([*pieces, *_between(case, sheets, options)], title, _what_is_lit(case), options)
    room, code = _room(options), sheets[0].box
    low = code.bottom
    below = Box(code.x, low + _GAP, code.width, room.bottom - low - _GAP)
    pieces += block_sketch(case.block, case.tiles, below, options) if case.block else []
    note = (
        case.main.name
        if case.beside is None
        else tr("highlighted: new since “{beside_title}”", beside_title=tr(case.beside.title))
    )
    if case.facts:
        facts = _facts_width(case, room)
        beside = Box(room.right - facts, room.y, facts, min(room.height, 60.0 * (len(case.facts) + 1)))
        values = [counted(value) for _, value in case.facts]
        names = [TableCell(name, options.theme.faint) for name, _ in case.facts]
        rows = [[name, TableCell(value, strong=True)] for name, value in zip(names, values, strict=True)]
        pieces += table("facts", (tr("one launch"), ""), rows, beside, options.theme, options.theme.type.words)
    return titled(pieces, tr(case.main.title), note, options)


def code_motion(case: CodeCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw the highlighted lines up to ``options.moment``: those of a kernel that grew are written, others light up. All lines
    of a kernel that is shown alone are written, unless some are highlighted.
    """
    is_new = case.beside is not None and case.is_grown
    sheets = _sheets(case, options)
    if case.beside is None and case.stop is None and not case.main.lit:
        return tuple(sheets[0].unwritten(options.moment, options.theme))
    pieces = [piece for sheet in sheets for piece in sheet.lit(options.moment, is_new, options.theme)]
    return (*pieces, *(stop_line(case.stop, sheets[-1], options) if case.stop else ()))


def _room(options: ViewOptions) -> Box:
    return options.room(116.0, 24.0)


def _facts_width(case: CodeCase, room: Box) -> float:
    return min(_FACTS_WIDTH, 0.34 * room.width) if case.facts else 0.0


def _sheets(case: CodeCase, options: ViewOptions) -> list[Sheet]:
    """Return the sheet of a kernel, or those of two that are compared, the earlier one first."""
    room = _room(options)
    if case.beside is None or case.is_grown:
        facts = _facts_width(case, room)
        code = Box(room.x, room.y, room.width - facts - (_GAP if facts else 0.0), room.height)
        return [Sheet.of("code", case.main, code, listing_size((case.main,), code.width, code.height, options.theme))]
    half, high = (room.width - _BETWEEN) / 2, room.height - _HEAD
    size = listing_size((case.main, case.beside), half, high, options.theme)
    return [
        Sheet.of(key, each, Box(room.x + place * (half + _BETWEEN), room.y + _HEAD, half, high), size)
        for place, (key, each) in enumerate((("left", case.beside), ("right", case.main)))
    ]


def _between(case: CodeCase, sheets: list[Sheet], options: ViewOptions) -> list[Primitive]:
    """Draw the titles of two listings, and lines between the equal lines of code."""
    small, (left, right) = options.theme.type.note, sheets
    pieces: list[Primitive] = [
        text_line(f"{sheet.key}-title", (sheet.box.x, _room(options).y + small), tr(sheet.listing.title), small,
                  sheet.box.width, options.theme.text, "semibold")
        for sheet in sheets
    ]  # fmt: skip
    start, end = left.box.right, right.box.x
    lines = [
        (start + 4, left.middles[i], end - 4, right.middles[j])
        for i, j in case.pairs
        if i in left.middles and j in right.middles and left.listing.lines[i].strip() not in ("", "{", "}")
    ]
    return [*pieces, Lines("same", np.array(lines), options.theme.line, 1.5)] if lines else pieces


def _what_is_lit(case: CodeCase) -> str:
    fainter = tr(", fainter where only names differ") if case.main.renamed else ""
    return tr("highlighted: differences{fainter}; lines connect equal code", fainter=fainter)


VIEW = View(marked("Source code"), CodeCase, code_scene, code_motion, order=48)
