"""The hardware in one diagram: a device with its multiprocessors, and a multiprocessor with its schedulers, its cores and its
memories, from registers to the memory off the chip. Views say what is lit, and move things through it.
"""

import numpy as np

from gemmviz.model.device import Device, MemoryLevel
from gemmviz.model.translation import tr
from gemmviz.scenes.kit.layout import REST, Box, Line, cells_in, lines_in, text_in
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, boxes
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme

_CONTROL, _BETWEEN = 34.0, 10.0  # height of a scheduler's bar; gap between the cores of two of them
_LARGEST, _MOST_OBLONG = 110.0, 2.6  # of a cell: its side, and how many times as wide as high it may be


def memory(
    key: str, box: Box, lines: list[Line], theme: Theme, inset: float = 14.0, radius: float = 8.0, stroke: str | None = None
) -> list[Primitive]:
    """Draw a memory: a slate box with as many of its lines as fit."""
    ground = Rects(key, boxes(box), theme.slate, stroke or theme.faint, 2.0, radius)
    return [ground, *lines_in(box.inset(inset, 0.0), lines)]


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
        word = next((text for text in words if text_width(text, least) + 12 <= bar.width), tr("control"))
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
