"""The turns of a race, a row for each thread or warp: each turn a box in the colour of its matrix, filled if it writes, and a
red arrow from the write to the read that came too early or too late.
"""

from collections import defaultdict

import numpy as np

from gemmviz.model.arrays import Floats
from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.palette import NOW, PHASE, REST
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.stage.race_plan import RacePlan, pair_of, tile_sources, writes

_HEAD, _HEAD_ANGLE = 15.0, 0.45  # length of the arrow's head, and the angle of its sides in radians
_FRAME = 4.0  # from a box to the frame around it
_Look = tuple[str, str]  # the matrix, and how it is touched


def turn_table(plan: RacePlan) -> list[Primitive]:
    """Draw the names of the units, the empty table with its hover texts, and the legend."""
    case, options, rows = plan.case, plan.options, plan.rows
    theme, size = options.theme, options.theme.type
    one = case.kind[:-1]
    names = points(*((rows.x - 14, rows.y + (row + 0.5) * rows.height + 0.35 * size.words) for row in range(len(plan.units))))
    heading = text_line("race-heading", (plan.left.x, plan.left.y + size.least), _heading(plan), size.least, plan.left.width,
                        theme.faint)  # fmt: skip
    fill = np.zeros((len(plan.units), plan.columns), np.uint8)
    ground = Cells("race", rows.x, rows.y, rows.width, fill, (theme.panel,), (theme.text,), line=None, height=rows.height,
                   tips=_tips(plan))  # fmt: skip
    seams = [(rows.x, y, rows.x + plan.columns * rows.width, y) for y in
             (rows.y + row * rows.height for row in range(len(plan.units) + 1))]  # fmt: skip
    units = Labels("race-units", names, tuple(f"{tr(one)} {unit}" for unit in plan.units), size.words, theme.text, "end")
    return [heading, units, ground, Lines("race-rows", np.array(seams), theme.background, 3.0), *_legend(plan)]


def played_turns(plan: RacePlan) -> list[Primitive]:
    """Draw the turns that have happened, the latest lit, and the arrow."""
    case, theme = plan.case, plan.options.theme
    sources, looks = tile_sources(case), defaultdict[_Look, list[int]](list)
    for place in plan.shown:
        if place < plan.played:
            looks[_look(case.turns[place], case, sources)].append(place)
    parts: list[Primitive] = []
    for look, places in sorted(looks.items()):
        fill, stroke = _colours(look, theme)
        rects = [(box.x, box.y, box.width, box.height) for box in map(plan.turn_box, places)]
        parts.append(Rects(f"race-turns-{'-'.join(look)}", boxes(*rects), fill, stroke, 2.0, 4.0))
        parts += _numbers(plan, look, places, theme.text if fill is None else theme.ink_on(fill))
    return [*parts, *_pair(plan)]


def _heading(plan: RacePlan) -> str:
    case, turns = plan.case, plan.turns
    part = (
        ""
        if len(turns) == len(case.turns)
        else tr(", turns {first} to {last} of {turns}", first=turns.start + 1, last=turns.stop, turns=len(case.turns))
    )
    rows = (
        ""
        if len(plan.units) == case.units
        else tr(", {shown} of {units} {kind}", shown=len(plan.units), units=case.units, kind=case.kind)
    )
    return tr("one turn after the other, from left to right{part}{rows}", part=part, rows=rows)


def _look(turn: Turn, case: RaceCase, sources: dict[str, str]) -> _Look:
    if turn.is_spoilt:
        return "", "wrong"
    if not turn.array:
        return "", "waits"
    tiles = {name for name, _ in case.tiles}
    return sources.get(turn.array, "") if turn.array in tiles else turn.array, "writes" if writes(turn) else "reads"


def _colours(look: _Look, theme: Theme) -> tuple[str | None, str | None]:
    """Return fill and outline of the boxes of turns."""
    matrix, access = look
    if access == "wrong":
        return theme.warning, theme.warning
    if access == "waits":
        return mixed(theme.background, theme.text, 0.22), None
    if not matrix:
        grey = mixed(theme.background, theme.text, 0.5)
        return (grey if access == "writes" else mixed(theme.background, theme.text, 0.1)), grey
    return theme.tint(matrix, NOW if access == "writes" else REST), theme.tint(matrix, NOW if access == "writes" else PHASE)


def _numbers(plan: RacePlan, look: _Look, places: list[int], ink: str) -> list[Primitive]:
    """Write into each box which step of its unit it is, counted since the barrier, if that can be read."""
    size = plan.options.theme.type.least
    numbers = {place: _number(plan, place) for place in places}
    if (
        plan.case.pair is None
        or look[1] == "waits"
        or plan.rows.width - 3 < text_width("00", size)
        or plan.turn_box(places[0]).height < size
    ):
        return []
    at = [(box.x + box.width / 2, box.y + box.height / 2 + 0.36 * size) for box in map(plan.turn_box, places)]
    return [Labels(f"race-steps-{'-'.join(look)}", points(*at), tuple(map(str, numbers.values())), size, ink, "middle")]


def _number(plan: RacePlan, place: int) -> int:
    """Return the number of a step since the barrier, from 1; the barrier itself is not counted."""
    case, turn = plan.case, plan.case.turns[place]
    first = next(each for each in case.turns[case.begin :] if each.unit == turn.unit)
    return turn.step - first.step + bool(first.array)


def _tips(plan: RacePlan) -> np.ndarray[tuple[int, int], np.dtype[np.str_]]:
    tips, one = np.full((len(plan.units), plan.columns), "", "<U120"), plan.case.kind[:-1]
    for place in plan.shown:
        turn = plan.case.turns[place]
        value = "" if turn.value is None else f"\n{turn.value:.4g}"
        text = tr(
            "{one} {unit}, step {number}\n{action}, line {line}{value}",
            one=tr(one),
            unit=turn.unit,
            number=_number(plan, place),
            action=action_text(turn),
            line=turn.line,
            value=value,
        )
        tips[plan.units.index(turn.unit), plan.column(place)] = text
    return tips


def _pair(plan: RacePlan) -> list[Primitive]:
    """Draw frames around the accesses of the pair that have happened, and the arrow between them."""
    pair = pair_of(plan.case)
    if pair is None:
        return []
    theme, places = plan.options.theme, [place for place in pair if place < plan.played]
    around = map(plan.turn_box, places)
    frames = [(box.x - _FRAME, box.y - _FRAME, box.width + 2 * _FRAME, box.height + 2 * _FRAME) for box in around]
    parts: list[Primitive] = [Rects("race-pair", boxes(*frames), None, theme.warning, 3.5, 6.0)] if frames else []
    return [*parts, *_arrow(plan, pair)] if plan.arrow > 0 else parts


def _arrow(plan: RacePlan, pair: tuple[int, int]) -> list[Primitive]:
    """Draw the arrow from the write to the read as far as it has come."""
    begin, stop = _ends(*(plan.turn_box(place) for place in pair))
    tip = begin + (stop - begin) * plan.arrow
    angle = float(np.arctan2(*(stop - begin)[::-1]))
    sides = [tip - _HEAD * np.array([np.cos(angle + turn), np.sin(angle + turn)]) for turn in (_HEAD_ANGLE, -_HEAD_ANGLE)]
    segments = np.array([[*begin, *tip], *([*tip, *side] for side in sides)])
    return [Lines("race-arrow", segments, plan.options.theme.warning, 5.0)]


def _ends(one: Box, other: Box) -> tuple[Floats, Floats]:
    """Return the points at which an arrow leaves one box and arrives at another: at the sides that face each other."""
    ends = [np.array([each.x + each.width / 2, each.y + each.height / 2]) for each in (one, other)]
    way = ends[1] - ends[0]
    axis = int(abs(way[1]) > abs(way[0]))
    for each, box, sign in ((ends[0], one, 1.0), (ends[1], other, -1.0)):
        each[axis] += sign * np.sign(way[axis]) * ((box.width, box.height)[axis] / 2 + _FRAME + 2)
    return ends[0], ends[1]


def _legend(plan: RacePlan) -> list[Primitive]:
    """Draw what outlines and fills mean."""
    options, case = plan.options, plan.case
    theme, size = options.theme, options.theme.type.least
    kinds = {_look(case.turns[place], case, {})[1] for place in plan.shown}
    x, y, parts = plan.rows.x, plan.legend_y, list[Primitive]()
    for access, words in (
        ("reads", tr("reads")),
        ("writes", tr("writes")),
        ("waits", tr("waits")),
        ("wrong", tr("reads a wrong value")),
    ):
        if access in kinds:
            fill, stroke = _colours(("", access), theme)
            parts.append(Rects(f"race-chip-{access}", boxes((x, y - 0.8 * size, 20.0, 20.0)), fill, stroke, 2.0, 4.0))
            parts.append(Labels(f"race-meaning-{access}", points((x + 28, y)), (words,), size, theme.faint))
            x += 28 + text_width(words, size) + 26
    return parts


def action_text(turn: Turn) -> str:
    """Return what a turn does, such as "read A[0, 0]"."""
    verb, _, what = turn.action.partition(" ")
    match verb:
        case "read":
            return tr("read {what}", what=what)
        case "write":
            return tr("write {what}", what=what)
    return tr("wait")
