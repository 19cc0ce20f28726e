"""The few shapes that every picture consists of, batched: a thousand cells are one primitive.

Coordinates are scene units, y downwards. ``key`` names a primitive in files and says which one it was in the picture before;
``meaning`` says what it stands for. Nothing else is read from a key.
"""

from __future__ import annotations

import dataclasses
import re
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import east_asian_width

import numpy as np
from msgspec import Struct, msgpack

from gemmviz.files.resources import resource
from gemmviz.model.arrays import Bytes, Floats, Longs, Strings
from gemmviz.model.messages import COUNT, InstallationError, in_full, told
from gemmviz.model.sites import Space

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont


RunSide = Literal["", "left", "right"]
SIDES: tuple[RunSide, RunSide] = ("left", "right")  # of a comparison


class ArrayCells(Struct, frozen=True):
    """Cells that are the elements of an array in memory, in its order of rows and columns."""

    name: str
    space: Space


class Button(Struct, frozen=True):
    """Cells that change the shot when they are clicked. ``number``: of the step or the cause that the ``action`` is about;
    ``name``: of the value that it sets.
    """

    action: Literal["step", "cure", "look", "value"]
    number: int = 0
    name: str = ""


class Part(Struct, frozen=True):
    """A piece of a picture that its view draws and then finds again to move it: what it is, and of which one."""

    what: Literal["roof", "level", "level on the roof", "rate on the roof", "bar", "column", "strip"]
    number: int = 0


class Lanes(Struct, frozen=True):
    """Cells that are registers of lanes, or what lanes do: the lane of each, row by row, -1 for none."""

    warp: int
    lanes: tuple[int, ...]


# Shapes that are a count; tables of lanes, banks, SMs, blocks, threads and their slots; what moves, and where it was shortly
# before; the words below a picture; what a frame has without content, too.
Sort = Literal["count", "lanes", "banks", "sms", "grid", "threads", "slots", "moving", "trail", "band", "frame"]
# The texts around a picture; one instead of a picture; lines of source; numbers along an axis, and of lanes in a row.
TextPart = Literal["title", "note", "progress", "action", "cost", "message", "source", "scale", "lane numbers"]
# What a text of the stage tells: no other text of the same picture tells it again.
Told = Literal[
    "kernel", "statement", "threads", "blocks", "block", "warp", "thread", "step", "phase", "k", "moved", "needed",
    "not requested", "sum", "terms", "collisions", "collisions so far", "who collides", "stop",
]  # fmt: skip
Meaning = Sort | TextPart | ArrayCells | Button | Part | Lanes


Anchor = Literal["start", "middle", "end"]
Face = Literal["regular", "semibold", "mono"]
ANCHORED: dict[Anchor, float] = {"start": 0.0, "middle": 0.5, "end": 1.0}  # share of a text to the left of its position


class _Comparable:
    """Equality that compares arrays by value."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = vars(other)
        return all(value is theirs[name] or _same(value, theirs[name]) for name, value in vars(self).items())

    __hash__ = None  # type: ignore[assignment]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool((a == b).all())  # half of the time of ``np.array_equal``; a frame has hundreds
    return False if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b)


@dataclass(frozen=True, eq=False)
class Cells(_Comparable):
    """A table of cells from (x, y); ``fill`` uint8 (rows, columns) is an index into ``palette``.

    Cells are ``size`` wide and as high unless ``height`` is set. ``origin``: row and column of the first cell in the whole
    table. ``labels`` (rows, columns) of strings, or None; ``inks``: the label colour for each entry of the palette.
    ``line``: the colour between cells, None for none. ``factor``: elements of a cell along a side. ``tips`` (rows,
    columns): hover texts with line breaks; None if they follow from the run. ``ids`` (rows, columns): what each cell stands
    for, such as the number of a thread, -1 for nothing that is followed from one picture to the next; None if its label says
    it. ``side``: the picture of a comparison that it belongs to.
    """

    key: str
    x: float
    y: float
    size: float
    fill: Bytes
    palette: tuple[str, ...]
    inks: tuple[str, ...]
    labels: Strings | None = None
    label_size: float = 0.0
    line: str | None = None
    factor: int = 1
    height: float | None = None
    origin: tuple[int, int] = (0, 0)
    tips: Strings | None = None
    ids: Longs | None = None
    meaning: Meaning | None = None
    side: RunSide = ""

    @property
    def pitch(self) -> float:
        """Distance of the rows."""
        return self.size if self.height is None else self.height

    @property
    def gap(self) -> float:
        """Width of the line between cells."""
        return min(1.0, self.size * 0.05) if self.line else 0.0

    @property
    def box(self) -> tuple[float, float, float, float]:
        rows, columns = self.fill.shape
        return self.x, self.y, columns * self.size, rows * self.pitch

    def middles(self, row: Any, column: Any) -> Floats:
        """Return the centres of cells: (n, 2)."""
        across, down = np.broadcast_arrays(self.x + (column + 0.5) * self.size, self.y + (row + 0.5) * self.pitch)
        return np.stack([across, down], axis=-1)


@dataclass(frozen=True, eq=False)
class Rects(_Comparable):
    """Rectangles (n, 4): x, y, width, height."""

    key: str
    boxes: Floats
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1.0
    radius: float = 0.0
    meaning: Meaning | None = None


@dataclass(frozen=True, eq=False)
class Lines(_Comparable):
    """Line segments (n, 4): x1, y1, x2, y2."""

    key: str
    segments: Floats
    stroke: str
    width: float = 1.0
    dashed: bool = False
    meaning: Meaning | None = None


@dataclass(frozen=True, eq=False)
class Labels(_Comparable):
    """Strings, each with its baseline at a row of ``at`` (n, 2). ``side``: as in Cells; ``tells``: the facts that they tell."""

    key: str
    at: Floats
    texts: tuple[str, ...]
    size: float
    colour: str
    anchor: Anchor = "start"
    face: Face = "regular"
    meaning: Meaning | None = None
    side: RunSide = ""
    tells: tuple[Told, ...] = ()


@dataclass(frozen=True, eq=False)
class Squares(_Comparable):
    """Squares at any place: ``boxes`` (n, 3) are x, y and side; ``fill`` uint8 (n,), ``palette``, ``labels`` (n,) and
    ``inks`` as in Cells. Moving chips are made of them.
    """

    key: str
    boxes: Floats
    fill: Bytes
    palette: tuple[str, ...]
    inks: tuple[str, ...]
    labels: Strings | None = None
    label_size: float = 0.0
    line: str | None = None
    meaning: Meaning | None = None


Primitive = Cells | Rects | Lines | Labels | Squares


class Hit(Struct, frozen=True, eq=False):
    """A cell under the pointer."""

    cells: Cells
    row: int
    column: int

    @property
    def place(self) -> tuple[int, int]:
        """Row and column of the (first) element of the matrix that the cell stands for."""
        (row, column), factor = self.cells.origin, self.cells.factor
        return (self.row + row) * factor, (self.column + column) * factor

    @property
    def box(self) -> tuple[float, float, float, float]:
        size, pitch = self.cells.size, self.cells.pitch
        return self.cells.x + self.column * size, self.cells.y + self.row * pitch, size, pitch


@dataclass(frozen=True, eq=False)
class Scene(_Comparable):
    """Primitives in painting order over a background, with the extent of the whole frame.

    ``above``: primitives over everything that moves; ``words``: primitives over all others, which keep their place when the
    view is zoomed. ``title`` and ``description`` say in words what it shows; they are not drawn, but files carry them. Both are
    "" until the scene is exported.
    """

    width: float
    height: float
    background: str
    primitives: tuple[Primitive, ...]
    above: tuple[Primitive, ...] = ()
    words: tuple[Primitive, ...] = ()
    title: str = ""
    description: str = ""

    @property
    def all(self) -> tuple[Primitive, ...]:
        """All primitives in painting order."""
        return (*self.primitives, *self.above, *self.words)

    @property
    def clear(self) -> Scene:
        """Return the scene without primitives that only cover others in the background's colour, for transparent pictures."""

        def stays(each: Primitive) -> bool:
            return not (isinstance(each, Rects) and each.fill == self.background and each.stroke is None)

        primitives, above, words = (tuple(filter(stays, part)) for part in (self.primitives, self.above, self.words))
        return dataclasses.replace(self, primitives=primitives, above=above, words=words)

    def find(self, key: str) -> Primitive | None:
        """Return the primitive with this key, None if there is none."""
        return next((primitive for primitive in self.all if primitive.key == key), None)

    def hit(self, x: float, y: float) -> Hit | None:
        """Return the topmost cell at a point of the scene, None if there is none."""
        for cells in reversed(self.primitives):
            if isinstance(cells, Cells):
                left, top, width, height = cells.box
                if left <= x < left + width and top <= y < top + height:
                    return Hit(cells, int((y - top) / cells.pitch), int((x - left) / cells.size))
        return None


def boxes(*rows: tuple[float, float, float, float]) -> Floats:
    return np.asarray(rows, np.float64).reshape(-1, 4)


def points(*rows: tuple[float, float]) -> Floats:
    return np.asarray(rows, np.float64).reshape(-1, 2)


# Widths of text from the tables of the bundled fonts, so that all renderers agree on what fits.

# Characters as wide as they are high, such as Chinese ones: which text has them, and where its lines may break.

_BEFORE = "（［｛〈《「『【〔“‘"  # stand at no end of a line
_AFTER = "，。、；：？！）］｝〉》」』】〕”’…"  # stand at no beginning of a line


def is_wide(char: str) -> bool:
    """Whether a character is one em wide."""
    return char > "\u2e7f" and east_asian_width(char) in "WF"


@lru_cache(maxsize=8192)
def wide_characters(text: str) -> str:
    """The wide characters of a text, sorted."""
    return "" if text.isascii() else "".join(sorted(set(filter(is_wide, text))))


def words_of(text: str) -> list[tuple[str, str]]:
    """The parts between which a line may break, each with what stands before it on the same line: a space or nothing."""
    if not wide_characters(text):
        return [("" if number == 0 else " ", word) for number, word in enumerate(text.split(" "))]
    words = list[tuple[str, str]]()
    for number, chunk in enumerate(text.split(" ")):
        gap = "" if number == 0 else " "
        for part in _PART.findall(chunk) or [""]:
            words.append((gap, part))
            gap = ""
    return words


_WIDE_CHARACTERS = "\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003fffd"
_PART = re.compile(rf"[{_BEFORE}]*(?:[{_WIDE_CHARACTERS}]|[^{_WIDE_CHARACTERS}]+)[{_AFTER}]*")


FONT_FILES: dict[Face, str] = {
    "regular": "Inter-Regular.otf",
    "semibold": "Inter-SemiBold.otf",
    "mono": "JetBrainsMono-Regular.ttf",
}
ADVANCES = "assets/fonts/advances.bin"  # written by make record WHAT=advances
CAP_HEIGHT = 0.727
_MOST_FITTED = 400  # characters; no frame is wider


class Advances(Struct, frozen=True):
    """The widths of a face's characters by their codes, that of the others, and that of the em, in the font's units."""

    known: dict[int, int]
    other: int
    em: int


def font_path(face: Face) -> Path:
    """Return the path of the font file of a face. Raises InstallationError if it is missing."""
    return resource(f"assets/fonts/{FONT_FILES[face]}")


@cache
def bundled_font(face: Face) -> TTFont:
    """Return the font of a face. Raises InstallationError if its file is missing or damaged."""
    from fontTools.ttLib import TTFont  # imported here because it takes longer than a picture

    path = font_path(face)
    try:
        font = TTFont(path)
        for table in ("cmap", "hmtx", "head"):
            font[table]
    except Exception as error:  # fontTools raises many kinds of errors for damaged tables
        raise InstallationError(f"this font can't be read: {error}", file=str(path)) from None
    return font


@cache
def _advances() -> dict[Face, Advances]:
    return msgpack.decode(zlib.decompress(resource(ADVANCES).read_bytes()), type=dict[Face, Advances])


@lru_cache(maxsize=8192)
def text_width(text: str, size: float, face: Face = "regular") -> float:
    """Return the width of ``text`` with its counts in scene units at this font size, without kerning."""
    return _units(in_full(text), face) * size / _advances()[face].em


@lru_cache(maxsize=8192)
def _units(text: str, face: Face) -> int:
    """Return the width of a text in the units of the font."""
    font = _advances()[face]
    known, other, em = font.known, font.other, font.em
    if wide_characters(text):
        return sum(em if is_wide(char) else known.get(ord(char), other) for char in text)
    return sum([known.get(code, other) for code in map(ord, text)])


def fitted(text: str, size: float, room: float, face: Face = "regular") -> str:
    """Return ``text``, or as much of its beginning as fits ``room`` with an ellipsis."""
    plain = in_full(text)
    beginning = plain[:_MOST_FITTED]
    if beginning == plain and text_width(plain, size, face) <= room:
        return text
    if plain != text:
        return fitted(told(text, 0.0), size, room, face)
    left, length = room - text_width("…", size, face), 0
    while length < len(beginning) and left >= text_width(beginning[length], size, face):
        left -= text_width(beginning[length], size, face)
        length += 1
    return beginning[:length].rstrip() + "…"


def text_line(
    key: str, at: tuple[float, float], text: str, size: float, width: float, colour: str, face: Face = "regular",
    meaning: Meaning | None = None,
) -> Labels:  # fmt: skip
    """Return the Labels of one line of text at (x, baseline), cut with an ellipsis at ``width``."""
    return Labels(key, points(at), (fitted(text, size, width, face),), size, colour, "start", face, meaning)


_CLAUSE_END = re.compile("[,:;.](?= )|[，：；。](?=.)")
JOINED = "\ufdd3"  # a noncharacter of Unicode: the mark of a space at which no line breaks


def without_clauses(text: str, size: float, room: float) -> str:
    """Return a text without as many of its last clauses as don't fit."""
    while text_width(text, size) > room and (end := max(text.rfind(joint) for joint in (", ", ": ", "; "))) > 0:
        text = text[:end]
    return text


def clauses_of(text: str) -> list[tuple[str, str]]:
    """Return the two parts of a text at the end of each of its clauses but the last."""
    return [(text[: end.end()], text[end.end() :].lstrip()) for end in _CLAUSE_END.finditer(text)]


def with_last_words(text: str, letters: int) -> str:
    """Return a text whose last word stays in the line of the one before it if it has few letters."""
    head, _, last = text.rpartition(" ")
    return f"{head}{JOINED}{last}" if head and len(last) <= letters else text


def wrap_text(text: str, size: float, room: float, most: int, face: Face = "regular") -> tuple[str, ...]:
    """Return the lines of ``text`` within ``room``, broken between words; at most ``most`` lines, the last with an ellipsis
    then.
    """
    return tuple(fitted(line, size, room, face) for line in _lines_of(text, size, room, most, face))


def fits_lines(text: str, size: float, room: float, most: int, face: Face = "regular") -> bool:
    """Return whether ``wrap_text`` cuts nothing of a text."""
    return all(text_width(line, size, face) <= room for line in _lines_of(text, size, room, most, face))


@lru_cache(maxsize=1024)
def _lines_of(text: str, size: float, room: float, most: int, face: Face) -> tuple[str, ...]:
    """Return the lines before any is cut; the last one holds all that is left. A percent sign stays with its number."""
    lines, joined = [""], text.replace(" %", f"{JOINED}%")  # narrow spaces keep the digits of a number together
    words = [(gap, word.replace(JOINED, " ")) for gap, word in words_of(joined)]
    units, em = 0, _advances()[face].em  # of the last line
    for number, (gap, word) in enumerate(words):
        whole = f"{lines[-1]}{gap}{word}"
        longer = whole.strip()
        is_sum = longer == whole and COUNT not in text  # the width of the line is that of its parts
        wider = units + _units(gap, face) + _units(word, face) if is_sum else _units(in_full(longer), face)
        if not lines[-1] or wider * size / em <= room:
            lines[-1], units = longer, wider
        elif len(lines) == most:
            lines[-1] += "".join(gap + word for gap, word in words[number:])
            break
        else:
            lines.append(word)
            units = _units(word, face)
    return tuple(lines)


def label_step(pitch: float, needed: float, count: int) -> int:
    """Return every how many of ``count`` labels, a power of two, is drawn, so that those ``pitch`` apart have the space that
    they need; ``count``, for the first alone, if there is no such step.
    """
    step = 1
    while step < count and step * pitch < needed:
        step *= 2
    return max(1, min(step, count))
