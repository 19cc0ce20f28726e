"""The layout kit: pictures are composed of boxes, and places follow from things.

A picture begins with the room of its frame, cuts it into boxes, and draws in them::

    room = options.room(top=120.0, foot=36.0)
    left, right = room.columns(Share(2), REST, gap=20.0)       # two thirds and one third
    head, cores, memory = left.inset(24.0).rows(34.0, REST, 120.0, gap=10.0)
    [
        *panel("sm", left, theme),
        write("sm-name", head, "SM 0", theme.strong),
        cells_in("cores", cores, np.zeros((4, 32), np.uint8), (theme.slate,), theme.background),
        round_boxes("memory", memory, theme.slate),
        *lines_down(right, wrapped("why", "Each thread has registers of its own.", theme.plain, right.width)),
        arrow("way", right.at(0.0, 0.5), memory.at(1.0, 0.5), theme.faint),
    ]

Sizes in units are numbers, and what is left is divided among the Shares. A text is written in a box or beside it, in a style
of the theme, and cut where its room ends: no view works out a baseline. Corners are round in proportion to their box.

Boxes are plain tuples, so that an array of them is made at once, and nothing is solved: a layout is computed anew for each
frame.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from typing import Literal, NamedTuple

import numpy as np

from gemmviz.model.arrays import Bytes, Floats, Longs, Strings
from gemmviz.scenes.kit.primitives import (
    ANCHORED,
    CAP_HEIGHT,
    Anchor,
    Button,
    Cells,
    Face,
    Labels,
    Lines,
    Meaning,
    Primitive,
    Rects,
    Squares,
    boxes,
    fitted,
    label_step,
    points,
    text_line,
    text_width,
    wrap_text,
)
from gemmviz.scenes.kit.theme import Style, Theme, TypeSizes

Point = tuple[float, float]
Edge = Literal["top", "bottom", "left", "right"]
RISE = 0.36  # of the size of a text: from the middle of its letters down to its baseline
_ROUNDING = 0.01  # units: a text that is as wide as its box fits in it
LINE_PITCH, ROW_PITCH = 1.3, 1.5  # of the size of a text: from one line to the next; from one row of a list to the next
NEAR, AIR = 12.0, 20.0  # gaps: from a thing to its name; within a box, and between boxes that belong together
FINE, STROKE, BOLD = 1.5, 2.0, 3.0  # widths: of guides and frames, of an outline, of a ring around what is followed
BAR = 0.68  # of a row: height of a bar in it
_EDGES: dict[Edge, Point] = {"top": (0.5, 0.0), "bottom": (0.5, 1.0), "left": (0.0, 0.5), "right": (1.0, 0.5)}
_ROUND, _MOST_ROUND = 0.12, 10.0  # radius of corners: of the shorter side of a box, and at most
_TICK, _UPRIGHT = 8.0, 4.0  # length of a tick; width of the line of the present
NAMED = 1.2  # of the size of the names of rows: the height of rows that all have one
CELL_FILL = 0.94  # of a cell: what lies in it, and a text at most


class Share(NamedTuple):
    """A part of what is left in a row or a column: ``Share(2)`` is twice as large as ``Share(1)``."""

    weight: float


REST = Share(1.0)


class Box(NamedTuple):
    """A rectangle from (x, y) to the right and down, in scene units.

    >>> Box(0, 0, 100, 60).inset(10)
    Box(x=10, y=10, width=80, height=40)
    """

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def middle_x(self) -> float:
        return self.x + self.width / 2

    @property
    def middle_y(self) -> float:
        return self.y + self.height / 2

    @property
    def middle(self) -> Point:
        return self.x + self.width / 2, self.y + self.height / 2

    def at(self, across: float, down: float = 0.5) -> Point:
        """Return the point at a share of the width and of the height.

        >>> Box(0, 0, 100, 60).at(0.25, 1.0)
        (25.0, 60.0)
        """
        return self.x + across * self.width, self.y + down * self.height

    def edge(self, side: Edge) -> Point:
        """Return the middle of an edge."""
        return self.at(*_EDGES[side])

    def bar(self, start: float = 0.0, end: float = 1.0) -> "Box":
        """Return the part of a row for a bar between two shares of its width, thinner than the row."""
        return self.part((start, end), ((1 - BAR) / 2, (1 + BAR) / 2))

    def part(self, across: Point = (0.0, 1.0), down: Point = (0.0, 1.0)) -> "Box":
        """Return the part between two shares of the width and of the height.

        >>> Box(0, 0, 100, 60).part(down=(0.5, 1.0))
        Box(x=0.0, y=30.0, width=100.0, height=30.0)
        """
        (left, right), (top, bottom) = across, down
        return Box(*self.at(left, top), (right - left) * self.width, (bottom - top) * self.height)

    def inset(self, x: float, y: float | None = None) -> "Box":
        """Return the box with ``x`` less on the left and the right, and ``y`` above and below; negative: a larger one."""
        y = x if y is None else y
        return Box(self.x + x, self.y + y, self.width - 2 * x, self.height - 2 * y)

    def trimmed(self, left: float = 0.0, top: float = 0.0, right: float = 0.0, bottom: float = 0.0) -> "Box":
        """Return the box without strips of its sides.

        >>> Box(0, 0, 100, 60).trimmed(top=20, right=10)
        Box(x=0.0, y=20, width=90.0, height=40.0)
        """
        return Box(self.x + left, self.y + top, self.width - left - right, self.height - top - bottom)

    def strip(self, side: Edge, size: float, gap: float = 0.0) -> tuple["Box", "Box"]:
        """Return the strip of a size along a side, and the rest beyond the gap.

        >>> Box(0, 0, 100, 60).strip("top", 20)
        (Box(x=0, y=0.0, width=100, height=20), Box(x=0, y=20.0, width=100, height=40.0))
        """
        if side in ("top", "left"):
            first, rest = self.rows(size, REST, gap=gap) if side == "top" else self.columns(size, REST, gap=gap)
            return first, rest
        rest, last = self.rows(REST, size, gap=gap) if side == "bottom" else self.columns(REST, size, gap=gap)
        return last, rest

    def rows(self, *sizes: float | Share, gap: float = 0.0) -> list["Box"]:
        """Return boxes below each other; each size is a height in units, or a Share of the height that is left.

        >>> Box(0, 0, 100, 60).rows(20, REST, gap=10)
        [Box(x=0, y=0.0, width=100, height=20), Box(x=0, y=30.0, width=100, height=30.0)]
        """
        return [Box(self.x, self.y + at, self.width, size) for at, size in _in_a_row(sizes, self.height, gap)]

    def columns(self, *sizes: float | Share, gap: float = 0.0) -> list["Box"]:
        """Return boxes beside each other; each size is a width in units, or a Share of the width that is left."""
        return [Box(self.x + at, self.y, size, self.height) for at, size in _in_a_row(sizes, self.width, gap)]

    def grid(self, rows: int, columns: int, gap: float = 0.0, down: float | None = None) -> list["Box"]:
        """Return equal boxes row by row, ``gap`` apart, and ``down`` from row to row if that differs.

        >>> len(Box(0, 0, 100, 60).grid(2, 3))
        6
        """
        lines = self.rows(*[REST] * rows, gap=gap if down is None else down)
        return [box for line in lines for box in line.columns(*[REST] * columns, gap=gap)]

    def tiled(self, rows: int, columns: int, largest: float = inf) -> "Box":
        """Return the largest box of equal squares that fits, at the upper left.

        >>> Box(0, 0, 100, 60).tiled(3, 4)
        Box(x=0, y=0, width=80.0, height=60.0)
        """
        side = min(self.width / columns, self.height / rows, largest)
        return Box(self.x, self.y, columns * side, rows * side)

    def shifted(self, x: float = 0.0, y: float = 0.0) -> "Box":
        """Return the box further to the right and down."""
        return Box(self.x + x, self.y + y, self.width, self.height)

    def meets(self, other: "Box") -> bool:
        """Whether the box has a part in common with another one."""
        across = min(self.right, other.right) - max(self.x, other.x)
        return across > 0 and min(self.bottom, other.bottom) - max(self.y, other.y) > 0

    def towards(self, other: "Box", share: float) -> "Box":
        """Return the box at a share of its way into another one.

        >>> Box(0, 0, 10, 10).towards(Box(100, 0, 20, 10), 0.5)
        Box(x=50.0, y=0.0, width=15.0, height=10.0)
        """
        return Box(*(a + (b - a) * share for a, b in zip(self, other, strict=True)))


def _in_a_row(sizes: Sequence[float | Share], room: float, gap: float) -> Iterable[tuple[float, float]]:
    """Yield where each part begins and how large it is."""
    left = room - gap * (len(sizes) - 1) - sum(size for size in sizes if not isinstance(size, Share))
    whole, at = sum(size.weight for size in sizes if isinstance(size, Share)), 0.0
    for size in sizes:
        length = left * size.weight / whole if isinstance(size, Share) else size
        yield at, length
        at += length + gap


def square(middle: Point, side: float, height: float | None = None) -> Box:
    """Return the square, or with a ``height`` the rectangle, around a point."""
    high = side if height is None else height
    return Box(middle[0] - side / 2, middle[1] - high / 2, side, high)


def stack(sizes: Iterable[float], box: Box, leading: float = LINE_PITCH) -> list[float]:
    """Return the middles of lines of text of these sizes, one below the other in the middle of a box.

    >>> stack([20, 20], Box(0, 0, 100, 60), leading=1.0)
    [20.0, 40.0]
    """
    heights = [leading * size for size in sizes]
    tops = np.cumsum([box.y + (box.height - sum(heights)) / 2, *heights])
    return [float(top + height / 2) for top, height in zip(tops, heights, strict=False)]


# Strings


def text_at(
    key: str, at: Point, text: str, size: float, colour: str, anchor: Anchor = "start", face: Face = "regular",
    meaning: Meaning | None = None,
) -> Labels:  # fmt: skip
    """Return the Labels of one text with its baseline at a point."""
    return Labels(key, points(at), (text,), size, colour, anchor, face, meaning)


def text_in(
    key: str, box: Box, text: str, size: float, colour: str, anchor: Anchor = "middle", face: Face = "regular"
) -> Labels:
    """Return the Labels of one text in a box, cut at its width, with its letters in the middle of its height: at the left
    edge of the box, in the middle or at the right edge.
    """
    at = {"start": box.x, "middle": box.middle_x, "end": box.right}[anchor], baseline(box.middle_y, size)
    shown = fitted(text, size, box.width + _ROUNDING, face)
    return text_at(key, at, shown, size, colour, anchor, face)


def write(key: str, box: Box, text: str, style: Style, anchor: Anchor = "start") -> Labels:
    """Return the Labels of one text in a box as ``text_in`` does, in a style."""
    return write_all(key, [box], [text], style, anchor)


def button(key: str, box: Box, text: str, meaning: Button, tip: str, style: Style, theme: Theme) -> list[Primitive]:
    """Return a box with a text that acts when it is clicked."""
    fill, tips = np.zeros((1, 1), np.uint8), np.array([[tip]])
    ground = cells_in(key, box, fill, (theme.line,), None, (theme.text,), meaning, tips=tips)
    return [ground, write(f"{key}-text", box, text, style, "middle")]


def write_all(key: str, parts: Sequence[Box], texts: Sequence[str], style: Style, anchor: Anchor = "start") -> Labels:
    """Return the Labels of a text in each of some boxes, as ``write`` does."""
    share, (size, colour, face) = ANCHORED[anchor], style
    spots = [(box.x + share * box.width, baseline(box.middle_y, size)) for box in parts]
    shown = (fitted(text, size, box.width + _ROUNDING, face) for box, text in zip(parts, texts, strict=True))
    return Labels(key, points(*spots), tuple(shown), size, colour, anchor, face)


def beside(key: str, box: Box, side: Edge, text: str, style: Style, gap: float = NEAR, anchor: Anchor | None = None) -> Labels:
    """Return the Labels of a text beside a box: in the middle of its height at the left or the right; above or below it, from
    its left edge on or anchored otherwise, cut at its width.
    """
    return all_beside(key, [box], side, [text], style, gap, anchor)


def all_beside(
    key: str, parts: Sequence[Box], side: Edge, texts: Sequence[str], style: Style, gap: float = NEAR,
    anchor: Anchor | None = None,
) -> Labels:  # fmt: skip
    """Return the Labels of a text beside each of some boxes, as ``beside`` does."""
    size, colour, face = style
    if side in ("left", "right"):
        spots = [(box.x - gap if side == "left" else box.right + gap, baseline(box.middle_y, size)) for box in parts]
        return Labels(key, points(*spots), tuple(texts), size, colour, "end" if side == "left" else "start", face)
    share = ANCHORED[anchor or "start"]
    down = -gap if side == "top" else gap + CAP_HEIGHT * size
    spots = [(box.x + share * box.width, (box.y if side == "top" else box.bottom) + down) for box in parts]
    shown = (fitted(text, size, box.width + _ROUNDING, face) for box, text in zip(parts, texts, strict=True))
    return Labels(key, points(*spots), tuple(shown), size, colour, anchor or "start", face)


def term(key: str, box: Box, name: str, style: Style, meaning: str, other: Style) -> list[Labels]:
    """Return a name at the left of a box, and after it what it means; the latter's key ends with "-meaning"."""
    rest = box.trimmed(left=style.width(name) + NEAR)
    line = baseline(box.middle_y, style.size)
    return [
        write(key, box, name, style),
        text_line(f"{key}-meaning", (rest.x, line), meaning, other.size, rest.width, *other[1:]),
    ]


class Line(NamedTuple):
    """A line of text with its key, to be placed by ``lines_in`` or ``lines_down``; ``space``: units left free above it."""

    key: str
    text: str
    size: float
    colour: str
    face: Face = "regular"
    space: float = 0.0


def wrapped(key: str, text: str, style: Style, width: float, most: int = 9, space: float = 0.0) -> list[Line]:
    """Return the lines of a text that is broken at a width; their keys end with their numbers."""
    lines = wrap_text(text, style.size, width, most, style.face)
    return [Line(f"{key}-{number}", line, *style, 0.0 if number else space) for number, line in enumerate(lines)]


def lines_down(box: Box, lines: Iterable[Line], leading: float = LINE_PITCH) -> list[Labels]:
    """Return lines of text from the upper edge of a box down, cut at its width, as many as fit."""
    drawn, y = list[Labels](), box.y
    for line in lines:
        y += line.space + leading * line.size
        if y > box.bottom + _ROUNDING:
            break
        at = box.x, baseline(y - leading * line.size / 2, line.size)
        drawn.append(text_line(line.key, at, line.text, line.size, box.width, line.colour, line.face))
    return drawn


def line_at(
    key: str, at: Point, text: str, size: float, colour: str, room: float, anchor: Anchor = "start", face: Face = "regular"
) -> Labels:
    """Return the Labels of one text with its baseline at a point, smaller if it is too long for its room, and cut if it is too
    long in the least size.
    """
    least, wide = min(size, TypeSizes().least), text_width(text, size, face)
    size = max(least, min(size, size * room / max(1.0, wide)))
    return text_at(key, at, fitted(text, size, room + _ROUNDING, face), size, colour, anchor, face)


def lines_in(box: Box, lines: Sequence[Line]) -> list[Labels]:
    """Return lines of text one below the other in the middle of a box, cut at its width. The last ones are left out if the
    box is not high enough for all; the first one always stays.
    """
    count = len(lines)
    while count > 1 and LINE_PITCH * sum(line.size for line in lines[:count]) > box.height:
        count -= 1
    middles = stack([line.size for line in lines[:count]], box, LINE_PITCH)
    return [
        text_line(line.key, (box.x, baseline(middle, line.size)), *line[1:3], box.width, line.colour, line.face)
        for line, middle in zip(lines, middles, strict=False)
    ]


class Paragraph(NamedTuple):
    """Lines of text with one key, to be placed by ``paragraphs_in``."""

    key: str
    lines: Sequence[str]
    size: float
    colour: str
    face: Face = "regular"
    meaning: Meaning | None = None

    @classmethod
    def wrapped(
        cls, key: str, text: str, style: Style, box: Box, most: int = 99, meaning: Meaning | None = None,
        leading: float = LINE_PITCH,
    ) -> "Paragraph":  # fmt: skip
        """Return a text in as many lines as fit a box, at least one."""
        fits = max(1, min(most, int((box.height + _ROUNDING) / (leading * style.size))))
        return cls(key, wrap_text(text, style.size, box.width, fits, style.face) if text else (), *style, meaning)

    def height(self, leading: float = LINE_PITCH) -> float:
        return leading * self.size * len(self.lines)


def paragraphs_in(
    box: Box, paragraphs: Iterable[Paragraph], gap: float = 0.0, leading: float = LINE_PITCH
) -> tuple[list[Labels], Box]:
    """Return paragraphs one below the other from the top of a box, and the rest of the box below them."""
    drawn = list[Labels]()
    for each in paragraphs:
        if each.lines:
            at = [(box.x, baseline(box.y + (n + 0.5) * leading * each.size, each.size)) for n in range(len(each.lines))]
            drawn.append(Labels(each.key, points(*at), tuple(each.lines), *each[2:4], "start", each.face, each.meaning))
            box = box.trimmed(top=each.height(leading) + gap)
    return drawn, box


def paragraph(
    key: str, box: Box, text: str, style: Style, meaning: Meaning | None = None, leading: float = LINE_PITCH
) -> list[Labels]:
    """Return a text from the top of a box on, in as many lines as fit it."""
    return paragraphs_in(box, [Paragraph.wrapped(key, text, style, box, meaning=meaning, leading=leading)], leading=leading)[0]


def names_of_parts(
    key: str, box: Box, texts: Sequence[str], size: float, colour: str, edge: Edge | Literal["inside"], air: float = 9.0,
    meaning: Meaning | None = "scale",
) -> Labels:  # fmt: skip
    """Return the names of equal parts of a box, beside each other or, at its left or right, one below the other: every second,
    fourth, ... alone where there is no space for all. ``edge``: outside which edge they stand, ``air`` units from it, or
    "inside" the middle of the parts.
    """
    is_column = edge in ("left", "right")
    pitch = (box.height if is_column else box.width) / max(1, len(texts))
    needed = NAMED * size if is_column else max((text_width(each, size) for each in texts), default=0.0) + air
    shown = range(0, len(texts), label_step(pitch, needed, len(texts)))
    middles = [(place + 0.5) * pitch for place in shown]
    x = box.x - air if edge == "left" else box.right + air
    y = {"top": box.y - air, "bottom": box.bottom + air + RISE * 2 * size}.get(edge, baseline(box.middle_y, size))
    at = [(x, baseline(box.y + each, size)) if is_column else (box.x + each, y) for each in middles]
    anchors: dict[str, Anchor] = {"left": "end", "right": "start"}
    shown_texts = tuple(texts[n] for n in shown)
    return Labels(key, points(*at), shown_texts, size, colour, anchors.get(edge, "middle"), meaning=meaning)


def baseline(middle: float, size: float) -> float:
    """Return the baseline of a text whose letters are in the middle of a line at ``middle``."""
    return middle + RISE * size


def fits_box(box: Box, texts: Iterable[str], style: Style, air: float = 0.0) -> bool:
    """Return whether a line of each of some texts fits a box, with ``air`` units beside it."""
    return LINE_PITCH * style.size <= box.height and all(style.width(text) + air <= box.width for text in texts)


# Shapes


def round_boxes(
    key: str,
    where: Box | Iterable[Box] | Floats,
    fill: str | None,
    stroke: str | None = None,
    width: float = STROKE,
    meaning: Meaning | None = None,
) -> Rects:
    """Return boxes with round corners, the smaller the boxes, the smaller the corners."""
    rows = boxes(where) if isinstance(where, Box) else boxes(*where)
    radius = min(_MOST_ROUND, _ROUND * float(rows[:, 2:].min(initial=inf)))
    return Rects(key, rows, fill, stroke, width, radius, meaning)


def tag(
    key: str, box: Box, text: str, fill: str, theme: Theme, style: Style | None = None, stroke: str | None = None
) -> list[Rects | Labels]:
    """Return a filled box with a text in its middle, if there is space for it, in ink that can be read there; the text's key
    ends with "-name".
    """
    ink, ground = (style or theme.small).inked(theme.ink_on(fill)), round_boxes(key, box, fill, stroke)
    fits = ink.width(text) <= box.width and ink.size <= box.height
    return [ground, write(f"{key}-name", box, text, ink, "middle")] if fits else [ground]


def swatch(key: str, box: Box, text: str, fill: str | None, style: Style, stroke: str | None = None) -> tuple[Rects, Labels]:
    """Return a row of a legend: a square at the left of a box, and what its colour means; the text's key ends with "-text"."""
    side = 1.1 * style.size
    mark = square((box.x + side / 2, box.middle_y), side)
    return round_boxes(key, mark, fill, stroke), write(f"{key}-text", box.trimmed(left=side + NEAR), text, style)


def panel(key: str, box: Box, theme: Theme, caption: str = "", inset: float = 20.0) -> list[Rects | Labels]:
    """Return a framed box, with a caption at its upper edge if there is one; their keys end with "-box" and "-name"."""
    size = theme.type.heading
    frame = Rects(f"{key}-box", boxes(box), theme.panel, theme.line, 2.0, 10.0)
    at = box.x + inset, box.y + 1.4 * size
    name = text_line(f"{key}-name", at, caption, size, box.width - 2 * inset, theme.text, "semibold")
    return [frame, name] if caption else [frame]


def path(key: str, way: Iterable[Point], colour: str, width: float = 3.0, dashed: bool = False) -> Lines:
    """Return the line along points."""
    return Lines(key, boxes(*((*one, *other) for one, other in pairwise(way))), colour, width, dashed)


def upright(key: str, x: float, box: Box, colour: str) -> Rects:
    """Return the line at a place along a box that stands for the present, a little longer than the box is high."""
    return Rects(key, boxes(square((x, box.middle_y), _UPRIGHT, box.height + NEAR)), colour, meaning="frame")


def ticks_along(
    key: str, box: Box, places: Sequence[float], texts: Sequence[str], style: Style, side: Edge = "bottom"
) -> list[Lines | Labels]:
    """Return ticks along the upper or lower edge of a box at some shares of its width, with a text at each; the key of the
    texts ends with "-numbers".
    """
    ends = [box.part((share, share), (0, 0) if side == "top" else (1, 1)).inset(-box.width, 0) for share in places]
    down = -_TICK if side == "top" else _TICK
    ticks = Lines(key, boxes(*((end.middle_x, end.y, end.middle_x, end.y + down) for end in ends)), style.colour, STROKE)
    numbers = all_beside(f"{key}-numbers", ends, side, texts, style, 2 * _TICK, "middle")
    return [ticks, dataclasses.replace(numbers, meaning="scale")]


def along(way: Sequence[Point], share: float) -> Point:
    """Return the point at a share of the length of a way with corners.

    >>> along([(0, 0), (10, 0), (10, 30)], 0.5)
    (10.0, 10.0)
    """
    at = np.array(way, np.float64)
    reached = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(at, axis=0).T))])
    here = share * reached[-1]
    return float(np.interp(here, reached, at[:, 0])), float(np.interp(here, reached, at[:, 1]))


def arrow(
    key: str, start: Point, end: Point, colour: str, width: float = 3.0, head: float = 12.0, slope: float = 0.625
) -> Lines:
    """Return a straight arrow to ``end``; ``head``: the length of its head; ``slope``: half of its width, in its length."""
    tip = np.array(end, np.float64)
    ahead = tip - np.array(start, np.float64)
    ahead *= head / max(1e-9, float(np.hypot(*ahead)))
    beside = np.array((-ahead[1], ahead[0])) * slope
    barbs = ((*(tip - ahead + beside * side), *tip) for side in (1, -1))
    return Lines(key, boxes((*start, *end), *barbs), colour, width)


Swatch = tuple[str | None, str | None]  # fill and outline
_CHIP, _AFTER_CHIP, _BETWEEN_CHIPS = 18.0, 8.0, 20.0


def swatches(
    key: str, box: Box, entries: Sequence[tuple[Sequence[Swatch], str]], size: float, colour: str, anchor: Anchor = "start"
) -> list[Rects | Labels]:
    """Return small squares with what they mean, from the left edge of a box on in as many lines as needed, or at its right
    edge. An entry may have several squares, or none.
    """
    wide = [len(looks) * (_CHIP + _AFTER_CHIP) + text_width(text, size) for looks, text in entries]
    whole, pitch = sum(wide) + _BETWEEN_CHIPS * (len(wide) - 1), LINE_PITCH * size
    x, y = box.x if anchor == "start" else max(box.x, box.right - whole), box.y
    drawn, at = list[Rects | Labels](), list[Point]()
    for number, ((looks, _), width) in enumerate(zip(entries, wide, strict=True)):
        if x + width > box.right + _ROUNDING and x > box.x:
            x, y = box.x, y + pitch
        for place, (fill, line) in enumerate(looks):
            side = square((x + place * (_CHIP + _AFTER_CHIP) + _CHIP / 2, y + pitch / 2), _CHIP)
            drawn.append(Rects(f"{key}-{number}-{place}", boxes(side), fill, line, 2.0, 3.0))
        at.append((x + len(looks) * (_CHIP + _AFTER_CHIP), baseline(y + pitch / 2, size)))
        x += width + _BETWEEN_CHIPS
    return [*drawn, Labels(key, points(*at), tuple(text for _, text in entries), size, colour)]


def squares(
    key: str, middles: Iterable[Point], side: float, colour: str, ink: str | None = None, line: str | None = None
) -> Squares:
    """Return a square of one colour around each point, such as words on their way."""
    shown = np.array([(x - side / 2, y - side / 2, side) for x, y in middles], np.float64).reshape(-1, 3)
    return Squares(key, shown, np.zeros(len(shown), np.uint8), (colour,), (ink or colour,), line=line)


def cells_in(
    key: str,
    box: Box,
    fill: Bytes,
    palette: tuple[str, ...],
    line: str | None,
    inks: tuple[str, ...] | None = None,
    meaning: Meaning | None = None,
    texts: Strings | None = None,
    size: float = 0.0,
    factor: int = 1,
    tips: Strings | None = None,
) -> Cells:
    """Return the cells of a table that fills a box, with ``texts`` of a size in them if all of them fit. A cell stands for
    ``factor`` rows and columns.
    """
    wide, high = box.width / fill.shape[1], box.height / fill.shape[0]
    if texts is not None and not fits_cells(texts, size, wide, high):
        texts, size = None, 0.0
    at, own = (box.x, box.y, wide), inks or palette
    return Cells(key, *at, fill, palette, own, texts, size, line, factor, high, tips=tips, meaning=meaning)


def cell_squares(table: Box, columns: int, number: Longs, share: float = 1.0) -> Floats:
    """Return cells of a table of squares by their numbers, row by row: x, y and side, a share of that of the cell."""
    side = table.width / columns
    x, y = table.x + number % columns * side, table.y + number // columns * side
    return np.column_stack([x, y, np.full(len(number), share * side)])


def fits_cells(texts: Strings, size: float, wide: float, high: float) -> bool:
    """Return whether all texts of a table fit its cells."""
    widest = max((text_width(text, size) for text in texts.ravel().tolist()), default=0.0)
    return size > 0 and widest <= CELL_FILL * wide and size <= high
