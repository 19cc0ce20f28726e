"""A listing on a sheet of a frame: its lines in rows of letters, with the highlighted ones drawn over them as they appear.

A line that is too long continues in further rows. If not all rows fit, those around the highlighted lines are shown, and it is
said how many lines are left out.
"""

from itertools import chain, pairwise

import numpy as np
from msgspec import Struct

from gemmviz.model.cases import Listing, Stop
from gemmviz.model.kernel import BLANK
from gemmviz.model.translation import sized, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.kit.theme import Theme, mixed
from gemmviz.scenes.kit.view import ViewOptions, eased_from

LEADING, INSET = 1.28, 18.0
MORE_ROWS = 0.25  # of the lines, that may be continued for the sake of larger text
_LARGEST, _HANGING = 32.0, 4
_PAD, _EDGE = 4.0, 2.0  # above and below the rows; beside a part that is highlighted

# The line of a listing at which a run ended early: a mark that goes down to it from the first line, and the reason.

_MARK = 6.0
_OVER = 0.6  # by which the grounds of neighbouring rows overlap, so that no seam is seen between them
_ONE = 0.45  # share of the motion in which one line lights up
_RENAMED = 0.45  # strength of the highlight of a line that differs in names alone


def listing_size(listings: tuple[Listing, ...], width: float, height: float, least: float, more: float) -> float:
    """Return the largest text size, from the ``least`` on, at which all rows fit; ``more``: the rows for each line
    by which there may be more of them than at that size, because longer lines are continued.
    """

    def rows(size: float) -> list[int]:
        most = int((width - 2 * INSET) / text_width("0", size, "mono"))
        return [len(_rows(each, most)) for each in listings]

    room = (height - 2 * _PAD) / LEADING
    limits = [count + more * len(each.lines) for count, each in zip(rows(least), listings, strict=True)]
    sizes = np.arange(_LARGEST, least, -0.5).tolist()
    return next((size for size in sizes if all(n * size <= room and n <= most
                 for n, most in zip(rows(size), limits, strict=True))), least)  # fmt: skip


class _Row(Struct, frozen=True):
    """One row: the index of its line, and the part of the line that it shows from ``start`` on, ``indent`` letters to the
    right, with its middle at ``y``.
    """

    line: int
    text: str
    start: int = 0
    indent: int = 0
    y: float = 0.0

    def part(self, first: int, last: int) -> "_Row":
        """Return the part between two of its letters."""
        return _Row(self.line, self.text[first:last], self.start + first, self.indent + first, self.y)


class Sheet(Struct, frozen=True):
    """The shown ``rows`` of a listing in a box, with text of ``size``. ``key`` begins the keys of its primitives."""

    key: str
    listing: Listing
    box: Box
    size: float
    rows: tuple[_Row, ...]

    @classmethod
    def of(cls, key: str, each: Listing, room: Box, size: float) -> "Sheet":
        """Return the sheet from the upper edge of a room on, as wide as the room and as high as its rows."""
        leading, advance = LEADING * size, text_width("0", size, "mono")
        rows = _rows(each, int((room.width - 2 * INSET) / advance))
        first, count = _window(rows, each, int((room.height - 8) / leading))
        above, below = first > 0, first + count < len(rows)
        top = room.y + 4 + above * leading
        shown = tuple(
            _Row(row.line, row.text, row.start, row.indent, top + (number + 0.5) * leading)
            for number, row in enumerate(rows[first : first + count])
        )
        return cls(key, each, Box(room.x, room.y, room.width, (count + above + below) * leading + 8), size, shown)

    @property
    def middles(self) -> dict[int, float]:
        """The middle of the first row of each line that is shown."""
        return {row.line: row.y for row in reversed(self.rows)}

    @property
    def _leading(self) -> float:
        return LEADING * self.size

    def still(self, theme: Theme) -> list[Primitive]:
        """Draw the sheet without its highlighted lines."""
        box, rows = self.box, [row for row in self.rows if row.line not in self.listing.lit]
        ink = theme.faint if self.listing.lit else theme.text
        pieces: list[Primitive] = [Rects(f"{self.key}-panel", boxes(box), theme.panel, radius=8)]
        pieces += self._blanks(rows, theme)
        if rows:
            pieces.append(self._text(f"{self.key}-{'others' if self.listing.lit else 'lines'}", rows, ink))
        return [*pieces, *self._left_out(theme)]

    def lit(self, moment: float, is_new: bool, theme: Theme) -> list[Primitive]:
        """Draw the highlighted lines at a moment: one after another, from left to right. ``is_new``: whether they are absent
        until then, and appear letter by letter.
        """
        lines = sorted({row.line for row in self.rows} & self.listing.lit)
        shares = dict(zip(lines, _shares(moment, len(lines)), strict=True))
        pieces: list[Primitive] = []
        for name, is_renamed in (("renamed", True), ("lit", False)):
            own = [row for row in self.rows if row.line in shares and (row.line in self.listing.renamed) == is_renamed]
            pieces += self._bars(name, own, shares, theme)
        own = [row for row in self.rows if row.line in shares]
        pieces += self._blanks([row for row in own if shares[row.line] > 0], theme)
        for place, row in enumerate(own):
            share, (parts, between) = shares[row.line], self._parts_of(row)
            strong = mixed(theme.faint, theme.text, share * (_RENAMED if row.line in self.listing.renamed else 1.0))
            if is_new:
                parts = [row.part(0, round(share * len(row.text)))]
            for key, own_parts, ink in (("lines", parts, strong), ("others", between, theme.faint)):
                if shown := [part for part in own_parts if part.text.strip()]:
                    pieces.append(self._text(f"{self.key}-{place}-{key}", shown, ink))
        return pieces

    def _parts_of(self, row: _Row) -> tuple[list[_Row], list[_Row]]:
        """Return the parts of a highlighted row that are highlighted, and those between them."""
        parts, length = [part for part in self.listing.parts if part[0] == row.line], len(row.text)
        if not parts:
            return [row], []
        found = [(a - row.start, b - row.start) for _, a, b in parts if a - row.start <= length and b >= row.start]
        ends = [(max(0, a), min(length, b)) for a, b in found]
        gaps = pairwise([0, *chain.from_iterable(ends), length])
        return [row.part(*each) for each in ends], [row.part(a, b) for number, (a, b) in enumerate(gaps) if number % 2 == 0]

    def unwritten(self, moment: float, theme: Theme) -> list[Primitive]:
        """Draw covers over what isn't written yet at a moment: lines appear from above, one after another, from left to
        right.
        """
        rows = [row for row in self.rows if row.text.strip()]
        wide, leading = self.box.width - 2 * _MARK, self._leading
        along = moment * len(rows)
        covers = []
        for place, row in enumerate(rows):
            written = INSET + text_width(row.text, self.size, "mono") + row.indent * text_width("0", self.size, "mono")
            left = written * min(1.0, max(0.0, along - place)) if along < place + 1 else wide
            covers.append((self.box.x + _MARK + left, row.y - leading / 2, wide - left, leading + _OVER))
        some = [cover for cover in covers if cover[2] > 0]
        return [Rects(f"{self.key}-unwritten", boxes(*some), theme.panel)] if some else []

    def _bars(self, name: str, rows: list[_Row], shares: dict[int, float], theme: Theme) -> list[Primitive]:
        """Draw the grounds of highlighted rows or of their highlighted parts, each as long as its share, and marks at those
        that do something else.
        """
        box, leading, advance = self.box, self._leading, text_width("0", self.size, "mono")
        begun, bars = [row for row in rows if shares[row.line] > 0], list[tuple[float, float, float, float]]()
        for row in begun:
            for part in self._parts_of(row)[0]:
                left, wide = box.x + INSET + part.indent * advance - _EDGE, len(part.text) * advance + 2 * _EDGE
                left, wide = (box.x, box.width) if part == row else (left, wide)
                bars.append((left, row.y - leading / 2, wide * shares[row.line], leading + _OVER))
        if not begun:
            return []
        strength = _RENAMED if name == "renamed" else 1.0
        pieces: list[Primitive] = [Rects(f"{self.key}-{name}", boxes(*bars), mixed(theme.panel, theme.line, strength))]
        if name == "lit":
            marks = [(box.x, row.y - leading / 2, _MARK, leading + _OVER) for row in begun]
            pieces.append(Rects(f"{self.key}-marks", boxes(*marks), theme.text))
        return pieces

    def _text(self, key: str, rows: list[_Row], ink: str) -> Labels:
        advance = text_width("0", self.size, "mono")
        at = points(*((self.box.x + INSET + row.indent * advance, baseline(row.y, self.size)) for row in rows))
        return Labels(key, at, tuple(BLANK.sub("  ?  ", row.text) for row in rows), self.size, ink, "start", "mono", "source")

    def _blanks(self, rows: list[_Row], theme: Theme) -> list[Primitive]:
        """Draw frames around the blanks of an exercise."""
        advance, leading, left = text_width("0", self.size, "mono"), self._leading, self.box.x + INSET
        frames = [
            (left + (row.indent + hole.start()) * advance, row.y - 0.5 * leading + 2,
             (hole.end() - hole.start()) * advance, leading - 4)
            for row in rows for hole in BLANK.finditer(row.text)
        ]  # fmt: skip
        return [Rects(f"{self.key}-blanks", np.array(frames), theme.line, theme.text, 2.0, 4.0)] if frames else []

    def _left_out(self, theme: Theme) -> list[Primitive]:
        """Say how many lines are above and below the shown ones."""
        above, below = self.rows[0].line, len(self.listing.lines) - 1 - self.rows[-1].line
        leading, size, pieces = self._leading, theme.type.note, list[Primitive]()
        top, end = self.box.y + 4, self.box.bottom - 4 - self._leading
        for name, count, y in (("above", above, top), ("below", below, end)):
            if count:
                at = (self.box.x + INSET, baseline(y + 0.5 * leading, size))
                pieces.append(text_at(f"{self.key}-{name}", at, f"⋮ {_beyond(name, count)}", size, theme.faint))
        return pieces


def _beyond(where: str, count: int) -> str:
    """Return how many lines are above or below the shown ones."""
    lines = sized(count, "line")
    return tr("{lines} above", lines=lines) if where == "above" else tr("{lines} below", lines=lines)


def _shares(moment: float, count: int) -> list[float]:
    """Return how much of each highlighted line has appeared, one after another."""
    starts = [(1.0 - _ONE) * number / max(1, count - 1) for number in range(count)]
    return [eased_from(moment, start, _ONE) if moment < 1.0 else 1.0 for start in starts]


def _rows(each: Listing, most: int) -> list[_Row]:
    """Return the rows of all lines: a line of more than ``most`` letters continues in further rows, indented."""
    rows: list[_Row] = []
    for place, line in enumerate(each.lines):
        start, indent = 0, 0
        hanging = len(line) - len(line.lstrip()) + _HANGING
        while len(line) - start > most - indent > _HANGING:
            stop = line.rfind(" ", start + 1, start + most - indent)
            stop = stop if stop > start and line[start:stop].strip() else start + most - indent
            rows.append(_Row(place, line[start:stop], start, indent))
            start = stop + len(line[stop:]) - len(line[stop:].lstrip())
            indent = min(hanging, most // 2)
        rows.append(_Row(place, line[start:], start, indent))
    return rows


def _window(rows: list[_Row], each: Listing, count: int) -> tuple[int, int]:
    """Return the first row and the number of rows to show: all, or those around the first highlighted lines, or else those with
    most of them if these are more than twice as many. A row is left for each end where something is left out.
    """
    if len(rows) <= count:
        return 0, len(rows)
    lit = [number for number, row in enumerate(rows) if row.line in each.lit] or [0]
    room = max(1, count - 1)
    first = max(0, (lit[0] + min(lit[-1], lit[0] + room - 1)) // 2 - room // 2)
    shown = [sum(at <= number < at + room for number in lit) for at in range(len(rows) - room + 1)]
    first = first if 2 * shown[min(first, len(shown) - 1)] >= max(shown) else shown.index(max(shown))
    if first <= 0:
        return 0, room
    return (len(rows) - room, room) if first + room >= len(rows) else (first, max(1, room - 1))


_GAP = 20.0
_LEAST_BESIDE = 240.0


def stop_line(stop: Stop, sheet: Sheet, options: ViewOptions) -> list[Primitive]:
    """Draw the mark at ``options.moment`` and, once it has arrived, why the run ended."""
    theme, box, leading = options.theme, sheet.box, LEADING * sheet.size
    if stop.line not in sheet.middles:
        return []
    first, last = min(sheet.middles.values()), sheet.middles[stop.line]
    y = first + (last - first) * options.way
    mark = boxes((box.x, y - leading / 2, _MARK, leading))
    if not options.arrived:
        return [Rects("stop-mark", mark, theme.text, radius=3.0)]
    frame = boxes((box.x, y - leading / 2, box.width, leading))
    end = INSET + text_width(sheet.listing.lines[stop.line], sheet.size, "mono")
    room, size = box.width - end - 2 * _GAP, theme.type.words
    pieces: list[Primitive] = [
        Rects("stop-line", frame, None, theme.warning, 3.0, 4.0), Rects("stop-mark", mark, theme.warning)
    ]  # fmt: skip
    if room < _LEAST_BESIDE:
        return pieces
    at = box.x + end + _GAP, baseline(y, size)
    return [*pieces, text_line("stop-why", at, tr("the run stops: {why}", why=stop.why), size, room, theme.warning, "semibold")]
