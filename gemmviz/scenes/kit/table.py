"""Tables of text, as large as their space allows; and listings on a sheet of a frame."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from math import inf
from operator import attrgetter

import numpy as np
from msgspec import Struct, structs

from gemmviz.model.cases import Listing, Stop
from gemmviz.model.kernel import BLANK
from gemmviz.model.messages import marked, sized, tr
from gemmviz.scenes.kit.layout import Box, baseline, text_at
from gemmviz.scenes.kit.primitives import (
    ANCHORED,
    ArrayCells,
    Button,
    Cells,
    Face,
    Hit,
    Labels,
    Part,
    Primitive,
    Rects,
    Scene,
    Squares,
    boxes,
    fitted,
    points,
    text_line,
    text_width,
)
from gemmviz.scenes.kit.theme import Theme, TypeSizes, mixed
from gemmviz.scenes.kit.view import ViewOptions, eased_from

_SIZES = (34.0, 31.0, 28.0, 26.0, 24.0, 22.0, TypeSizes().least)
_LEADING, _TABLE_PAD, _AIR, _STRETCH = 1.25, 12.0, 0.55, 2.0


class TableCell(Struct, frozen=True):
    """A cell: its text (with line breaks), text colour and fill ("" for the theme's), and its hover text."""

    text: str = ""
    ink: str = ""
    fill: str = ""
    strong: bool = False
    tip: str = ""


def table(
    key: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[TableCell]],
    room: Box,
    theme: Theme,
    largest: float = 34.0,
    stretch: float = _STRETCH,
) -> list[Primitive]:
    """Draw heads above rows, in the largest text size that fits. ``stretch``: how much higher than their text rows may be."""
    size = text_size(heads, rows, room, largest)
    rows = _fitting(heads, rows, room, size)
    natural = _widths(heads, rows, size)
    spare = max(0.0, room.width - sum(natural)) / len(natural)
    widths = [min(each, room.width) + min(spare, 3.0 * size) for each in natural]
    scale = min(1.0, room.width / sum(widths))
    widths = [each * scale for each in widths]
    high = [_height(row, size) for row in rows]
    top = room.y + (_height([TableCell(head) for head in heads], size) if any(heads) else 0.0)
    pitch = max(high, default=0.0)
    if rows:
        pitch = min(pitch * stretch, (room.bottom - top) / len(rows))
    primitives: list[Primitive] = []
    x = room.x
    for place, (head, width) in enumerate(zip(heads, widths, strict=True)):
        if head:
            primitives.append(
                _words(f"{key}-head-{place}", head, x, room.y, top - room.y, width, size, theme.faint, "semibold")
            )
        primitives += _column(key, place, [row[place] for row in rows], (x, top, width, pitch), size, theme)
        x += width
    return primitives


def _fitting(
    heads: Sequence[str], rows: Sequence[Sequence[TableCell]], room: Box, size: float
) -> Sequence[Sequence[TableCell]]:
    """Return as many rows, and lines of each row, as fit."""
    high = room.height - (_height([TableCell(head) for head in heads], size) if any(heads) else 0.0)
    pitch = max((_height(row, size) for row in rows), default=0.0)
    if not rows or pitch * len(rows) <= high:
        return rows
    lines = max(1, int((high / size - _AIR) / _LEADING))
    shorter = [[structs.replace(each, text="\n".join(each.text.split("\n")[:lines])) for each in row] for row in rows]
    pitch = max(_height(row, size) for row in shorter)
    return shorter[: max(1, int(high / pitch))]


def _column(
    table_key: str, place: int, entries: Sequence[TableCell], at: tuple[float, float, float, float], size: float, theme: Theme
) -> list[Primitive]:
    key, (x, y, width, pitch) = f"{table_key}-{place}", at
    if not entries:
        return []
    fills = list(dict.fromkeys([theme.panel, *(entry.fill or theme.panel for entry in entries)]))
    fill = np.array([[fills.index(entry.fill or theme.panel)] for entry in entries], np.uint8)
    tips = np.array([[entry.tip] for entry in entries]) if any(entry.tip for entry in entries) else None
    inks = tuple(theme.ink_on(each) for each in fills)
    primitives: list[Primitive] = [
        Cells(
            key, x, y, width, fill, tuple(fills), inks, line=theme.background, height=pitch, tips=tips,
            meaning=Part("column", place),
        )
    ]  # fmt: skip
    for row, entry in enumerate(entries):
        if entry.text:
            ink = entry.ink or (theme.ink_on(entry.fill) if entry.fill else theme.text)
            face: Face = "semibold" if entry.strong else "regular"
            primitives.append(_words(f"{key}-{row}", entry.text, x, y + row * pitch, pitch, width, size, ink, face))
    return primitives


def _words(key: str, text: str, x: float, y: float, high: float, width: float, size: float, ink: str, face: Face) -> Labels:
    lines = tuple(fitted(line, size, width - _TABLE_PAD, face) for line in text.split("\n"))
    leading = _LEADING * size
    first = y + (high - leading * len(lines)) / 2 + 0.82 * leading
    return Labels(
        key, points(*((x + _TABLE_PAD, first + n * leading) for n in range(len(lines)))), lines, size, ink, "start", face
    )


def text_size(heads: Sequence[str], rows: Sequence[Sequence[TableCell]], room: Box, largest: float = 34.0) -> float:
    """Return the largest text size in which everything fits, else the smallest."""
    sizes = [size for size in _SIZES if size <= largest]
    for size in sizes:
        high = _height([TableCell(head) for head in heads], size) if any(heads) else 0.0
        high += len(rows) * max((_height(row, size) for row in rows), default=0.0)  # all rows are equally high
        if sum(_widths(heads, rows, size)) <= room.width and high <= room.height:
            return size
    return sizes[-1]


def _widths(heads: Sequence[str], rows: Sequence[Sequence[TableCell]], size: float) -> list[float]:
    widths = [_wide(head, size, "semibold") for head in heads]
    for row in rows:
        widths = [
            max(wide, _wide(e.text, size, "semibold" if e.strong else "regular")) for wide, e in zip(widths, row, strict=True)
        ]
    return [wide + 2 * _TABLE_PAD for wide in widths]


def _wide(text: str, size: float, face: Face) -> float:
    return max(text_width(line, size, face) for line in text.split("\n"))


def _height(row: Sequence[TableCell], size: float) -> float:
    return _LEADING * size * max((entry.text.count("\n") + 1 for entry in row), default=1) + _AIR * size


# A picture's texts as lines in reading order, and its tables of cells with a name and a text for each cell.

_COLUMNS_APART = 1.6  # of the size of the text: the least gap between columns
_NOT_READ = ("scale", "lane numbers")  # meanings of texts that tables say better
_STACKED = 1.9  # of the size of the text: baselines of one paragraph are no farther apart
_SORTS = {
    "lanes": marked("lanes"), "banks": marked("banks"), "grid": marked("grid"), "slots": marked("slots"),
    "threads": marked("threads"), "step": marked("link to a step"),
}  # fmt: skip


class _Block(Struct, frozen=True):
    """Lines of text, one below the other, and their box."""

    lines: tuple[str, ...]
    size: float
    left: float
    top: float
    right: float
    bottom: float


def lines_of(scene: Scene) -> tuple[str, ...]:
    """Return the texts of a picture in reading order: rows from top to bottom, columns in them from left to right; short texts
    beside each other are one line. Numbers along axes and texts of cells are left out: the cells are those of ``tables_of``.
    """
    blocks = [block for each in scene.all for block in _blocks(each)]
    return tuple(line for line in _ordered(blocks) if line)


def _blocks(each: Primitive) -> Iterator[_Block]:
    if isinstance(each, Squares) and each.labels is not None:
        for (x, y, side), text in zip(each.boxes.tolist(), each.labels.tolist(), strict=True):
            if text.strip():
                yield _Block((text.strip(),), each.label_size, x, y, x + side, y + side)
    if not isinstance(each, Labels) or each.meaning in _NOT_READ:
        return
    paragraph: list[tuple[float, float, str]] = []
    for (x, y), text in zip(each.at.tolist(), each.texts, strict=True):
        if paragraph and not (x == paragraph[-1][0] and 0 < y - paragraph[-1][1] <= _STACKED * each.size):
            yield _paragraph(each, paragraph)
            paragraph = []
        if text.strip():
            paragraph.append((x, y, text.strip()))
    if paragraph:
        yield _paragraph(each, paragraph)


def _paragraph(labels: Labels, lines: list[tuple[float, float, str]]) -> _Block:
    x, texts = lines[0][0], tuple(text for *_, text in lines)
    width = max(text_width(text, labels.size, labels.face) for text in texts)
    left = x - ANCHORED[labels.anchor] * width
    return _Block(texts, labels.size, left, lines[0][1] - 0.8 * labels.size, left + width, lines[-1][1] + 0.1 * labels.size)


def _ordered(blocks: list[_Block]) -> list[str]:
    """Return the lines of blocks, which are divided at their widest gap, again and again."""
    if len(blocks) < 2:
        return [line for block in blocks for line in block.lines]
    size = min(block.size for block in blocks)
    rows, row_gap = _divided(blocks, attrgetter("top"), attrgetter("bottom"))
    columns, column_gap = _divided(blocks, attrgetter("left"), attrgetter("right"))
    if row_gap > 0:
        return [line for part in rows for line in _ordered(part)]
    if column_gap >= _COLUMNS_APART * size and any(len(each.lines) > 1 or each.top != blocks[0].top for each in blocks):
        return [line for part in columns for line in _ordered(part)]
    beside = sorted(blocks, key=lambda each: (each.left, each.top))
    if all(len(each.lines) == 1 for each in beside):
        return [", ".join(dict.fromkeys(each.lines[0] for each in beside))]
    return [line for each in beside for line in each.lines]


def _divided(
    blocks: list[_Block], start: Callable[[_Block], float], end: Callable[[_Block], float]
) -> tuple[list[list[_Block]], float]:
    """Return the two parts of blocks on both sides of the widest gap along an axis, and that gap; it is negative where the
    parts overlap.
    """
    ahead = sorted(blocks, key=start)
    reach, best, at = end(ahead[0]), -inf, 0
    for place, block in enumerate(ahead[1:], 1):
        if start(block) - reach > best:
            best, at = start(block) - reach, place
        reach = max(reach, end(block))
    return [ahead[:at], ahead[at:]], best


def tables_of(scene: Scene, arrays: Sequence[str] = ()) -> tuple[Cells, ...]:
    """Return the tables of a picture: those of the ``arrays`` in their order, then the others whose cells have texts, from top
    to bottom and left to right.
    """

    def place(cells: Cells) -> tuple[int, float, float]:
        name = _array_name(cells)
        return arrays.index(name) if name in arrays else len(arrays), round(cells.y), cells.x

    found = (each for each in scene.all if isinstance(each, Cells) and each.fill.size and _is_explained(each, arrays))
    return tuple(sorted(found, key=place))


def _is_explained(cells: Cells, arrays: Sequence[str]) -> bool:
    return _array_name(cells) in arrays or any(
        texts is not None and (texts != "").any() for texts in (cells.tips, cells.labels)
    )


def table_name(cells: Cells) -> str:
    """Return the name of a table as text: the name of its array, or what its cells are."""
    what = cells.meaning.action if isinstance(cells.meaning, Button) else cells.meaning
    return _array_name(cells) or (tr(_SORTS[what]) if isinstance(what, str) and what in _SORTS else cells.key.replace("-", " "))


def _array_name(cells: Cells) -> str:
    """Return the name of the array whose elements the cells are, "" for others."""
    return cells.meaning.name if isinstance(cells.meaning, ArrayCells) else ""


def place_text(hit: Hit) -> str:
    """Return the row and the column of a cell in the whole table, counted from 0: "row 3, column 5"; the rows and columns of
    a cell that stands for several.
    """
    side, (row, column) = hit.cells.factor, hit.place
    if side > 1:
        ends = {"last_row": row + side - 1, "last_column": column + side - 1}
        return tr("rows {row} to {last_row}, columns {column} to {last_column}", row=row, column=column, **ends)
    return tr("row {row}, column {column}", row=row, column=column)


def own_text(hit: Hit) -> str:
    """Return what a cell says by itself: its hover text in one line, else its label; "" if it has neither."""
    cells = hit.cells
    if cells.tips is not None and (tip := str(cells.tips[hit.row, hit.column])):
        return "; ".join(filter(None, tip.split("\n")))
    return "" if cells.labels is None else str(cells.labels[hit.row, hit.column])


# A listing on a sheet of a frame: its lines in rows of letters, with the highlighted ones drawn over them as they appear.

LEADING, INSET = 1.28, 18.0
MORE_ROWS = 0.25  # of the lines, that may be continued for the sake of larger text
_LARGEST, _HANGING = 32.0, 4
_LISTING_PAD, _EDGE = 4.0, 2.0  # above and below the rows; beside a part that is highlighted

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
        return [len(_wrapped_rows(each, most)) for each in listings]

    room = (height - 2 * _LISTING_PAD) / LEADING
    limits = [count + more * len(each.lines) for count, each in zip(rows(least), listings, strict=True)]
    sizes = np.arange(_LARGEST, least, -0.5).tolist()
    return next((size for size in sizes if all(n * size <= room and n <= most
                 for n, most in zip(rows(size), limits, strict=True))), least)  # fmt: skip


class _ListingRow(Struct, frozen=True):
    """One row: the index of its line, and the part of the line that it shows from ``start`` on, ``indent`` letters to the
    right, with its middle at ``y``.
    """

    line: int
    text: str
    start: int = 0
    indent: int = 0
    y: float = 0.0

    def part(self, first: int, last: int) -> "_ListingRow":
        """Return the part between two of its letters."""
        return _ListingRow(self.line, self.text[first:last], self.start + first, self.indent + first, self.y)


class Sheet(Struct, frozen=True):
    """The shown ``rows`` of a listing in a box, with text of ``size``. ``key`` begins the keys of its primitives."""

    key: str
    listing: Listing
    box: Box
    size: float
    rows: tuple[_ListingRow, ...]

    @classmethod
    def of(cls, key: str, each: Listing, room: Box, size: float) -> "Sheet":
        """Return the sheet from the upper edge of a room on, as wide as the room and as high as its rows."""
        leading, advance = LEADING * size, text_width("0", size, "mono")
        rows = _wrapped_rows(each, int((room.width - 2 * INSET) / advance))
        first, count = _window(rows, each, int((room.height - 8) / leading))
        above, below = first > 0, first + count < len(rows)
        top = room.y + 4 + above * leading
        shown = tuple(
            _ListingRow(row.line, row.text, row.start, row.indent, top + (number + 0.5) * leading)
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

    def _parts_of(self, row: _ListingRow) -> tuple[list[_ListingRow], list[_ListingRow]]:
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

    def _bars(self, name: str, rows: list[_ListingRow], shares: dict[int, float], theme: Theme) -> list[Primitive]:
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

    def _text(self, key: str, rows: list[_ListingRow], ink: str) -> Labels:
        advance = text_width("0", self.size, "mono")
        at = points(*((self.box.x + INSET + row.indent * advance, baseline(row.y, self.size)) for row in rows))
        return Labels(key, at, tuple(BLANK.sub("  ?  ", row.text) for row in rows), self.size, ink, "start", "mono", "source")

    def _blanks(self, rows: list[_ListingRow], theme: Theme) -> list[Primitive]:
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


def _wrapped_rows(each: Listing, most: int) -> list[_ListingRow]:
    """Return the rows of all lines: a line of more than ``most`` letters continues in further rows, indented."""
    rows: list[_ListingRow] = []
    for place, line in enumerate(each.lines):
        start, indent = 0, 0
        hanging = len(line) - len(line.lstrip()) + _HANGING
        while len(line) - start > most - indent > _HANGING:
            stop = line.rfind(" ", start + 1, start + most - indent)
            stop = stop if stop > start and line[start:stop].strip() else start + most - indent
            rows.append(_ListingRow(place, line[start:stop], start, indent))
            start = stop + len(line[stop:]) - len(line[stop:].lstrip())
            indent = min(hanging, most // 2)
        rows.append(_ListingRow(place, line[start:], start, indent))
    return rows


def _window(rows: list[_ListingRow], each: Listing, count: int) -> tuple[int, int]:
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
