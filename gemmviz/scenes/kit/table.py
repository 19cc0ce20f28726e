"""Tables of text, as large as their space allows."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from gemmviz.model.records import replace
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.primitives import Cells, Face, Labels, Primitive, points
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
        pitch = min(pitch * stretch, (room.y + room.height - top) / len(rows))
    primitives: list[Primitive] = []
    x = room.x
    for place, (head, width) in enumerate(zip(heads, widths, strict=True)):
        if head:
            primitives.append(
                _words(f"{key}-head-{place}", head, x, room.y, top - room.y, width, size, theme.faint, "semibold")
            )
        primitives += _column(f"{key}-{place}", [row[place] for row in rows], (x, top, width, pitch), size, theme)
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
    key: str, entries: Sequence[TableCell], at: tuple[float, float, float, float], size: float, theme: Theme
) -> list[Primitive]:
    x, y, width, pitch = at
    if not entries:
        return []
    fills = list(dict.fromkeys([theme.panel, *(entry.fill or theme.panel for entry in entries)]))
    fill = np.array([[fills.index(entry.fill or theme.panel)] for entry in entries], np.uint8)
    tips = np.array([[entry.tip] for entry in entries]) if any(entry.tip for entry in entries) else None
    inks = tuple(theme.ink_on(each) for each in fills)
    primitives: list[Primitive] = [
        Cells(key, x, y, width, fill, tuple(fills), inks, line=theme.background, height=pitch, tips=tips)
    ]
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
