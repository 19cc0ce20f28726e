"""The warp slots of a multiprocessor as a tray, and the blocks that drop into it, each a piece as long as its warps."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.models import WARPS, OccupancyLimits
from gemmviz.model.translation import many, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, boxes
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import eased

_COLUMNS, _GAP = 16, 2.5
_WIDE, _HIGH = 96.0, 84.0  # of the largest slot
_FALL = 0.3  # share of the motion that one block takes to land, or more if there are few
_SHADES = (1.0, 0.62)  # of the load's colour, in turn, so that neighbouring blocks are told apart

_Run = tuple[int, int, int]


class Tray(Struct, frozen=True):
    """``slots`` in rows of ``columns`` from (x, y), each ``cell`` wide and ``pitch`` high. The lowest row is filled first."""

    x: float
    y: float
    cell: float
    pitch: float
    slots: int
    columns: int

    @classmethod
    def within(cls, room: Box, slots: int) -> "Tray":
        """Return the largest tray that fits."""
        columns = min(_COLUMNS, slots)
        wide, high = min(room.width / columns, _WIDE), min(room.height / -(-slots // columns), _HIGH)
        return cls(room.x, room.y, wide, high, slots, columns)

    @property
    def rows(self) -> int:
        return -(-self.slots // self.columns)

    @property
    def box(self) -> Box:
        return Box(self.x, self.y, self.columns * self.cell, self.rows * self.pitch)

    def runs(self, first: int, count: int) -> list[_Run]:
        """Return the runs of slots in a row that ``count`` slots from ``first`` on take: row from below, column, length."""
        found, last = [], min(first + count, self.slots)
        while first < last:
            row, column = divmod(first, self.columns)
            length = min(self.columns - column, last - first)
            found.append((row, column, length))
            first += length
        return found

    def box_of(self, run: _Run, above: float = 0.0) -> tuple[float, float, float, float]:
        """Return the rectangle of a run, ``above`` rows higher than its place."""
        row, column, length = run
        y = self.y + (self.rows - 1 - row - above) * self.pitch
        return self.x + column * self.cell + _GAP, y + _GAP, length * self.cell - 2 * _GAP, self.pitch - 2 * _GAP


def empty_tray(tray: Tray, theme: Theme) -> list[Primitive]:
    """Draw all slots, empty."""
    fill = np.zeros((tray.rows, tray.columns), np.uint8)
    spare = tray.rows * tray.columns - tray.slots
    fill[0, tray.columns - spare :] = 1 if spare else 0
    palette = (theme.empty, theme.background)
    inks = (theme.faint, theme.faint)
    ground = theme.background
    return [Cells("slots", tray.x, tray.y, tray.cell, fill, palette, inks, line=ground, height=tray.pitch, meaning="slots")]


def empty_name(tray: Tray, taken: int, theme: Theme) -> list[Primitive]:
    """Draw how many slots stay empty, in the longest run of those; nothing if all are taken or it doesn't fit."""
    runs, size = tray.runs(taken, tray.slots - taken), theme.type.least
    if not runs:
        return []
    x, y, wide, high = tray.box_of(max(runs, key=lambda run: (run[2], run[0])))
    text = tr("{free} of {slots} slots stay empty", free=tray.slots - taken, slots=tray.slots)
    if text_width(text, size) + 16 > wide or 1.3 * size > high:
        return []
    half = text_width(text, size) / 2 + 8
    ground = Rects("empty-ground", boxes((x + wide / 2 - half, y + 3, 2 * half, high - 6)), theme.empty)
    at = (x + wide / 2, baseline(y + high / 2, size))
    return [ground, text_at("empty-name", at, text, size, theme.text, "middle")]


def landed(moment: float, blocks: int) -> list[float]:
    """Return how far each block has fallen at a moment: 0 before it appears, 1 once it lies. Blocks fall one after another."""
    fall = max(_FALL, 1.0 / max(1, blocks))
    starts = [(1.0 - fall) * number / max(1, blocks - 1) for number in range(blocks)]
    return [min(1.0, max(0.0, (moment - start) / fall)) if moment < 1.0 else 1.0 for start in starts]


def count_landed(moment: float, blocks: int) -> int:
    """Return the number of blocks that lie at a moment."""
    return sum(share >= 1.0 for share in landed(moment, blocks))


def block_colour(number: int, theme: Theme) -> str:
    """Return the colour of a block by its number."""
    return theme.loaded(_SHADES[number % len(_SHADES)])


def block_pieces(tray: Tray, blocks: int, warps: int, moment: float, theme: Theme) -> list[Primitive]:
    """Draw the blocks at a moment of their fall, ``warps`` slots each, numbered where a number fits."""
    primitives: list[Primitive] = []
    texts = _names(tray, blocks, warps, theme)
    for number, share in enumerate(landed(moment, blocks)):
        if share <= 0:
            continue
        runs = tray.runs(number * warps, warps)
        above = (1.0 - float(eased(share))) * (tray.rows - runs[0][0])
        placed = [(run, tray.box_of(run, above)) for run in runs]
        placed = [(run, part) for run, part in placed if part[1] > tray.y - tray.pitch]  # others are above the heading
        if not placed:
            continue
        parts = [part for _, part in placed]
        primitives.append(Rects(f"block-{number}", boxes(*parts), block_colour(number, theme), radius=4.0))
        seams = [
            (x + place * tray.cell - _GAP - 0.75, y + 4, 1.5, high - 8)
            for (_, _, length), (x, y, _, high) in placed
            for place in range(1, length)
        ]
        if seams:
            primitives.append(Rects(f"block-{number}-warps", boxes(*seams), theme.background))
        if texts and min(part[1] for part in parts) >= tray.y:  # a piece that comes from above the tray has no name yet
            colour, longest = block_colour(number, theme), max(parts, key=lambda part: part[2])
            primitives += _name(f"block-{number}-name", texts[number], longest, colour, theme)
    return primitives


def _names(tray: Tray, blocks: int, warps: int, theme: Theme) -> list[str]:
    """Return the name of each block, all in the longest form that fits every one of them; nothing if none does."""
    size = theme.type.least
    longest = [max(length for _, _, length in tray.runs(number * warps, warps)) * tray.cell for number in range(blocks)]
    for form in (tr("block {}"), "{}"):
        texts = [form.format(number) for number in range(blocks)]
        widths = (text_width(text, size, "semibold") + 16 for text in texts)
        if tray.pitch >= 1.3 * size and all(wide <= room for wide, room in zip(widths, longest, strict=True)):
            return texts
    return []


def _name(key: str, text: str, part: tuple[float, float, float, float], colour: str, theme: Theme) -> list[Primitive]:
    """Draw the name of a block in the middle of its longest run, over the seams between its warps."""
    (x, y, wide, high), size = part, theme.type.least
    half = text_width(text, size, "semibold") / 2 + 6
    ground = boxes((x + wide / 2 - half, y + 3, 2 * half, high - 6))
    at = (x + wide / 2, baseline(y + high / 2, size))
    ink = theme.ink_on(colour)
    return [Rects(f"{key}-ground", ground, colour), text_at(key, at, text, size, ink, "middle", "semibold")]


# The first block that a multiprocessor has no room for: it falls towards the free warp slots, shows which of its warps find
# none, and goes back.

_BEGINS, _STAYS, _LEAVES = 0.45, 0.68, 0.9  # shares of the motion: the blocks that fit have landed; it lies; it goes back
_APART = 10.0  # between the tray and the warps without a slot


class TurnedAway(Struct, frozen=True):
    """A block of ``warps``, the ``number``-th, that finds only ``free`` slots."""

    number: int
    warps: int
    free: int

    @classmethod
    def of(cls, limits: OccupancyLimits) -> "TurnedAway | None":
        """Return the block after those that an SM holds; None if warps don't limit, or no slot is free."""
        uses, blocks = limits.uses[WARPS], limits.blocks_per_sm
        if WARPS not in limits.limiting or uses is None or not blocks:
            return None
        free = uses[1] - blocks * uses[0]
        return cls(blocks, uses[0], free) if 0 < free < uses[0] else None

    @staticmethod
    def before(moment: float) -> float:
        """Return the share of the fall of the other blocks that has passed at a moment."""
        return min(1.0, moment / _BEGINS)

    def pieces(self, tray: Tray, beside: Box, moment: float, theme: Theme) -> list[Primitive]:
        """Draw the block at a moment; ``beside``: where its warps without a slot may lie, at the right of the tray."""
        if not _BEGINS < moment < 1.0:
            return []
        share = float(eased(np.interp(moment, (_BEGINS, _STAYS, _LEAVES, 1.0), (0.0, 1.0, 1.0, 0.0))))
        first = self.number * self.warps
        above = (1.0 - share) * (tray.rows - first // tray.columns)
        slots = [(row, column + n, 1) for row, column, length in tray.runs(first, self.free) for n in range(length)]
        found = [box for box in (tray.box_of(slot, above) for slot in slots) if box[1] > tray.y - tray.pitch]
        lacking = self._lacking(tray, beside, above)
        pieces: list[Primitive] = [
            Rects("next-block", boxes(*found), block_colour(self.number, theme), radius=4.0),
            Rects("next-lacking", boxes(*lacking), theme.warning, radius=4.0),
        ]
        return [*pieces, *self._name(lacking, beside, theme)] if _STAYS <= moment <= _LEAVES else pieces

    def _lacking(self, tray: Tray, beside: Box, above: float) -> list[tuple[float, float, float, float]]:
        """Return the boxes of the warps without a slot, as large as slots, in rows at the right of the tray."""
        _, top, wide, high = tray.box_of((tray.rows - 1, 0, 1))
        left = tray.box.right + _APART
        across = max(1, int((beside.right - left) // tray.cell))
        places = [divmod(n, across) for n in range(self.warps - self.free)]
        top = max(top, beside.y)
        drawn = [(left + column * tray.cell, top + (row - above) * tray.pitch, wide, high) for row, column in places]
        return [box for box in drawn if box[1] >= top - 0.5 * tray.pitch]

    def _name(self, lacking: list[tuple[float, float, float, float]], beside: Box, theme: Theme) -> list[Primitive]:
        """Draw how many warps have no slot: after the last one, or below it if there is no room."""
        text, size = tr("{warps} too many", warps=many(self.warps - self.free, "warp")), theme.type.words
        x, y, wide, high = lacking[-1]
        at = (x + wide + 16, baseline(y + high / 2, size))
        if at[0] + text_width(text, size, "semibold") > beside.right:
            at = (lacking[0][0], y + high + 1.1 * size)
        return [text_at("next-lacking-name", at, text, size, theme.legible(theme.warning), "start", "semibold")]
