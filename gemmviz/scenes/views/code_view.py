"""Source code as a picture: a kernel with its additions highlighted, or two kernels with their differences highlighted; and
the counts of a launch.
"""

from dataclasses import dataclass

import numpy as np

from gemmviz.model.code_case import CodeCase, Listing
from gemmviz.model.kernel import BLANK
from gemmviz.model.words import many
from gemmviz.scenes.kit.block_sketch import block_sketch
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import View

_LEADING, _LARGEST, _INSET, _HANGING = 1.28, 32.0, 18.0, 4
_FACTS_WIDTH, _GAP = 384.0, 30.0


def code_scene(case: CodeCase, options: ViewOptions) -> Scene:
    """Draw one listing with its counts beside it, or two listings."""
    room = Box(MARGIN, 116.0, options.width - 2 * MARGIN, options.height - 116.0 - 24.0)
    if case.beside is not None and not case.is_grown:
        return _two(case, case.beside, room, options)
    facts = min(_FACTS_WIDTH, 0.34 * room.width) if case.facts else 0.0
    code = Box(room.x, room.y, room.width - facts - (_GAP if facts else 0.0), room.height)
    primitives, _ = _listing("code", case.main, code, options, _size((case.main,), code.width, code.height, options.theme))
    low = max(
        each.boxes[0, 1] + each.boxes[0, 3] for each in primitives if isinstance(each, Rects) and each.key == "code-panel"
    )
    below = Box(code.x, low + _GAP, code.width, code.y + code.height - low - _GAP)
    primitives += block_sketch(case.block, case.tiles, below, options) if case.block else []
    note = case.main.name if case.beside is None else f"highlighted: new since “{case.beside.title}”"
    if case.facts:
        beside = Box(room.x + room.width - facts, room.y, facts, min(room.height, 60.0 * (len(case.facts) + 1)))
        rows = [[TableCell(name, options.theme.faint), TableCell(value, strong=True)] for name, value in case.facts]
        primitives += table("facts", ("one launch", ""), rows, beside, options.theme, options.theme.type.words)
    return titled(primitives, case.main.title, note, options)


def _two(case: CodeCase, other: Listing, room: Box, options: ViewOptions) -> Scene:
    half = (room.width - 60) / 2
    size = _size((case.main, other), half, room.height - 34, options.theme)
    primitives: list[Primitive] = []
    ends: list[dict[int, float]] = []
    for key, each, x in (("left", other, room.x), ("right", case.main, room.x + half + 60)):
        small = options.theme.type.note
        primitives.append(
            text_line(f"{key}-title", (x, room.y + small), each.title, small, half, options.theme.text, "semibold")
        )
        pieces, rows = _listing(key, each, Box(x, room.y + 34, half, room.height - 34), options, size)
        primitives += pieces
        ends.append(rows)
    lines = [
        (room.x + half + 4, ends[0][i], room.x + half + 56, ends[1][j])
        for i, j in case.pairs
        if i in ends[0] and j in ends[1] and other.lines[i].strip() not in ("", "{", "}")
    ]
    if lines:
        primitives.append(Lines("same", np.array(lines), options.theme.line, 1.5))
    title = f"{other.name} → {case.main.name}"
    return titled(primitives, title, "highlighted: differences; lines connect equal code", options)


def _size(listings: tuple[Listing, ...], width: float, height: float, theme: Theme) -> float:
    """Return the text size at which all lines fit, within the theme's size of code and a larger one."""
    lines = [line for each in listings for line in each.lines]
    longest = max((text_width(line, 1.0, "mono") for line in lines), default=1.0)
    most = max(1, *(len(each.lines) for each in listings))
    return max(theme.type.code, min(_LARGEST, (width - 2 * _INSET) / longest, height / (_LEADING * most)))


@dataclass(frozen=True)
class _Row:
    """One row of a listing: the index of its line, and the part of the line that it shows from ``start`` on, ``indent`` letters
    to the right.
    """

    line: int
    text: str
    start: int = 0
    indent: int = 0


def _rows(each: Listing, most: int) -> list[_Row]:
    """Return the rows of all lines: a line of more than ``most`` letters continues in further rows, indented."""
    rows: list[_Row] = []
    for place, line in enumerate(each.lines):
        start, indent = 0, 0
        hanging = len(line) - len(line.lstrip()) + _HANGING
        while len(line) - start > most - indent > _HANGING:
            stop = line.rfind(" ", start + 1, start + most - indent)
            stop = stop if line[start:stop].strip() else start + most - indent
            rows.append(_Row(place, line[start:stop], start, indent))
            start = stop + len(line[stop:]) - len(line[stop:].lstrip())
            indent = min(hanging, most // 2)
        rows.append(_Row(place, line[start:], start, indent))
    return rows


def _window(rows: list[_Row], each: Listing, count: int) -> tuple[int, int]:
    """Return the first row and the number of rows to show: all, or those around the highlighted lines. A row is left for each
    end where something is left out.
    """
    if len(rows) <= count:
        return 0, len(rows)
    lit = [number for number, row in enumerate(rows) if row.line in each.lit] or [0]
    room = max(1, count - 1)
    first = (lit[0] + min(lit[-1], lit[0] + room - 1)) // 2 - room // 2
    if first <= 0:
        return 0, room
    return (len(rows) - room, room) if first + room >= len(rows) else (first, max(1, room - 1))


def _listing(key: str, each: Listing, room: Box, options: ViewOptions, size: float) -> tuple[list[Primitive], dict[int, float]]:
    """Draw the lines, and return them with the middle of each line that is shown."""
    theme, leading = options.theme, _LEADING * size
    advance = text_width("0", size, "mono")
    rows = _rows(each, int((room.width - 2 * _INSET) / advance))
    first, count = _window(rows, each, int((room.height - 8) / leading))
    shown, above, below = rows[first : first + count], first > 0, first + count < len(rows)
    top = room.y + 4 + above * leading
    y = [top + (number + 0.5) * leading for number in range(len(shown))]
    high = (count + above + below) * leading + 8
    primitives: list[Primitive] = [Rects(f"{key}-panel", boxes((room.x, room.y, room.width, high)), theme.panel, radius=8.0)]
    lit = np.array(
        [(room.x, at - leading / 2, room.width, leading) for row, at in zip(shown, y, strict=True) if row.line in each.lit]
    )
    if len(lit):
        primitives.append(Rects(f"{key}-lit", lit, theme.line))
        marks = lit.copy()
        marks[:, 2] = 6.0
        primitives.append(Rects(f"{key}-marks", marks, theme.text))
    primitives += _blanks(key, shown, y, (room.x + _INSET, advance, leading), theme)
    for bright in (True, False):
        some = [(row, at) for row, at in zip(shown, y, strict=True) if (row.line in each.lit or not each.lit) == bright]
        if some:
            places = points(*((room.x + _INSET + row.indent * advance, at + 0.36 * size) for row, at in some))
            texts = tuple(BLANK.sub("  ?  ", row.text) for row, _ in some)
            ink = theme.text if bright else theme.faint
            primitives.append(Labels(f"{key}-{'lines' if bright else 'others'}", places, texts, size, ink, "start", "mono"))
    if above or below:
        primitives += _left_out(key, each, shown, Box(room.x + _INSET, room.y + 4, room.width, high - 8), size, theme)
    return primitives, {row.line: at for row, at in zip(reversed(shown), reversed(y), strict=True)}


def _blanks(key: str, shown: list[_Row], y: list[float], grid: tuple[float, float, float], theme: Theme) -> list[Primitive]:
    """Draw frames around the blanks of an exercise. ``grid``: left edge, and width and height of a letter's cell."""
    left, advance, leading = grid
    frames = [
        (
            left + (row.indent + hole.start()) * advance,
            at - 0.5 * leading + 2,
            (hole.end() - hole.start()) * advance,
            leading - 4,
        )
        for row, at in zip(shown, y, strict=True)
        for hole in BLANK.finditer(row.text)
    ]
    return [Rects(f"{key}-blanks", np.array(frames), theme.line, theme.text, 2.0, 4.0)] if frames else []


def _left_out(key: str, each: Listing, shown: list[_Row], room: Box, size: float, theme: Theme) -> list[Primitive]:
    """Say how many lines are above and below the shown ones."""
    above, below = shown[0].line, len(each.lines) - 1 - shown[-1].line
    leading, primitives = _LEADING * size, []
    for name, count, y in (("above", above, room.y), ("below", below, room.y + room.height - leading)):
        if count:
            at = points((room.x, y + 0.5 * leading + 0.36 * theme.type.note))
            primitives.append(Labels(f"{key}-{name}", at, (f"⋮ {many(count, 'line')} {name}",), theme.type.note, theme.faint))
    return primitives  # type: ignore[return-value]


VIEW = View("Source code", CodeCase, code_scene, order=48)
