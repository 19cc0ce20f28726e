"""Bytes of a whole launch at each level of memory, as squares whose areas are to scale: requested by threads, moved in
sectors, and moved by DRAM, with each value of a parameter on which only this depends. The squares grow to their size.

The scale depends on the problem alone, so that kernels that solve the same problem can be compared, unless a kernel moves so
little that its squares would be tiny.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from gemmviz.model.cases import SpeedCase, Traffic
from gemmviz.model.records import replace
from gemmviz.model.translation import listed, marked, size_text, spaced, tr
from gemmviz.scenes.kit.layout import LINE_PITCH, NEAR, Box, Line, lines_down, wrapped
from gemmviz.scenes.kit.primitives import Primitive, Rects, Scene, boxes
from gemmviz.scenes.kit.shapes import hatching
from gemmviz.scenes.kit.theme import SOFT, Theme
from gemmviz.scenes.kit.view import View, ViewOptions, message, titled

_ELEMENT_BYTES, _SECTOR, _LANES = 4, 32, 32
_BETWEEN_LEVELS = 40
_WIDEST_WORDS, _USUAL_LEVELS = 300, 4
_NARROW = 6  # width of the words of a variant, in their size
_LEAST_SHARE = 1 / 25  # of the bytes of the common scale: kernels that move less are drawn on a scale of their own
_MOVED = 1  # place of what is moved in sectors
_LEAST_SIDE = 4  # units: a square that is visible
_HATCH = 22  # units between the lines of a hatched square


class _Plan(Struct, frozen=True):
    """The rows of a frame with their texts and the boxes of their squares; ``scale``: the box of the largest square, None for
    none; ``most``: the bytes that it stands for.
    """

    rows: tuple[Traffic, ...]
    texts: tuple[list[Line], ...]
    boxes: tuple[Box, ...]
    scale: Box | None
    most: float

    @classmethod
    def of(cls, case: SpeedCase, options: ViewOptions) -> "_Plan":
        names = listed(array.name for array in case.problem.arrays)
        rows = (
            *(case.traffic[_MOVED:-1] if case.variants else case.traffic),
            *(replace(each, source="") for each in case.variants),
            Traffic(tr("minimum: {names} once", names=names), case.least_bytes, tr("counted from the sizes")),
        )
        count, room = max(len(rows), _USUAL_LEVELS), options.room(124, 40)
        column = min(_WIDEST_WORDS, (room.width - _BETWEEN_LEVELS * (count - 1)) / count)
        if case.variants:
            column = _NARROW * options.theme.plain.size
        texts = tuple(_lines_below(f"bytes-{place}", row, column, options.theme) for place, row in enumerate(rows))
        low = room.bottom - max(LINE_PITCH * sum(line.size for line in lines) for lines in texts)
        largest = min(low - room.y, room.width - (count - 1) * (column + _BETWEEN_LEVELS))
        most, own = _most(case, rows), max(row.size_bytes for row in rows)
        one_scale = case.problem.is_multiply and not case.variants and own >= _LEAST_SHARE * most
        most = most if one_scale else own
        if case.variants:
            sides = [math.sqrt(row.size_bytes / most) for row in rows]
            largest, wide = low - room.y, room.width - (len(rows) - 1) * _BETWEEN_LEVELS
            while largest > column and sum(max(column, share * largest) for share in sides) > wide:
                largest *= 0.98
        elif not one_scale:  # the levels may be equally large
            column = (room.width - _BETWEEN_LEVELS * (len(rows) - 1)) / len(rows)
            largest = min(low - room.y, column)
        x, places, scale = room.x, list[Box](), None
        for place, row in enumerate(rows):
            side = max(_LEAST_SIDE, largest * math.sqrt(row.size_bytes / most))
            places.append(Box(x, low - side, side, side))
            if place == _MOVED and one_scale:
                scale = Box(x, low - largest, largest, largest)
                side = largest  # the same places for all kernels
            x += max(side, column) + _BETWEEN_LEVELS
        return cls(rows, texts, tuple(places), scale, most)


def bytes_scene(case: SpeedCase, options: ViewOptions) -> Scene:
    """Draw the words below a square for each level, and the outline of the largest. ``bytes_motion`` draws the squares."""
    title, note = tr("Bytes: {what}", what=case.what), _note(case)
    if not case.traffic:
        waiting = (
            tr("The launch was not counted: {no_counts}", no_counts=case.no_counts)
            if case.no_counts
            else tr("The launch is being counted")
        )
        return titled([message(waiting, options)], title, note, options)
    plan, primitives = _Plan.of(case, options), list[Primitive]()
    for lines, box in zip(plan.texts, plan.boxes, strict=True):
        below = Box(box.x, box.bottom, options.width - box.x, options.height - box.bottom)
        primitives += lines_down(below, lines)
    if plan.scale is not None:
        primitives += _scale(plan.most, plan.boxes[_MOVED].width, plan.scale, options.theme)
    return titled(primitives, title, note, options)


def bytes_motion(case: SpeedCase, options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw a square for each level and for the minimum, each array once, grown up to ``options.moment``: areas grow evenly."""
    if not case.traffic:
        return ()
    plan, pieces = _Plan.of(case, options), list[Primitive]()
    share = math.sqrt(1 if case.has_begun else options.way)  # not in each step of a run
    for place, (row, box) in enumerate(zip(plan.rows, plan.boxes, strict=True)):
        asked = plan.rows[0].size_bytes if row in case.traffic else row.size_bytes
        side = max(_LEAST_SIDE, share * box.width)
        pieces += _square(f"bytes-{place}", row, asked, _grown(box, side), options.theme)
    return tuple(pieces)


def _most(case: SpeedCase, rows: Sequence[Traffic]) -> float:
    """Return the bytes of the largest square.

    Of a multiplication, what a kernel without tiles moves if each request reads one factor in sectors of their own and the
    other in one sector, so that all kernels that move no more have one scale.
    """
    most = max(row.size_bytes for row in rows)
    if not case.problem.is_multiply or case.variants:
        return most
    products = case.problem.M * case.problem.N * case.problem.K
    return max(most, products * _SECTOR * (_LANES + 1) / _LANES)


def _scale(most: float, side: float, box: Box, theme: Theme) -> list[Primitive]:
    """Outline the largest square behind a smaller one, with what it stands for."""
    text = tr("{most} if each element of A took its own sector", most=size_text(most))
    lines = wrapped("bytes-scale-text", text, theme.aside, box.width - 2 * NEAR, 3)
    if box.height - side < (len(lines) + 1) * LINE_PITCH * theme.type.least:
        return []
    return [Rects("bytes-scale", boxes(box), None, theme.line, 2, 2), *lines_down(box.inset(NEAR), lines)]


def _square(key: str, row: Traffic, asked: int, box: Box, theme: Theme) -> list[Primitive]:
    """Draw a square; what is moved beyond the requested bytes is red."""
    whole = boxes(box)
    if row.size_bytes <= asked:
        return [Rects(f"{key}-bar", whole, theme.faint, radius=2)]
    inner = box.width * math.sqrt(asked / row.size_bytes)
    count = max(1, round(box.width / _HATCH))
    red = theme.faded(theme.warning, SOFT)
    return [
        Rects(f"{key}-bar", whole, red, theme.warning, 2, 2),
        hatching(f"{key}-hatching", boxes(*box.grid(count, count)), theme.warning),
        Rects(f"{key}-requested", boxes(_grown(box, inner)), theme.faint, radius=2),
    ]


def _grown(box: Box, side: float) -> Box:
    """Return the square of a side at the lower left corner of a box."""
    return Box(box.x, box.bottom - side, side, side)


def _lines_below(key: str, row: Traffic, room: float, theme: Theme) -> list[Line]:
    """Return the lines below a square."""
    return [
        Line(f"{key}-size", size_text(row.size_bytes), *theme.strong.sized(theme.type.title)),
        *wrapped(f"{key}-name", tr(row.level), theme.plain, room, 3),
        *wrapped(f"{key}-source", row.source, theme.aside, room, 4),
    ]


def _note(case: SpeedCase) -> str:
    """Return where the traffic of variants is from, or on which GPU that of DRAM was recorded, or else what a multiplication
    without tiles requests; nothing for other problems.
    """
    if case.variants:
        return tr("To scale in this picture. DRAM: {source}", source=case.variants[0].source)
    if case.no_dram and case.dram_on:
        return tr("Areas are to scale. {why}", why=case.no_dram)
    problem = case.problem
    if not problem.is_multiply:
        return problem.kind.formula
    requested = _ELEMENT_BYTES * problem.M * problem.N * 2 * problem.K
    whole = tr("{requested} for all {M}", requested=size_text(requested), M=spaced(problem.M * problem.N))
    return tr("Areas are to scale. A thread that reads its own row and column requests 2 · 4 · K bytes: {whole}", whole=whole)


VIEW = View(marked("Bytes requested, moved and from DRAM"), SpeedCase, bytes_scene, bytes_motion, is_count=True, order=504)
