"""The few shapes that every picture consists of, batched: a thousand cells are one primitive.

Coordinates are scene units, y downwards. ``key`` names a primitive in files and says which one it was in the picture before;
``meaning`` says what it stands for. Nothing else is read from a key.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.model.records import replace
from gemmviz.model.sites import Space

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
    fill: npt.NDArray[np.uint8]
    palette: tuple[str, ...]
    inks: tuple[str, ...]
    labels: npt.NDArray[np.str_] | None = None
    label_size: float = 0.0
    line: str | None = None
    factor: int = 1
    height: float | None = None
    origin: tuple[int, int] = (0, 0)
    tips: npt.NDArray[np.str_] | None = None
    ids: npt.NDArray[np.int64] | None = None
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

    def middles(self, row: Any, column: Any) -> npt.NDArray[np.float64]:
        """Return the centres of cells: (n, 2)."""
        across, down = np.broadcast_arrays(self.x + (column + 0.5) * self.size, self.y + (row + 0.5) * self.pitch)
        return np.stack([across, down], axis=-1)


@dataclass(frozen=True, eq=False)
class Rects(_Comparable):
    """Rectangles (n, 4): x, y, width, height."""

    key: str
    boxes: npt.NDArray[np.float64]
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1.0
    radius: float = 0.0
    meaning: Meaning | None = None


@dataclass(frozen=True, eq=False)
class Lines(_Comparable):
    """Line segments (n, 4): x1, y1, x2, y2."""

    key: str
    segments: npt.NDArray[np.float64]
    stroke: str
    width: float = 1.0
    dashed: bool = False
    meaning: Meaning | None = None


@dataclass(frozen=True, eq=False)
class Labels(_Comparable):
    """Texts, each with its baseline at a row of ``at`` (n, 2). ``side``: as in Cells; ``tells``: the facts that they tell."""

    key: str
    at: npt.NDArray[np.float64]
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
    boxes: npt.NDArray[np.float64]
    fill: npt.NDArray[np.uint8]
    palette: tuple[str, ...]
    inks: tuple[str, ...]
    labels: npt.NDArray[np.str_] | None = None
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
    def clear(self) -> "Scene":
        """Return the scene without primitives that only cover others in the background's colour, for transparent pictures."""

        def stays(each: Primitive) -> bool:
            return not (isinstance(each, Rects) and each.fill == self.background and each.stroke is None)

        primitives, above, words = (tuple(filter(stays, part)) for part in (self.primitives, self.above, self.words))
        return replace(self, primitives=primitives, above=above, words=words)

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


def boxes(*rows: tuple[float, float, float, float]) -> npt.NDArray[np.float64]:
    return np.asarray(rows, np.float64).reshape(-1, 4)


def points(*rows: tuple[float, float]) -> npt.NDArray[np.float64]:
    return np.asarray(rows, np.float64).reshape(-1, 2)
