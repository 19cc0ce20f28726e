"""The layout of a race in its frame, the turns that are shown of it, and what of it has happened at a moment of its motion."""

from functools import cached_property

from msgspec import Struct

from gemmviz.model.race import RaceCase, Turn
from gemmviz.scenes.kit.frame import ARRIVAL, MARGIN, ViewOptions, eased_from
from gemmviz.scenes.kit.layout import Box
from gemmviz.scenes.kit.text import text_width

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
        room = self.options.width - 2 * MARGIN
        return Box(MARGIN, _TOP, _LEFT * room, self.options.height - _TOP - _BOTTOM)

    @property
    def results(self) -> Box:
        left = self.left
        x = left.right + _GAP
        return Box(x, _TOP, self.options.width - MARGIN - x, left.height)

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


def writes(turn: Turn) -> bool:
    """Whether a turn stores something."""
    return turn.action.startswith("write")


def pair_of(case: RaceCase) -> tuple[int, int] | None:
    """Return the places of the racing pair, the write first; None if there is none. Of two writes, the first."""
    if case.pair is None:
        return None
    one, other = case.pair
    return (one, other) if writes(case.turns[one]) else (other, one)


def tile_sources(case: RaceCase) -> dict[str, str]:
    """Return the matrix whose elements each tile holds: what its first writer read from global memory just before."""
    sources: dict[str, str] = {}
    tiles, last = {name for name, _ in case.tiles}, dict[int, str]()
    for turn in case.turns:
        if turn.array in tiles and writes(turn):
            sources.setdefault(turn.array, last.get(turn.unit, ""))
        elif turn.array and turn.array not in tiles and not writes(turn):
            last[turn.unit] = turn.array
    return {tile: source for tile, source in sources.items() if source}
