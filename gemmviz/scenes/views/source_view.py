"""Views of the source: with its counts or its changes, beside the tiles of a block, and as it is printed."""

import dataclasses
from typing import NamedTuple

import numpy as np
from msgspec import Struct, structs

from gemmviz.analysis.listing import PrintedSource, first_line, listing_of
from gemmviz.analysis.replay.moment import Moment, TouchedOperand
from gemmviz.analysis.replay.tiles import TileContent
from gemmviz.files.devices import load_device
from gemmviz.model.arrays import Floats
from gemmviz.model.cases import CodeCase
from gemmviz.model.messages import counted, is_asking, marked, tr
from gemmviz.scenes.kit.layout import (
    CELL_FILL,
    LINE_PITCH,
    NAMED,
    NEAR,
    REST,
    Box,
    Share,
    beside,
    cell_squares,
    cells_in,
    lines_down,
    round_boxes,
    term,
    wrapped,
    write,
    write_all,
)
from gemmviz.scenes.kit.primitives import (
    ArrayCells,
    Cells,
    Lines,
    Primitive,
    Rects,
    Scene,
    Squares,
    boxes,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.sentence import beat, stage_of_run
from gemmviz.scenes.kit.table import MORE_ROWS, Sheet, TableCell, listing_size, stop_line, table
from gemmviz.scenes.kit.theme import Style, Theme
from gemmviz.scenes.kit.view import View, ViewOptions, title_words, titled

# Source code.

# A block as a sketch: a cell for each thread, and beside it the shared arrays that the kernel declares, cell by cell.

_MOST, _CODE_LARGEST, _APART = 8, 120, 64  # most rows and columns; largest cell; between tables
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
    cell = below.trimmed(right=_APART * len(tables)).tiled(highest, sum(columns), _CODE_LARGEST).height / highest
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


_FACTS_WIDTH, _CODE_GAP, _BETWEEN, _TITLES = 384, 30, 60, 34


def code_scene(case: CodeCase, options: ViewOptions) -> Scene:
    """Source code as a picture: a kernel whose additions appear, or two kernels whose differences light up; and the counts of a
    launch.

    Draw one listing with its counts beside it, or two listings, without the highlighted lines.
    """
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
        pieces += [dataclasses.replace(each, meaning="count") for each in cells]
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
    code, facts = room.columns(REST, min(_FACTS_WIDTH, 0.34 * room.width), gap=_CODE_GAP)
    return code, facts


def _sketch(case: CodeCase, sheet: Sheet, options: ViewOptions) -> list[Primitive]:
    """Draw the block below the source, if it has one and there is room."""
    room, _ = _code_and_facts(case, options)
    below = room.trimmed(top=sheet.box.bottom + _CODE_GAP - room.y)
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


# Source code and tiles.

_HEAD, _CODE_AND_TILES_GAP, _CODE_AND_TILES_LARGEST = (
    44,
    40,
    110,
)  # height of a name above an array; between arrays; largest cell
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
        listing = structs.replace(listing_of(kernel), lit=frozenset({line}))
        code, right = options.room(112 if options.words else None, 24).columns(Share(3), Share(2), gap=50)
        size = min(listing_size((listing,), code.width, code.height, sizes.least, MORE_ROWS), sizes.caption)
        said, below = right.rows(_SENTENCE if options.words else 0, REST)
        tables = _tile_boxes(_shared_shapes(moment), below)
        return cls(Sheet.of("code", listing, code, size), said, tables)


def _tile_boxes(arrays: _Shapes, room: Box) -> dict[int, Box]:
    """Return the tables of shared arrays with cells of one size: one below the other, or side by side if they are much larger
    then.
    """
    rows, columns = [each[0] for each in arrays.values()], [each[1] for each in arrays.values()]
    if not arrays:
        return {}
    free = room.height - len(arrays) * (_HEAD + _CODE_AND_TILES_GAP)
    stacked = min(free / sum(rows), room.width / max(columns), _CODE_AND_TILES_LARGEST)
    free = room.width - _CODE_AND_TILES_GAP * (len(arrays) - 1)
    across = min((room.height - _HEAD) / max(rows), free / sum(columns), _CODE_AND_TILES_LARGEST)
    if across > _MUCH_LARGER * stacked:
        found = [
            box.trimmed(top=_HEAD) for box in room.columns(*(count * across for count in columns), gap=_CODE_AND_TILES_GAP)
        ]
    else:
        found = [
            box.trimmed(top=_HEAD) for box in room.rows(*(count * stacked + _HEAD for count in rows), gap=_CODE_AND_TILES_GAP)
        ]
    cell = max(across if across > _MUCH_LARGER * stacked else stacked, 0)
    shapes = zip(arrays.items(), found, strict=True)
    return {n: box._replace(width=columns * cell, height=rows * cell) for (n, (rows, columns)), box in shapes}


def code_and_tiles_scene(moment: Moment, options: ViewOptions) -> Scene:
    """A kernel's listing beside the tiles of a block: the line of the step is lit, stored elements move from it into the tiles,
    and those that are read are framed.

    Draw the listing without its lit line, the sentence of the step, and the tiles before or after it.
    """
    plan, theme = _Plan.of(moment, options), options.theme
    memory = tr(load_device(moment.trace.setup.device).words["shared memory"])
    contents = moment.tiles if options.arrived else moment.tiles_before
    pieces = plan.sheet.still(theme)
    if options.words:
        lines = wrap_text(beat(moment, options.labels).text, theme.strong.size, plan.said.width, 3, "semibold")
        places = plan.said.rows(*[LINE_PITCH * theme.strong.size] * len(lines))
        pieces.append(dataclasses.replace(write_all("action", places, lines, theme.strong), meaning="action"))
    for number, box in plan.tables.items():
        name = moment.trace.arrays[number].name
        is_beside = any(other.y == box.y for other in plan.tables.values() if other is not box)
        head = box._replace(
            y=box.y - _HEAD, width=box.width + _CODE_AND_TILES_GAP if is_beside else plan.said.width, height=_HEAD
        )
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


# Source with line numbers.

_LEGEND_LINES, _INSET, _PAD, _HANGING = 4, 16, 6, 4
_LEADING, _TIGHT = 1.28, 1.15  # of rows, and of those that would not fit otherwise
_LARGEST_PRINT = 1.6  # the size of the text, relative to the least one


class _PrintedRow(Struct, frozen=True):
    """One row of the picture: the number of its line, 0 for the continuation of one, and its text."""

    number: int
    text: str
    is_lit: bool


def listing_scene(source: PrintedSource, options: ViewOptions) -> Scene:
    """Source code with line numbers, as it is printed with a question: without comments, in one column or two, with the line
    that is asked about highlighted and a legend of the launch.

    Draw the source: in one column if it fits, else in two; else the part around the highlighted line.
    """
    theme, room = options.theme, options.room(34, _INSET)
    legend = (
        wrapped("legend", source.legend, theme.soft.sized(theme.type.note), room.width, _LEGEND_LINES) if source.legend else []
    )
    high = LINE_PITCH * theme.type.note * max(1, len(legend))
    head, said, below = room.rows(_INSET, high, REST, gap=_INSET)
    title = title_words(source.name, head.width, options)
    words: tuple[Primitive, ...] = (title, *lines_down(said, legend)) if options.words else ()
    primitives = _printed_columns(source, below if options.words else options.room(_INSET, _INSET), theme)
    return Scene(options.width, options.height, theme.background, tuple(primitives), words=words)


def _printed_columns(source: PrintedSource, room: Box, theme: Theme) -> list[Primitive]:
    size, high = theme.type.least, room.height
    wide = _printed_rows(source, room.width, size)
    if len(wide) <= high / (_LEADING * size):
        size, wide = _largest_print(source, room.width, high, size, wide)
        return _printed_column("left", wide, room, size, _LEADING * size, theme)
    left, right = room.columns(REST, REST, gap=_INSET)
    most = max(1, int(high / (_TIGHT * size)))
    rows = _around_lit(_printed_rows(source, left.width, size), 2 * most)
    split = _rows_at_left(rows, most)
    leading = min(_LEADING * size, high / max(split, len(rows) - split))
    parts = (("left", rows[:split], left), ("right", rows[split:], right))
    return [piece for key, own, box in parts for piece in _printed_column(key, own, box, size, leading, theme)]


def _largest_print(
    source: PrintedSource, room: float, high: float, least: float, rows: list[_PrintedRow]
) -> tuple[float, list[_PrintedRow]]:
    """Return the largest size of the text at which no more lines are continued than at the least one, and the rows then."""
    sizes = np.arange(_LARGEST_PRINT * least, least, -1)
    fitting = (size for size in sizes if len(rows) <= high / (_LEADING * size))
    found = ((float(size), _printed_rows(source, room, size)) for size in fitting)
    return next(((size, wide) for size, wide in found if len(wide) == len(rows)), (least, rows))


def _rows_at_left(rows: list[_PrintedRow], most: int) -> int:
    """Return the number of rows of the left column: half of them, but no line is in both columns unless it must be."""
    half = max(-(-len(rows) // 2), len(rows) - most)
    fitting = [at for at in range(max(1, len(rows) - most), min(most, len(rows) - 1) + 1) if rows[at].number]
    return min(fitting, key=lambda at: abs(at - half), default=half)


def _printed_rows(source: PrintedSource, room: float, size: float) -> list[_PrintedRow]:
    """Return the rows of all lines that aren't empty, long lines continued in further rows."""
    most = max(_HANGING + 1, int((room - 2 * _INSET) / text_width("0", size, "mono")) - _digits(source))
    rows: list[_PrintedRow] = []
    for number, line in source.lines:
        is_lit, indent = number == source.lit, len(line) - len(line.lstrip())
        rest, start = line, number
        while len(rest) > most:
            cut = rest.rfind(" ", indent + _HANGING + 1, most)
            cut = cut if cut > 0 else most
            rows.append(_PrintedRow(start, rest[:cut], is_lit))
            rest, start = " " * min(indent + _HANGING, most // 2) + rest[cut:].lstrip(), 0
        if rest.strip():
            rows.append(_PrintedRow(start, rest, is_lit))
    return rows


def _digits(source: PrintedSource) -> int:
    """Return the letters that the numbers take, with the space behind them."""
    return len(str(source.lines[-1][0])) + 2 if source.lines else 0


def _around_lit(rows: list[_PrintedRow], most: int) -> list[_PrintedRow]:
    """Return the rows that fit, with the highlighted one in the middle."""
    lit = next((place for place, row in enumerate(rows) if row.is_lit), 0)
    first = max(0, min(lit - most // 2, len(rows) - most))
    return rows[first : first + most]


def _printed_column(key: str, rows: list[_PrintedRow], room: Box, size: float, leading: float, theme: Theme) -> list[Primitive]:
    """Draw some rows on a panel as high as they are."""
    panel = room._replace(height=len(rows) * leading + 2 * _PAD)
    lines = panel.inset(0, _PAD).rows(*[leading] * len(rows))
    style, digits = Style(size, theme.text, "mono"), max(len(str(row.number)) for row in rows)
    wide = style.width("0" * digits)
    numbered = [(str(row.number), box) for row, box in zip(rows, lines, strict=True) if row.number]
    numbers, texts = ([box.trimmed(left=_INSET)._replace(width=wide) for _, box in numbered],
                      [box.trimmed(left=_INSET + wide + 1.5 * size) for box in lines])  # fmt: skip
    lit = [box for row, box in zip(rows, lines, strict=True) if row.is_lit]
    return [
        round_boxes(f"{key}-panel", panel, theme.panel),
        *([Rects(f"{key}-lit", boxes(*lit), theme.line)] if lit else []),
        dataclasses.replace(
            write_all(f"{key}-numbers", numbers, [text for text, _ in numbered], style.inked(theme.faint), "end"),
            meaning="scale",
        ),
        write_all(f"{key}-lines", texts, [row.text for row in rows], style),
    ]


VIEWS = {
    "code": View(marked("Source code"), CodeCase, code_scene, code_motion, order=110),
    "code_and_tiles": View(marked("Source code and tiles"), Moment, code_and_tiles_scene, code_and_tiles_motion, order=102),
    "listing": View(marked("Source with line numbers"), PrintedSource, listing_scene, order=111),
}
