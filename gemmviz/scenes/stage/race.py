"""A race in its frame: the turns that are shown, the tiles that they fill, and the results."""

from collections import defaultdict
from functools import cached_property

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import Bools, Bytes, Floats, Strings
from gemmviz.model.messages import spaced, tr
from gemmviz.model.trace import RaceCase, Turn
from gemmviz.scenes.kit.layout import Box, Point, arrow, baseline, cells_in, names_of_parts, swatches, text_at
from gemmviz.scenes.kit.primitives import Labels, Lines, Primitive, Rects, boxes, points, text_line, text_width
from gemmviz.scenes.kit.theme import NOW, PHASE, REST, Theme, mixed
from gemmviz.scenes.kit.view import ARRIVAL, MARGIN, ViewOptions, eased_from
from gemmviz.scenes.stage.cells import CellGrid, boxes_around, cells_side_by_side

_TOP, _BOTTOM, _LEFT, _GAP = 112.0, 24.0, 0.63, 48.0
_MOST_TURNS, _MOST_UNITS, _BETWEEN = 28, 8, 2  # turns and units shown; columns left free between the pair
_TALL, _DENSE = 0.62, 0.8  # of a row: height of a turn, and in a table of more than _FEW rows
_FEW = 4
_UNTIL_PAIR, _PAIR, _ARROW, _RESULT = 0.5, 0.62, 0.78, 0.82  # shares of the motion at which each part is over, or begins
_LEGEND, _STORY = 1.9, 2.7  # in lines of text


class RacePlan(Struct, frozen=True, dict=True):
    """The places of a race's parts. ``turns``: those that are shown, up to the second access of the pair; ``units``: the units
    that have a row.
    """

    case: RaceCase
    options: ViewOptions

    @cached_property
    def turns(self) -> range:
        case = self.case
        stop = len(case.turns) if case.pair is None else case.pair[1] + 1
        return range(max(case.begin, stop - _MOST_TURNS), stop)

    @cached_property
    def units(self) -> tuple[int, ...]:
        """The units of the pair, and the first others."""
        pair = () if self.case.pair is None else self.case.pair
        first = [self.case.turns[place].unit for place in pair]
        return tuple(sorted(list(dict.fromkeys([*first, *range(self.case.units)]))[:_MOST_UNITS]))

    @cached_property
    def shown(self) -> tuple[int, ...]:
        """The places of the shown turns, those of units without a row left out."""
        return tuple(place for place in self.turns if self.case.turns[place].unit in self.units)

    # Places

    @property
    def left(self) -> Box:
        """The region of turns, tiles and sentences."""
        return self.options.room(_TOP, _BOTTOM).part(across=(0.0, _LEFT))

    @property
    def results(self) -> Box:
        left = self.left
        x = left.right + _GAP
        return left._replace(x=x, width=self.options.width - MARGIN - x)

    @property
    def name(self) -> float:
        """Width of the names of the units."""
        return text_width(f"{self.case.kind[:-1]} {self.case.units - 1}", self.options.theme.type.words) + 18

    @property
    def rows(self) -> Box:
        """The table of turns: its width and height are those of one cell."""
        left, line = self.left, self.options.theme.type.least
        has_tiles = bool(self.case.tiles) and self.case.pair is not None
        pitch = min((0.34 if has_tiles else 0.56) * left.height / len(self.units), 58.0)
        x = left.x + self.name
        return Box(x, left.y + 1.7 * line, (left.right - x) / max(1, self.columns), pitch)

    @property
    def columns(self) -> int:
        """Number of columns of the table of turns."""
        return len(self.shown) + (_BETWEEN if self.case.pair is not None else 0)

    def column(self, place: int) -> int:
        """The column of a shown turn; there is room for the arrow after the first access of the pair."""
        is_after = self.case.pair is not None and place > self.case.pair[0]
        return self.shown.index(place) + (_BETWEEN if is_after else 0)

    @property
    def legend_y(self) -> float:
        """The baseline of the legend."""
        rows = self.rows
        return rows.y + len(self.units) * rows.height + 1.4 * self.options.theme.type.least

    @property
    def story(self) -> Box:
        left, high = self.left, _STORY * self.options.theme.type.caption
        return Box(left.x, left.bottom - high, left.width, high)

    @property
    def tiles(self) -> Box:
        """The region of the tiles, between the legend and the sentences."""
        top = self.legend_y + 0.8 * self.options.theme.type.least
        return Box(self.left.x, top, self.left.width, self.story.y - top)

    def turn_box(self, place: int) -> Box:
        """The box of a shown turn."""
        rows, column = self.rows, self.column(place)
        high = (_TALL if len(self.units) <= _FEW else _DENSE) * rows.height
        y = rows.y + (self.units.index(self.case.turns[place].unit) + 0.5) * rows.height - high / 2
        return Box(rows.x + column * rows.width + 1.5, y, max(2.0, rows.width - 3), high)

    # Motion

    @property
    def passed(self) -> float:
        """Share of the motion that has passed; 1 where nothing moves."""
        return min(1.0, self.options.moment / ARRIVAL) if self.case.pair is not None and self.case.ahead >= 0 else 1.0

    @property
    def played(self) -> int:
        """Number of turns of the whole run that have happened: quickly up to the pair, which takes longer."""
        if self.case.pair is None or self.passed >= _PAIR:
            return self.turns.stop
        start, first = self.turns.start, self.case.pair[0]
        if self.passed < _UNTIL_PAIR:
            return start + int((first - start) * self.passed / _UNTIL_PAIR)
        return first + 1 + int((self.turns.stop - first - 1) * (self.passed - _UNTIL_PAIR) / (_PAIR - _UNTIL_PAIR))

    @property
    def arrow(self) -> float:
        """How much of the arrow is drawn, 0 to 1."""
        return eased_from(self.passed, _PAIR, _ARROW - _PAIR)

    @property
    def result(self) -> float:
        """How far the wrong elements of the result have come, 0 to 1."""
        return eased_from(self.passed, _RESULT, 1 - _RESULT)


def pair_of(case: RaceCase) -> tuple[int, int] | None:
    """Return the places of the racing pair, the write first; None if there is none. Of two writes, the first."""
    if case.pair is None:
        return None
    one, other = case.pair
    return (one, other) if case.turns[one].action == "write" else (other, one)


def tile_sources(case: RaceCase) -> dict[str, str]:
    """Return the matrix whose elements each tile holds: what its first writer read from global memory just before."""
    sources: dict[str, str] = {}
    tiles, last = {name for name, _ in case.tiles}, dict[int, str]()
    for turn in case.turns:
        if turn.array in tiles and turn.action == "write":
            sources.setdefault(turn.array, last.get(turn.unit, ""))
        elif turn.array and turn.array not in tiles and turn.action != "write":
            last[turn.unit] = turn.array
    return {tile: source for tile, source in sources.items() if source}


_ARROW_HEAD = 13.5  # length
_HEAD_LINE = 1.6  # of the size of a name above a table: the line with it
_FRAME = 4.0  # from a box to the frame around it
_Look = tuple[str, str]  # the matrix, and how it is touched


def turn_table(plan: RacePlan) -> list[Primitive]:
    """Draw the names of the units, the empty table with its hover texts, and the legend."""
    theme, size, rows, count = plan.options.theme, plan.options.theme.type, plan.rows, len(plan.units)
    table = Box(rows.x, rows.y, plan.columns * rows.width, count * rows.height)
    at, names = (plan.left.x, plan.left.y + size.least), [f"{tr(plan.case.kind[:-1])} {unit}" for unit in plan.units]
    fill, seams = np.zeros((count, plan.columns), np.uint8), [row.y for row in table.grid(count, 1)]
    return [
        text_line("race-heading", at, _turns_heading(plan), size.least, plan.left.width, theme.faint),
        names_of_parts("race-units", table, names, size.words, theme.text, "left", 14.0, None),
        cells_in("race", table, fill, (theme.panel,), None, (theme.text,), tips=_turn_tips(plan)),
        Lines("race-rows", boxes(*((table.x, y, table.right, y) for y in (*seams, table.bottom))), theme.background, 3.0),
        *_race_legend(plan),
    ]


def played_turns(plan: RacePlan) -> list[Primitive]:
    """Draw the turns that have happened, the latest lit, and the arrow."""
    case, theme = plan.case, plan.options.theme
    sources, looks = tile_sources(case), defaultdict[_Look, list[int]](list)
    for place in plan.shown:
        if place < plan.played:
            looks[_turn_look(case.turns[place], case, sources)].append(place)
    parts: list[Primitive] = []
    for look, places in sorted(looks.items()):
        fill, stroke = _turn_colours(look, theme)
        parts.append(Rects(f"race-turns-{'-'.join(look)}", boxes(*map(plan.turn_box, places)), fill, stroke, 2.0, 4.0))
        parts += _step_numbers(plan, look, places, theme.text if fill is None else theme.ink_on(fill))
    return [*parts, *_racing_pair(plan)]


def _turns_heading(plan: RacePlan) -> str:
    case, turns = plan.case, plan.turns
    part = rows = ""
    if len(turns) < len(case.turns):
        part = tr(", turns {first} to {last} of {turns}", first=turns.start + 1, last=turns.stop, turns=len(case.turns))
    if len(plan.units) < case.units:
        rows = tr(", {shown} of {units} {kind}", shown=len(plan.units), units=case.units, kind=case.kind)
    return tr("one turn after the other, from left to right{part}{rows}", part=part, rows=rows)


def _turn_look(turn: Turn, case: RaceCase, sources: dict[str, str]) -> _Look:
    if turn.is_spoilt:
        return "", "wrong"
    if not turn.array:
        return "", "waits"
    tiles = {name for name, _ in case.tiles}
    return sources.get(turn.array, "") if turn.array in tiles else turn.array, "writes" if turn.action == "write" else "reads"


def _turn_colours(look: _Look, theme: Theme) -> tuple[str | None, str | None]:
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


def _step_numbers(plan: RacePlan, look: _Look, places: list[int], ink: str) -> list[Primitive]:
    """Write into each box which step of its unit it is, counted since the barrier, if that can be read."""
    size = plan.options.theme.type.least
    numbers = {place: _step_since_barrier(plan, place) for place in places}
    if (
        plan.case.pair is None
        or look[1] == "waits"
        or plan.rows.width - 3 < text_width("00", size)
        or plan.turn_box(places[0]).height < size
    ):
        return []
    at = [(box.middle_x, baseline(box.middle_y, size)) for box in map(plan.turn_box, places)]
    return [
        Labels(
            f"race-steps-{'-'.join(look)}", points(*at), tuple(map(str, numbers.values())), size, ink, "middle", meaning="scale"
        )
    ]


def _step_since_barrier(plan: RacePlan, place: int) -> int:
    """Return the number of a step since the barrier, from 1; the barrier itself is not counted."""
    case, turn = plan.case, plan.case.turns[place]
    first = next(each for each in case.turns[case.begin :] if each.unit == turn.unit)
    return turn.step - first.step + bool(first.array)


def _turn_tips(plan: RacePlan) -> np.ndarray[tuple[int, int], np.dtype[np.str_]]:
    tips, one = np.full((len(plan.units), plan.columns), "", "<U120"), plan.case.kind[:-1]
    for place in plan.shown:
        turn = plan.case.turns[place]
        value = "" if turn.value is None else f"\n{turn.value:.4g}"
        text = tr(
            "{one} {unit}, step {number}\n{action}, line {line}{value}",
            one=tr(one),
            unit=turn.unit,
            number=_step_since_barrier(plan, place),
            action=action_text(turn),
            line=turn.line,
            value=value,
        )
        tips[plan.units.index(turn.unit), plan.column(place)] = text
    return tips


def _racing_pair(plan: RacePlan) -> list[Primitive]:
    """Draw frames around the accesses of the pair that have happened, and the arrow from the write to the read as far as it has
    come.
    """
    pair = pair_of(plan.case)
    if pair is None:
        return []
    theme = plan.options.theme
    frames = [plan.turn_box(place).inset(-_FRAME) for place in pair if place < plan.played]
    drawn: list[Primitive] = [Rects("race-pair", boxes(*frames), None, theme.warning, 3.5, 6.0)] if frames else []
    if plan.arrow > 0:
        begin, stop = _ends(*(plan.turn_box(place) for place in pair))
        tip = begin + (stop - begin) * plan.arrow
        drawn.append(arrow("race-arrow", _point(begin), _point(tip), theme.warning, 5.0, _ARROW_HEAD, 0.48))
    return drawn


def _point(at: Floats) -> Point:
    x, y = at.tolist()
    return x, y


def _ends(one: Box, other: Box) -> tuple[Floats, Floats]:
    """Return the points at which an arrow leaves one box and arrives at another: at the sides that face each other."""
    ends = np.array([one.middle, other.middle])
    way = ends[1] - ends[0]
    axis = int(abs(way[1]) > abs(way[0]))
    for end, box, sign in ((ends[0], one, 1.0), (ends[1], other, -1.0)):
        end[axis] += sign * np.sign(way[axis]) * (box[2 + axis] / 2 + _FRAME + 2)
    return ends[0], ends[1]


def _race_legend(plan: RacePlan) -> list[Primitive]:
    """Draw what outlines and fills mean."""
    case, theme, size = plan.case, plan.options.theme, plan.options.theme.type.least
    kinds = {_turn_look(case.turns[place], case, {})[1] for place in plan.shown}
    meanings = {"reads": tr("reads"), "writes": tr("writes"), "waits": tr("waits"), "wrong": tr("reads a wrong value")}
    entries = [([_turn_colours(("", access), theme)], words) for access, words in meanings.items() if access in kinds]
    room = Box(plan.rows.x, plan.legend_y - size, plan.left.right - plan.rows.x, 0.0)
    return [*swatches("race-legend", room, entries, size, theme.faint)]


def action_text(turn: Turn) -> str:
    """Return what a turn does, such as "read A[0, 0]"."""
    match turn.action:
        case "read":
            return tr("read {what}", what=turn.what)
        case "write":
            return tr("write {what}", what=turn.what)
    return tr("wait")


# The result of a block in lockstep, and in the order of a race: wrong elements come last, in red, with their right value.

_MOST_SIDE, _LARGEST_RESULT, _AROUND_RESULT = 16, 130.0, 3.9  # cells; units; lines of text above and below a result


def right_result(plan: RacePlan) -> list[Primitive]:
    """Draw the result in lockstep."""
    words = tr("{result} in lockstep", result=plan.case.result)
    return _drawn_result(plan, 0, words, np.ones(_result_shape(plan), bool))


def bad_result(plan: RacePlan) -> list[Primitive]:
    """Draw the result in this order as far as it has come, and the first wrong element in words; nothing for lockstep."""
    if plan.case.ahead < 0:
        return []
    case, theme, share = plan.case, plan.options.theme, plan.result
    bad, words = case.spoilt[:_MOST_SIDE, :_MOST_SIDE], tr("{result} in this order", result=case.result)
    if share > 0:
        words += tr(": {count} wrong", count=spaced(int(case.spoilt.sum())))
    drawn = _drawn_result(plan, 1, words, ~bad & (share > 0))
    if not (share > 0 and bad.any()):
        return drawn
    table, size = _result_table(plan, 1), _result_size(plan)
    middle = table.middle(*np.nonzero(bad))
    drawn.append(Rects("result-wrong", boxes_around(middle, table.cell * share), theme.warning, theme.background))
    if share >= 1 and size:
        texts = tuple(f"{value:.3g}" for value in case.wrong[:_MOST_SIDE, :_MOST_SIDE][bad].tolist())
        at = np.add(middle, (0.0, baseline(0.0, size)))
        drawn.append(Labels("result-wrong-values", at, texts, size, theme.ink_on(theme.warning), "middle"))
    return [*drawn, _first_wrong(plan, table)] if share >= 1 else drawn


def _first_wrong(plan: RacePlan, table: CellGrid) -> Labels:
    """Write the first wrong element with both values below the table."""
    case, size = plan.case, plan.options.theme.type.words
    row, column = np.argwhere(case.spoilt)[0].tolist()
    name = plan.options.labels.element(case.result, case.corner[0] + row, case.corner[1] + column)
    wrong, right = (f"{each[row, column]:.3g}" for each in (case.wrong, case.right))
    words = tr("{name} is {wrong}, right is {right}", name=name, wrong=wrong, right=right)
    at = table.x, table.bottom + 1.5 * size
    return text_line("result-first", at, words, size, plan.results.width, plan.options.theme.text)


def _result_shape(plan: RacePlan) -> tuple[int, int]:
    rows, columns = (min(each, _MOST_SIDE) for each in plan.case.right.shape)
    return rows, columns


def _result_table(plan: RacePlan, number: int) -> CellGrid:
    """Return the place of one of the two results, below a line of text."""
    line = plan.options.theme.type.words
    room = plan.results.grid(2, 1)[number].trimmed(bottom=(_AROUND_RESULT - _HEAD_LINE) * line)
    return cells_side_by_side({0: _result_shape(plan)}, room, _HEAD_LINE * line, 0.0, _LARGEST_RESULT)[0]


def _drawn_result(plan: RacePlan, number: int, words: str, is_shown: Bools) -> list[Primitive]:
    """Draw one of the two results with its heading."""
    case, theme, (rows, columns), table = plan.case, plan.options.theme, _result_shape(plan), _result_table(plan, number)
    size, values = theme.type.words, (case.wrong if number else case.right)[:rows, :columns]
    part = "" if case.right.shape == values.shape else tr(", first {rows} × {columns}", rows=rows, columns=columns)
    at = table.x, table.y - (_HEAD_LINE - 1.0) * size
    heading = text_line(f"result-{number}-name", at, words + part, size, plan.results.width, theme.text, "semibold")
    is_shown = is_shown & ~np.isnan(values)
    texts = np.where(is_shown, np.array([[f"{value:.3g}" for value in row] for row in values.tolist()]), "")
    palette, inner = (theme.empty, theme.tint("C", PHASE)), _result_size(plan)
    fill, inks = is_shown.astype(np.uint8), tuple(map(theme.ink_on, palette))
    return [heading, cells_in(f"result-{number}", table.box, fill, palette, theme.background, inks, None, texts, inner)]


def _result_size(plan: RacePlan) -> float:
    """Return the size of the values in the cells; 0 if they don't fit."""
    case, theme, cell = plan.case, plan.options.theme, _result_table(plan, 0).cell
    values = np.concatenate([each[:_MOST_SIDE, :_MOST_SIDE].ravel() for each in (case.right, case.wrong)])
    longest = max((text_width(f"{value:.3g}", 1.0) for value in values[~np.isnan(values)].tolist()), default=1.0)
    size = min(theme.type.words, 0.5 * cell, (cell - 8) / longest)
    return size if size >= theme.type.least else 0.0


# The tiles of a race while they are filled: each cell lights up when it is touched, and the one in which two accesses race
# turns red.

_EMPTY, _BEFORE, _HELD, _NOW, _RACING = range(5)
_MOST_TILES, _TILE_GAP, _LARGEST_TILE_CELL, _LABELLED = 3, 40.0, 150.0, 3


def race_tiles(plan: RacePlan) -> list[Primitive]:
    """Draw the tiles as they are after the turns that have happened."""
    case, theme, room = plan.case, plan.options.theme, plan.tiles
    if case.pair is None or not case.tiles:
        return []
    chosen = sorted(case.tiles, key=lambda tile: tile[0] != _racing(case))[:_MOST_TILES]
    shapes = {name: _flat_shape(shape) for name, shape in case.tiles if (name, shape) in chosen}
    room = room.trimmed(left=plan.rows.x - room.x)
    tables = cells_side_by_side(shapes, room, _HEAD_LINE * theme.type.name, _TILE_GAP, _LARGEST_TILE_CELL)
    sources, size, drawn = tile_sources(case), theme.type.words, list[Primitive]()
    for name, table in tables.items():
        fill, texts = _content(plan, name, shapes[name])
        palette = _tile_colours(theme, sources.get(name, ""))
        longest = max((text_width(each, size) for each in texts.ravel().tolist()), default=0.0)
        fits = table.cell >= _LABELLED * size and longest <= table.cell - 8
        ink = theme.accent(sources[name]) if name in sources else theme.text
        inks, at = tuple(map(theme.ink_on, palette)), (table.x, table.y - 10)
        drawn += [
            cells_in(f"race-{name}", table.box, fill, palette, theme.background, inks, None, texts, size if fits else 0.0),
            Rects(f"race-{name}-frame", boxes(table.box), None, theme.line, 1.5),
            text_at(f"race-{name}-name", at, name, theme.type.name, ink, "start", "semibold"),
        ]
    return drawn


def _tile_colours(theme: Theme, source: str) -> tuple[str, ...]:
    if not source:
        return theme.empty, theme.empty, theme.line, theme.faint, theme.warning
    return theme.empty, *(theme.tint(source, share) for share in (REST, PHASE, NOW)), theme.warning


def _flat_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns of an array: those of its last two dimensions, one below the other."""
    return (int(np.prod(shape[:-1])), shape[-1]) if shape else (1, 1)


def _racing(case: RaceCase) -> str:
    """Return the name of the array in which the pair meets."""
    return "" if case.pair is None else case.turns[case.pair[0]].array


def _content(plan: RacePlan, name: str, shape: tuple[int, int]) -> tuple[Bytes, Strings]:
    """Return the state and the value of each cell: values are known where single threads store them."""
    case, count = plan.case, shape[0] * shape[1]
    state, texts = np.full(count, _EMPTY, np.uint8), np.full(count, "", "<U12")
    for place in range(plan.played):
        turn = case.turns[place]
        if turn.array == name and turn.action == "write":
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
