"""Source code as a picture: a kernel whose additions appear, or two kernels whose differences light up; and the counts of a
launch.
"""

import numpy as np

from gemmviz.model.cases import CodeCase
from gemmviz.model.records import replace
from gemmviz.model.translation import counted, is_asking, marked, tr
from gemmviz.scenes.kit.layout import NAMED, NEAR, REST, Box, beside, cells_in, write
from gemmviz.scenes.kit.listing import MORE_ROWS, Sheet, listing_size, stop_line
from gemmviz.scenes.kit.primitives import Lines, Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.view import View, ViewOptions, titled

# A block as a sketch: a cell for each thread, and beside it the shared arrays that the kernel declares, cell by cell.

_MOST, _LARGEST, _APART = 8, 120, 64  # most rows and columns; largest cell; between tables
_NamedTable = tuple[str, int, int]


def block_sketch(
    block: tuple[int, int, int], tiles: tuple[_NamedTable, ...], room: Box, options: ViewOptions
) -> list[Primitive]:
    """Draw the threads of a block and the cells of its shared arrays (name, rows, columns) with cells of one size, as large as
    fit the room; nothing if they are too many or too small.
    """
    theme, style, (dx, dy, dz) = options.theme, options.theme.strong, block
    threads = tr("a block: {dx} × {dy} threads", dx=dx, dy=dy)
    tables = [(threads, dy, dx), *((f"{name}: {rows} × {columns}", rows, columns) for name, rows, columns in tiles)]
    highest, columns = max(rows for _, rows, _ in tables), [columns for _, _, columns in tables]
    head, below = room.strip("top", 28, NEAR)
    cell = below.trimmed(right=_APART * len(tables)).tiled(highest, sum(columns), _LARGEST).height / highest
    widths = [max(style.width(name), columns * cell) for name, _, columns in tables]
    wide = sum(widths) + _APART * (len(tables) - 1)
    if dz > 1 or max(highest, *columns) > _MOST or cell < NAMED * theme.type.least or wide > room.width:
        return []
    primitives, places = list[Primitive](), zip(tables, below.columns(*widths, gap=_APART), strict=True)
    for place, ((name, rows, across), column) in enumerate(places):
        box = column._replace(width=across * cell, height=rows * cell)
        fill, colour = np.zeros((rows, across), np.uint8), theme.slate if place else theme.warps[0]
        texts = None if place else np.array([[f"({x}, {y})" for x in range(across)] for y in range(rows)])
        key, size, inks = f"sketch-{place}", theme.type.least, (theme.ink_on(colour),)
        primitives += [
            write(f"{key}-name", head._replace(x=column.x, width=column.width), name, style),
            cells_in(key, box, fill, (colour,), theme.background, inks, texts=texts, size=size),
            Rects(f"{key}-frame", boxes(box), None, theme.faint if place else theme.background, 2),
        ]
    return primitives


_FACTS_WIDTH, _GAP, _BETWEEN, _TITLES = 384, 30, 60, 34


def code_scene(case: CodeCase, options: ViewOptions) -> Scene:
    """Draw one listing with its counts beside it, or two listings, without the highlighted lines."""
    sheets = _sheets(case, options)
    pieces = [piece for sheet in sheets for piece in sheet.still(options.theme)]
    if len(sheets) == 2:
        title = f"{sheets[0].listing.name} → {case.main.name}"
        return titled([*pieces, *_equal_lines(case, sheets, options)], title, _what_is_lit(case), options)
    _, facts = _code_and_facts(case, options)
    pieces += _sketch(case, sheets[0], options)
    note = (
        case.main.name
        if case.beside is None
        else tr("highlighted: new since “{beside_title}”", beside_title=tr(case.beside.title))
    )
    if _has_facts(case):
        facts = facts._replace(height=min(facts.height, 60 * (len(case.facts) + 1)))
        values = [counted(value) for _, value in case.facts]
        names = [TableCell(name, options.theme.faint) for name, _ in case.facts]
        rows = [[name, TableCell(value, strong=True)] for name, value in zip(names, values, strict=True)]
        cells = table("facts", (tr("one launch"), ""), rows, facts, options.theme, options.theme.type.words)
        pieces += [replace(each, meaning="count") for each in cells]
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


def _has_facts(case: CodeCase) -> bool:
    """Return whether the facts of the launch stand beside the source: not while a question is open, which they may answer."""
    return bool(case.facts) and not is_asking()


def _code_and_facts(case: CodeCase, options: ViewOptions) -> tuple[Box, Box]:
    """Return the room of a listing, and that of the facts beside it."""
    room = options.room(116, 24)
    if not _has_facts(case):
        return room, room
    code, facts = room.columns(REST, min(_FACTS_WIDTH, 0.34 * room.width), gap=_GAP)
    return code, facts


def _sketch(case: CodeCase, sheet: Sheet, options: ViewOptions) -> list[Primitive]:
    """Draw the block below the source, if it has one and there is room."""
    room, _ = _code_and_facts(case, options)
    below = room.trimmed(top=sheet.box.bottom + _GAP - room.y)
    return block_sketch(case.block, case.tiles, below, options) if case.block else []


def _sheets(case: CodeCase, options: ViewOptions) -> list[Sheet]:
    """Return the sheet of a kernel, or those of two that are compared, the earlier one first."""
    if case.beside is None or case.is_grown:
        code, _ = _code_and_facts(case, options)
        sizes = (listing_size((case.main,), code.width, code.height, options.theme.type.code, more) for more in (0, MORE_ROWS))
        sheet, larger = (Sheet.of("code", case.main, code, size) for size in sizes)
        return [sheet if _sketch(case, sheet, options) else larger]
    halves = options.room(116 + _TITLES, 24).columns(REST, REST, gap=_BETWEEN)
    size = listing_size((case.main, case.beside), halves[0].width, halves[0].height, options.theme.type.code, MORE_ROWS)
    listings = (("left", case.beside), ("right", case.main))
    return [Sheet.of(key, each, half, size) for (key, each), half in zip(listings, halves, strict=True)]


def _equal_lines(case: CodeCase, sheets: list[Sheet], options: ViewOptions) -> list[Primitive]:
    """Draw the titles of two listings, and lines between the equal lines of code."""
    (left, right), style = sheets, options.theme.strong.sized(options.theme.type.note)
    pieces: list[Primitive] = [
        beside(f"{sheet.key}-title", sheet.box, "top", tr(sheet.listing.title), style) for sheet in sheets
    ]
    start, end = left.box.right, right.box.x
    lines = [
        (start + 4, left.middles[i], end - 4, right.middles[j])
        for i, j in case.pairs
        if i in left.middles and j in right.middles and left.listing.lines[i].strip() not in ("", "{", "}")
    ]
    return [*pieces, Lines("same", np.array(lines), options.theme.line, 2)] if lines else pieces


def _what_is_lit(case: CodeCase) -> str:
    fainter = tr(", fainter where only names differ") if case.main.renamed else ""
    return tr("highlighted: differences{fainter}; lines connect equal code", fainter=fainter)


VIEW = View(marked("Source code"), CodeCase, code_scene, code_motion, order=110)
