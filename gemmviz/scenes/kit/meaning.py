"""What a primitive of a picture stands for: hover, clicks, words, questions and motion go by it, and by nothing else."""

from typing import Literal

from msgspec import Struct

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
Meaning = Sort | TextPart | ArrayCells | Button | Part | Lanes
