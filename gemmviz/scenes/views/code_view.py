"""Source code as a picture: a kernel with its additions highlighted, or two kernels with their differences highlighted; and
the counts of a launch.
"""

import numpy as np

from gemmviz.model.code_case import CodeCase, Listing
from gemmviz.model.kernel import BLANK
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import MARGIN, ViewOptions, titled
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, Scene, boxes, points
from gemmviz.scenes.kit.table import TableCell, table
from gemmviz.scenes.kit.text import fitted, text_line, text_width
from gemmviz.scenes.kit.view import View

_LEADING, _LARGEST, _LEAST = 1.3, 26.0, 9.0


def code_scene(case: CodeCase, options: ViewOptions) -> Scene:
    """Draw one listing with its counts beside it, or two listings."""
    room = Box(MARGIN, 116.0, options.width - 2 * MARGIN, options.height - 116.0 - 30.0)
    if case.beside is not None and not case.is_grown:
        return _two(case, case.beside, room, options)
    wide = 0.68 if case.facts else 1.0
    primitives, _ = _listing("code", case.main, Box(room.x, room.y, wide * room.width, room.height), options)
    note = case.main.name if case.beside is None else f"highlighted: new since “{case.beside.title}”"
    if case.facts:
        beside = Box(room.x + 0.71 * room.width, room.y, 0.29 * room.width, min(room.height, 60.0 * (len(case.facts) + 1)))
        rows = [[TableCell(name, options.theme.faint), TableCell(value, strong=True)] for name, value in case.facts]
        primitives += table("facts", ("one launch", ""), rows, beside, options.theme, 24.0)
    return titled(primitives, case.main.title, note, options)


def _two(case: CodeCase, other: Listing, room: Box, options: ViewOptions) -> Scene:
    half = (room.width - 60) / 2
    size = min(_size(case.main, half, room.height - 34), _size(other, half, room.height - 34))
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
        if other.lines[i].strip() not in ("", "{", "}")
    ]
    if lines:
        primitives.append(Lines("same", np.array(lines), options.theme.line, 1.5))
    title = f"{other.name} → {case.main.name}"
    return titled(primitives, title, "highlighted: differences; lines connect equal code", options)


def _size(each: Listing, width: float, height: float) -> float:
    longest = max((text_width(line, 1.0, "mono") for line in each.lines), default=1.0)
    return max(_LEAST, min(_LARGEST, (width - 30) / longest, height / (_LEADING * max(1, len(each.lines)))))


def _listing(
    key: str, each: Listing, room: Box, options: ViewOptions, size: float | None = None
) -> tuple[list[Primitive], dict[int, float]]:
    """Draw the lines and return them with the middle of each line."""
    theme = options.theme
    size = size or _size(each, room.width, room.height)
    leading = _LEADING * size
    count = min(len(each.lines), int(room.height / leading + 0.01))
    first = 0 if count == len(each.lines) else max(0, min(min(each.lit, default=0) - 2, len(each.lines) - count))
    shown = range(first, first + count)
    y = {place: room.y + (place - first + 0.5) * leading for place in shown}
    primitives: list[Primitive] = [
        Rects(f"{key}-panel", boxes((room.x, room.y, room.width, count * leading + 8)), theme.panel, radius=8.0)
    ]
    lit = [(room.x, y[place] - leading / 2, room.width, leading) for place in sorted(each.lit) if place in y]
    if lit:
        primitives.append(Rects(f"{key}-lit", np.array(lit), theme.tint("A", 0.4)))
        primitives.append(Rects(f"{key}-marks", np.array([(x, top, 6.0, high) for x, top, _, high in lit]), theme.accent("A")))
    advance = text_width("0", size, "mono")
    blanks = [
        (room.x + 16 + hole.start() * advance, y[place] - 0.5 * leading + 2, (hole.end() - hole.start()) * advance, leading - 4)
        for place in shown
        for hole in BLANK.finditer(each.lines[place])
    ]
    if blanks:
        primitives.append(Rects(f"{key}-blanks", np.array(blanks), theme.tint("B", 0.5), theme.accent("B"), 2.0, 4.0))
    for bright, some in (
        (True, [p for p in shown if p in each.lit or not each.lit]),
        (False, [p for p in shown if each.lit and p not in each.lit]),
    ):
        if some:
            at = points(*((room.x + 16, y[place] + 0.36 * size) for place in some))
            texts = tuple(fitted(BLANK.sub("  ?  ", each.lines[place]), size, room.width - 24, "mono") for place in some)
            ink = theme.text if bright else theme.faint
            primitives.append(Labels(f"{key}-{'lines' if bright else 'others'}", at, texts, size, ink, "start", "mono"))
    return primitives, {place: y.get(place, room.y) for place in range(len(each.lines))}


VIEW = View("Source code", CodeCase, code_scene, order=48)
