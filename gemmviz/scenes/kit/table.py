"""Tables of text, as large as their space allows."""

from collections.abc import Callable, Iterator, Sequence
from math import inf
from operator import attrgetter

import numpy as np
from msgspec import Struct

from gemmviz.model.records import replace
from gemmviz.model.translation import marked, tr
from gemmviz.scenes.kit.layout import Box
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
    Scene,
    Squares,
    points,
)
from gemmviz.scenes.kit.text import fitted, text_width
from gemmviz.scenes.kit.theme import Theme, TypeSizes

_SIZES = (34.0, 31.0, 28.0, 26.0, 24.0, 22.0, TypeSizes().least)
_LEADING, _PAD, _AIR, _STRETCH = 1.25, 12.0, 0.55, 2.0


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
    shorter = [[replace(each, text="\n".join(each.text.split("\n")[:lines])) for each in row] for row in rows]
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
    lines = tuple(fitted(line, size, width - _PAD, face) for line in text.split("\n"))
    leading = _LEADING * size
    first = y + (high - leading * len(lines)) / 2 + 0.82 * leading
    return Labels(key, points(*((x + _PAD, first + n * leading) for n in range(len(lines)))), lines, size, ink, "start", face)


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
    return [wide + 2 * _PAD for wide in widths]


def _wide(text: str, size: float, face: Face) -> float:
    return max(text_width(line, size, face) for line in text.split("\n"))


def _height(row: Sequence[TableCell], size: float) -> float:
    return _LEADING * size * max((entry.text.count("\n") + 1 for entry in row), default=1) + _AIR * size


# A picture's texts as lines in reading order, and its tables of cells with a name and a text for each cell.

_COLUMNS_APART = 1.6  # of the size of the text: the least gap between columns
_NOT_READ = ("scale", "lane numbers")  # meanings of texts that tables say better
_STACKED = 1.9  # of the size of the text: baselines of one paragraph are no farther apart
_NAMES = {
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

    found = (each for each in scene.all if isinstance(each, Cells) and each.fill.size and _has_facts(each, arrays))
    return tuple(sorted(found, key=place))


def _has_facts(cells: Cells, arrays: Sequence[str]) -> bool:
    return _array_name(cells) in arrays or any(
        texts is not None and (texts != "").any() for texts in (cells.tips, cells.labels)
    )


def table_name(cells: Cells) -> str:
    """Return the name of a table as text: the name of its array, or what its cells are."""
    what = cells.meaning.action if isinstance(cells.meaning, Button) else cells.meaning
    return _array_name(cells) or (tr(_NAMES[what]) if isinstance(what, str) and what in _NAMES else cells.key.replace("-", " "))


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
