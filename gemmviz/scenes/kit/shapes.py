"""Small shapes that pictures share: hatching, brackets around groups, magnified cells."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from gemmviz.model.arrays import AnyArray, Bytes, Floats, Longs
from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.messages import tr
from gemmviz.model.trace import Trace
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, STROKE, Box, Line, cells_in, lines_in, round_boxes, tag, text_in, write
from gemmviz.scenes.kit.primitives import (
    ANCHORED,
    Cells,
    Face,
    Labels,
    Lines,
    Meaning,
    Primitive,
    Rects,
    RunSide,
    Scene,
    Squares,
    boxes,
    text_width,
)
from gemmviz.scenes.kit.theme import WARP_ACCENTS, Style, Theme
from gemmviz.scenes.kit.view import Layer, ViewOptions, eased_in_turn

# Diagonal lines within boxes: a pattern that every renderer draws, and that is readable without colour.

_FEW, _MANY = 1, 3  # lines in a box
_LARGE = 26.0  # units: side of a box with several lines
_STROKE_SHARE = 0.07  # of a box's side


def hatching(key: str, boxes: Floats, colour: str, meaning: Meaning | None = None) -> Lines:
    """Return rising diagonals within boxes (n, 4), more in boxes that are longer than wide."""
    side = float(boxes[:, 2:].min()) if len(boxes) else 0.0
    each = _MANY if side >= _LARGE else _FEW
    half = boxes[:, 2:].sum(axis=1) / 2
    counts = np.maximum(each, np.rint(each * half / np.maximum(boxes[:, 2:].min(axis=1), 1.0))).astype(np.int64)
    x, y, wide, high = np.repeat(boxes, counts, axis=0).T
    place = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    along = (place + 0.5) / np.repeat(counts, counts) * (wide + high)  # where a diagonal meets the left or lower edge
    segments = np.stack(
        [
            x + np.maximum(0, along - high),
            y + np.minimum(along, high),
            x + np.minimum(along, wide),
            y + np.maximum(0, along - wide),
        ],
        axis=-1,
    )
    return Lines(key, segments.reshape(-1, 4), colour, float(np.clip(_STROKE_SHARE * side, 1.0, 3.0)), meaning=meaning)


# Colours of threads: by warp within the block, by lane within the warp, or by block.

GROUPED: tuple[Layer, ...] = ("warp", "lane", "block")
COLOURS = len(WARP_ACCENTS)
_ROW_OF_BLOCKS = 3  # offset of the colours between rows of blocks, so that neighbours differ


def group_accents(layer: Layer, theme: Theme) -> tuple[str, ...]:
    """Return the colours of the groups of a layer: in order for lanes, as different as possible for other layers."""
    return theme.lanes if layer == "lane" else theme.warps


def group_colours(trace: Trace, threads: AnyArray, layer: Layer) -> Longs:
    """Return the index into ``group_accents`` of each thread of the trace."""
    space, size = trace.space, trace.rules.warp_size
    within = threads % space.threads_per_block
    if layer == "lane":
        return np.asarray(within % size * COLOURS // size, np.int64)
    if layer == "block":
        block = threads // space.threads_per_block
        across = trace.blocks.extents[0]
        return np.asarray((block % across + block // across * _ROW_OF_BLOCKS) % COLOURS, np.int64)
    return np.asarray(within // size % COLOURS, np.int64)


def thread_colours(trace: Trace, threads: AnyArray, layer: Layer, theme: Theme, alone: str) -> tuple[tuple[str, ...], Bytes]:
    """Return colours, and the index of the colour of each thread of the trace; ``alone`` if a layer has no groups."""
    if layer not in GROUPED:
        return (alone,), np.zeros(len(threads), np.uint8)
    return group_accents(layer, theme), group_colours(trace, threads, layer).astype(np.uint8)


def group_numbers(trace: Trace, threads: AnyArray, layer: Layer) -> Longs:
    """Return a number for each thread of the trace that is equal within a group and different between groups."""
    space, size = trace.space, trace.rules.warp_size
    if layer == "block":
        return np.asarray(threads // space.threads_per_block, np.int64)
    within = threads % space.threads_per_block
    return np.asarray(within % size if layer == "lane" else within // size, np.int64)


# A magnified part of a scene.


def magnified(scene: Scene, zoom: float, x: float, y: float) -> Scene:
    """Return the scene ``zoom`` times as large, centred at (``x``, ``y``), shares of its width and height.

    Lines keep their width, and words their place.
    """
    if zoom == 1.0 and (x, y) == (0.5, 0.5):
        return scene
    left, top = scene.width * (0.5 - x * zoom), scene.height * (0.5 - y * zoom)
    closer = partial(_magnified, zoom=zoom, left=left, top=top)
    return dataclasses.replace(scene, primitives=tuple(map(closer, scene.primitives)), above=tuple(map(closer, scene.above)))


def moved(each: Primitive, x: float, y: float, side: RunSide) -> Primitive:
    """Return a primitive moved right and down, as part of one side of a comparison."""
    shift = np.array((x, y))
    facts = _of_side(each, side)
    match each:
        case Cells():
            facts |= {"x": each.x + x, "y": each.y + y}
        case Rects():
            facts["boxes"] = each.boxes + np.array((x, y, 0.0, 0.0))
        case Lines():
            facts["segments"] = each.segments + np.array((x, y, x, y))
        case Labels():
            facts["at"] = each.at + shift
        case Squares():
            facts["boxes"] = each.boxes + np.array((x, y, 0.0))
    copy = object.__new__(type(each))  # ten times as fast as dataclasses.replace; a frame has hundreds
    copy.__dict__.update(each.__dict__, **facts)
    return copy


def of_side(each: Primitive, side: RunSide) -> Primitive:
    """Return a primitive as part of one side of a comparison."""
    copy = object.__new__(type(each))
    copy.__dict__.update(each.__dict__, **_of_side(each, side))
    return copy


def _of_side(each: Primitive, side: RunSide) -> dict[str, Any]:
    key = {"key": f"{side}-{each.key}"}
    return {**key, "side": side} if isinstance(each, Cells | Labels) else key


def moved_down(primitives: tuple[Primitive, ...], by: float) -> tuple[Primitive, ...]:
    """Return primitives ``by`` units further down."""
    return tuple(_magnified(each, 1.0, 0.0, by) for each in primitives) if by else primitives


def _magnified(each: Primitive, zoom: float, left: float, top: float) -> Primitive:
    match each:
        case Cells():
            size, height = each.size * zoom, None if each.height is None else each.height * zoom
            at_x, at_y = each.x * zoom + left, each.y * zoom + top
            return dataclasses.replace(each, x=at_x, y=at_y, size=size, height=height, label_size=each.label_size * zoom)
        case Rects():
            return dataclasses.replace(
                each, boxes=each.boxes * zoom + np.array((left, top, 0.0, 0.0)), radius=each.radius * zoom
            )
        case Lines():
            return dataclasses.replace(each, segments=each.segments * zoom + np.array((left, top, left, top)))
        case Labels():
            return dataclasses.replace(each, at=each.at * zoom + np.array((left, top)), size=each.size * zoom)
        case Squares():
            boxes = each.boxes * zoom + np.array((left, top, 0.0))
            return dataclasses.replace(each, boxes=boxes, label_size=each.label_size * zoom)


_ABOVE, _BELOW = 0.8, 0.25  # of the size of a text: from its baseline to its edges


class LabelUnder(Struct, frozen=True):
    """A text of a scene: its left end on the baseline, its size and its face."""

    text: str
    x: float
    y: float
    size: float
    face: Face

    def index_at(self, x: float) -> int:
        """Return the index of the character at a place."""
        ends = (self.x_of(index + 1) for index in range(len(self.text)))
        return next((index for index, end in enumerate(ends) if x < end), len(self.text) - 1)

    def x_of(self, index: int) -> float:
        """Return where a character begins."""
        return self.x + text_width(self.text[:index], self.size, self.face)


def label_at(drawn: Sequence[Primitive], x: float, y: float) -> LabelUnder | None:
    """Return the topmost text at a point, None if there is none."""
    for each in reversed(drawn):
        if isinstance(each, Labels):
            for (at, base), text in zip(each.at.tolist(), each.texts, strict=True):
                if -_ABOVE * each.size <= y - base <= _BELOW * each.size:
                    width = text_width(text, each.size, each.face)
                    left = at - ANCHORED[each.anchor] * width
                    if left <= x <= left + width:
                        return LabelUnder(text, left, base, each.size, each.face)
    return None


# The hardware in one diagram: a device with its multiprocessors, and a multiprocessor with its schedulers, its cores and its
# memories, from registers to the memory off the chip. Views say what is lit, and move things through it.

_NAME_PAD = 18.0  # from the side of a memory to its name
_CONTROL, _BETWEEN = 34.0, 10.0  # height of a scheduler's bar; gap between the cores of two of them
_LARGEST, _MOST_OBLONG = 110.0, 2.6  # of a cell: its side, and how many times as wide as high it may be


def memory(
    key: str, box: Box, theme: Theme, lines: Sequence[Line] = (), level: int | None = None, width: float = STROKE,
    inner: Box | None = None,
) -> list[Primitive]:  # fmt: skip
    """Draw a memory: a slate box with as many of its lines as fit. ``level``: its distance from the threads, which gives its
    outline a colour; ``inner``: the part of the box for the lines.
    """
    outline = theme.faint if level is None else theme.level(level)
    words = lines_in(inner or box.inset(_NAME_PAD, 0), lines) if lines else ()
    return [round_boxes(key, box, theme.slate, outline, width), *words]


def named_memory(
    key: str, box: Box, name: str, theme: Theme, style: Style | None = None, level: int | None = None
) -> list[Primitive]:
    """Draw a memory with its name at its upper edge; the name's key ends with "-name"."""
    words = style or theme.strong
    head = box.inset(_NAME_PAD, 0.4 * words.size)._replace(height=LINE_PITCH * words.size)
    return [*memory(key, box, theme, level=level), write(f"{key}-name", head, name, words)]


def caches_of(device: Device, shared_by: str) -> list[MemoryLevel]:
    """Return the caches of an "SM", or those of the "device", the nearest to the threads first."""
    return [each for each in device.levels[1:-1] if each.shared_by == shared_by]


def cores(device: Device, room: Box, theme: Theme) -> list[Primitive]:
    """Draw the cores of a multiprocessor in a group for each scheduler, below the bar of that scheduler; or all as one."""
    least, count = theme.type.least, device.schedulers or device.warp_granularity
    if device.is_toy or device.fp32_per_sm % count:
        return [units("cores", device.fp32_per_sm, room, theme)]
    pieces = list[Primitive]()
    for place, box in enumerate(room.columns(*[REST] * count, gap=_BETWEEN)):
        bar, group = box.strip("top", _CONTROL, 4.0)
        words = (tr("warp scheduler"), tr("scheduler"))
        word = next((text for text in words if theme.small.width(text) + 12 <= bar.width), tr("control"))
        pieces += [
            Rects(f"scheduler-{place}", boxes(bar), theme.line, theme.faint, 1.5, 5.0),
            text_in(f"scheduler-{place}-name", bar, word, least, theme.text),
            units(f"cores-{place}", device.fp32_per_sm // count, group, theme),
        ]
    return pieces


def units(key: str, count: int, room: Box, theme: Theme, first: bool = False) -> Cells:
    """Return ``count`` cells as a full rectangle, as near to squares as they fill the room. ``first``: the first stands out."""
    columns = min((c for c in range(1, count + 1) if count % c == 0), key=lambda c: _oblong(c, count // c, room))
    if _oblong(columns, count // columns, room) > _MOST_OBLONG:  # a prime number of cells: leave some places empty
        columns = min(range(1, count + 1), key=lambda c: _oblong(c, -(-count // c), room))
    rows = -(-count // columns)
    fill = np.zeros((rows, columns), np.uint8)
    fill.ravel()[count:] = 1
    fill[0, 0] = 2 if first else 0
    palette = (theme.loaded(0.6 if first else 0.8), theme.panel, theme.load)
    inks = tuple(theme.ink_on(colour) for colour in palette)
    width, height = min(room.width, columns * _LARGEST), min(room.height, rows * _LARGEST)
    return cells_in(key, Box(room.x, room.y, width, height), fill, palette, theme.panel, inks)


def _oblong(columns: int, rows: int, room: Box) -> float:
    """Return how far the cells of so many columns and rows are from squares: 1 for squares."""
    wide, high = room.width / columns, room.height / rows
    return max(wide / high, high / wide)


# Names that move, one after another, from where they are declared into the box of a memory, as chips.

CHIP = 1.4  # height of a chip, in sizes of its text
_PAD_OF_CHIP = 0.2  # of the size of its text: within a chip beside its name, and between chips


class Chip(NamedTuple):
    """The chip of a name in its colour; ``number``: that of the name, in the keys of the chip."""

    number: int
    name: str
    start: Box
    end: Box
    colour: str


def chips_into(box: Box, names: Sequence[tuple[int, str, Box, str]], theme: Theme) -> list[Chip]:
    """Return the chips of names, each with its number, the upper left corner of its start, and its colour, on their way into
    rows within a box, in the largest text size in which all fit; in the least one, as many as fit.
    """
    sizes = theme.type
    for size in (sizes.sentence, sizes.name, sizes.words, sizes.note, sizes.least):
        chips, x, y, pad = list[Chip](), box.x, box.y, _PAD_OF_CHIP * size
        for number, name, start, colour in names:
            wide = Style(size, "", "mono").width(name) + 2 * pad
            if x > box.x and x + wide > box.right:
                x, y = box.x, y + CHIP * size + pad
            end = Box(x, y, wide, CHIP * size)
            if end.right <= box.right and end.bottom <= box.bottom + 0.01:
                chips.append(Chip(number, name, end._replace(x=start.x, y=start.y), end, colour))
            x += wide + pad
        if len(chips) == len(names):
            break
    return chips


def moving_chips(chips: Sequence[Chip], options: ViewOptions) -> tuple[Primitive, ...]:
    """Draw chips on their way, with their names once they have arrived: on their way those would stand over others."""
    pieces = list[Primitive]()
    for place, chip in enumerate(sorted(chips)):
        share = eased_in_turn(options.passed, place, len(chips))
        now = chip.start.towards(chip.end, share)
        style = Style(chip.end.height / CHIP, "", "mono")
        drawn = tag(f"chip-{chip.number}", now, chip.name, chip.colour, options.theme, style)
        pieces += drawn[: 2 if share >= 1 else 1 if share > 0 else 0]
    return tuple(pieces)
