"""The hardware in one diagram: a device with its multiprocessors, and a multiprocessor with its schedulers, its cores and its
memories, from registers to the memory off the chip. Views say what is lit, and move things through it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.layout import LINE_PITCH, REST, STROKE, Box, Line, cells_in, lines_in, round_boxes, tag, text_in, write
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, boxes
from gemmviz.scenes.kit.theme import Style, Theme
from gemmviz.scenes.kit.view import ViewOptions, eased_in_turn

_PAD = 18.0  # from the side of a memory to its name
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
    words = lines_in(inner or box.inset(_PAD, 0), lines) if lines else ()
    return [round_boxes(key, box, theme.slate, outline, width), *words]


def named_memory(
    key: str, box: Box, name: str, theme: Theme, style: Style | None = None, level: int | None = None
) -> list[Primitive]:
    """Draw a memory with its name at its upper edge; the name's key ends with "-name"."""
    words = style or theme.strong
    head = box.inset(_PAD, 0.4 * words.size)._replace(height=LINE_PITCH * words.size)
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
