"""The turns of a race, a row for each thread or warp: each turn a box in the colour of its matrix, filled if it writes, and a
red arrow from the write to the read that came too early or too late.
"""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from gemmviz.model.arrays import Floats
from gemmviz.model.race import RaceCase, Turn
from gemmviz.model.translation import tr
from gemmviz.model.words import spaced
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import NOW, PHASE, REST, Theme, mixed
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
        rects = [box for box in map(plan.turn_box, places)]
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
    at = [(box.middle_x, baseline(box.middle_y, size)) for box in map(plan.turn_box, places)]
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
    ends = [np.array([each.middle_x, each.middle_y]) for each in (one, other)]
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
            parts.append(text_at(f"race-meaning-{access}", (x + 28, y), words, size, theme.faint))
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


# The result of a block in lockstep, and in the order of a race: wrong elements come last, in red, with their right value.

_MOST_SIDE, _MOST_CELL = 16, 130.0


def right_result(plan: RacePlan) -> list[Primitive]:
    """Draw the result in lockstep."""
    case = plan.case
    return [
        *_result_heading(plan, 0, tr("{result} in lockstep", result=case.result)),
        _table(plan, 0, np.ones(_shape(plan), bool)),
    ]


def spoilt_result(plan: RacePlan) -> list[Primitive]:
    """Draw the result in this order as far as it has come, and the first wrong element in words; nothing for lockstep."""
    if plan.case.ahead < 0:
        return []
    case, theme, share = plan.case, plan.options.theme, plan.result
    bad = case.spoilt[:_MOST_SIDE, :_MOST_SIDE]
    count = int(case.spoilt.sum())
    words = tr("{result} in this order", result=case.result)
    if share > 0:
        words += tr(": {count} wrong", count=spaced(count))
    parts: list[Primitive] = [*_result_heading(plan, 1, words), _table(plan, 1, ~bad & (share > 0))]
    if not (share > 0 and bad.any()):
        return parts
    x, y, cell = _corner(plan, 1)
    wide, size = cell * share, _label_size(plan)
    middles = [(x + (column + 0.5) * cell, y + (row + 0.5) * cell) for row, column in np.argwhere(bad).tolist()]
    rects = boxes(*((across - wide / 2, down - wide / 2, wide, wide) for across, down in middles))
    parts.append(Rects("result-wrong", rects, theme.warning, theme.background, 1.0))
    if share >= 1 and size:
        at = points(*((across, baseline(down, size)) for across, down in middles))
        texts = tuple(f"{value:.3g}" for value in case.wrong[:_MOST_SIDE, :_MOST_SIDE][bad].tolist())
        parts.append(Labels("result-wrong-values", at, texts, size, theme.ink_on(theme.warning), "middle"))
    return [*parts, *_first(plan)] if share >= 1 else parts


def _first(plan: RacePlan) -> list[Primitive]:
    """Write the first wrong element with both values below the table."""
    case, sizes, (x, y, cell) = plan.case, plan.options.theme.type, _corner(plan, 1)
    row, column = np.argwhere(case.spoilt)[0].tolist()
    name = plan.options.labels.element(case.result, case.corner[0] + row, case.corner[1] + column)
    words = tr(
        "{name} is {wrong}, right is {right}",
        name=name,
        wrong=f"{case.wrong[row, column]:.3g}",
        right=f"{case.right[row, column]:.3g}",
    )
    at = x, y + _shape(plan)[0] * cell + 1.5 * sizes.words
    return [text_line("result-first", at, words, sizes.words, plan.results.width, plan.options.theme.text)]


def _shape(plan: RacePlan) -> tuple[int, int]:
    rows, columns = (min(each, _MOST_SIDE) for each in plan.case.right.shape)
    return rows, columns


def _corner(plan: RacePlan, number: int) -> tuple[float, float, float]:
    """Return the corner of a table, and the size of its cells."""
    room, (rows, columns), line = plan.results, _shape(plan), plan.options.theme.type.words
    high = room.height / 2
    cell = min(room.width / columns, (high - 3.9 * line) / rows, _MOST_CELL)
    return room.x, room.y + number * high + 1.6 * line, cell


def _result_heading(plan: RacePlan, number: int, words: str) -> list[Primitive]:
    room, size, shape = plan.results, plan.options.theme.type.words, _shape(plan)
    part = "" if plan.case.right.shape == shape else tr(", first {rows} × {columns}", rows=shape[0], columns=shape[1])
    at = room.x, room.y + number * room.height / 2 + size
    return [text_line(f"result-{number}-name", at, words + part, size, room.width, plan.options.theme.text, "semibold")]


def _table(plan: RacePlan, number: int, is_shown: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]") -> Cells:
    case, theme, (rows, columns) = plan.case, plan.options.theme, _shape(plan)
    x, y, cell = _corner(plan, number)
    values = (case.wrong if number else case.right)[:rows, :columns]
    is_shown = is_shown & ~np.isnan(values)
    texts = np.where(is_shown, np.array([[f"{value:.3g}" for value in row] for row in values.tolist()]), "")
    palette, size = (theme.empty, theme.tint("C", PHASE)), _label_size(plan)
    return Cells(f"result-{number}", x, y, cell, is_shown.astype(np.uint8), palette, tuple(map(theme.ink_on, palette)),
                 texts if size else None, size, theme.background)  # fmt: skip


def _label_size(plan: RacePlan) -> float:
    """Return the size of the values in the cells; 0 if they don't fit."""
    case, theme, cell = plan.case, plan.options.theme, _corner(plan, 0)[2]
    values = np.concatenate([each[:_MOST_SIDE, :_MOST_SIDE].ravel() for each in (case.right, case.wrong)])
    longest = max((text_width(f"{value:.3g}", 1.0) for value in values[~np.isnan(values)].tolist()), default=1.0)
    size = min(theme.type.words, 0.5 * cell, (cell - 8) / longest)
    return size if size >= theme.type.least else 0.0


# The tiles of a race while they are filled: each cell lights up when it is touched, and the one in which two accesses race
# turns red.

_EMPTY, _BEFORE, _HELD, _NOW, _RACING = range(5)
_MOST_TILES, _GAP, _MOST_TILE_CELL, _LABELLED = 3, 40.0, 150.0, 3


def race_tiles(plan: RacePlan) -> list[Primitive]:
    """Draw the tiles as they are after the turns that have happened."""
    case, theme = plan.case, plan.options.theme
    if case.pair is None:
        return []
    sources = tile_sources(case)
    parts: list[Primitive] = []
    for name, (shape, place) in _places(plan).items():
        fill, texts = _content(plan, name, shape)
        colours = _palette(theme, sources.get(name, ""))
        size = plan.options.theme.type.words
        longest = max((text_width(each, size) for each in texts.ravel().tolist()), default=0.0)
        is_labelled = place.width >= _LABELLED * size and longest <= place.width - 8
        cells = Cells(f"race-{name}", place.x, place.y, place.width, fill, colours, tuple(map(theme.ink_on, colours)),
                      texts if is_labelled else None, size, theme.background)  # fmt: skip
        ink = theme.accent(sources[name]) if name in sources else theme.text
        at = (place.x, place.y - 10)
        frame = boxes((place.x, place.y, shape[1] * place.width, shape[0] * place.width))
        parts += [cells, Rects(f"race-{name}-frame", frame, None, theme.line, 1.5),
                  text_at(f"race-{name}-name", at, name, theme.type.name, ink, "start", "semibold")]  # fmt: skip
    return parts


def _palette(theme: Theme, source: str) -> tuple[str, ...]:
    if not source:
        return theme.empty, theme.empty, theme.line, theme.faint, theme.warning
    return theme.empty, *(theme.tint(source, share) for share in (REST, PHASE, NOW)), theme.warning


def _places(plan: RacePlan) -> dict[str, tuple[tuple[int, int], Box]]:
    """Return the shape of each drawn tile, and the box of its first cell."""
    case, room, head = plan.case, plan.tiles, 1.5 * plan.options.theme.type.name
    chosen = sorted(case.tiles, key=lambda tile: tile[0] != _racing(case))[:_MOST_TILES]
    shapes = {name: _flat(shape) for name, shape in case.tiles if (name, shape) in chosen}
    columns = sum(shape[1] for shape in shapes.values())
    if not columns:
        return {}
    x = plan.rows.x
    wide = (room.right - x - (len(shapes) - 1) * _GAP) / columns
    cell = max(1.0, min(wide, *((room.height - head) / shape[0] for shape in shapes.values()), _MOST_TILE_CELL))
    places = {}
    for name, shape in shapes.items():
        places[name] = shape, Box(x, room.y + head, cell, cell)
        x += shape[1] * cell + _GAP
    return places


def _flat(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns of an array: those of its last two dimensions, one below the other."""
    return (int(np.prod(shape[:-1])), shape[-1]) if shape else (1, 1)


def _racing(case: RaceCase) -> str:
    """Return the name of the array in which the pair meets."""
    return "" if case.pair is None else case.turns[case.pair[0]].array


def _content(plan: RacePlan, name: str, shape: tuple[int, int]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.str_]]:
    """Return the state and the value of each cell: values are known where single threads store them."""
    case, count = plan.case, shape[0] * shape[1]
    state, texts = np.full(count, _EMPTY, np.uint8), np.full(count, "", "<U12")
    for place in range(plan.played):
        turn = case.turns[place]
        if turn.array == name and writes(turn):
            cells = list(turn.cells)
            state[cells] = _HELD if place >= case.begin else _BEFORE
            texts[cells] = f"{turn.value:.3g}" if turn.value is not None and len(cells) == 1 else ""
    last = case.turns[plan.played - 1] if plan.played else None
    if last is not None and last.array == name:
        state[list(last.cells)] = _NOW
    if case.pair is not None and plan.played > case.pair[0] and name == _racing(case):
        state[_racing_cells(case)] = _RACING
        texts[case.cell] = _seen(case, plan.played) or texts[case.cell]
    return state.reshape(shape), texts.reshape(shape)


def _racing_cells(case: RaceCase) -> list[int]:
    """Return the cells that both accesses of the pair touch."""
    assert case.pair is not None
    one, other = (set(case.turns[place].cells) for place in case.pair)
    return sorted(one & other)


def _seen(case: RaceCase, played: int) -> str:
    """Return the wrong value that was read, once it was."""
    assert case.pair is not None
    reads = (case.turns[place] for place in case.pair if place < played and case.turns[place].is_spoilt)
    return next((f"{turn.value:.3g}" for turn in reads if turn.value is not None and len(turn.cells) == 1), "")
