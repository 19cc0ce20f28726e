"""Resident warps as columns over one resource of a block: values to try by dragging along them."""

import numpy as np

from gemmviz.analysis.models import WhatIf, tried, what_ifs
from gemmviz.model.device import Needs, OccupancyCase
from gemmviz.model.translation import grouped, marked, tr
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Button, Cells, Hit, Labels, Primitive, Rects, points
from gemmviz.scenes.kit.text import fitted
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.view import ViewOptions

_NAMES = {
    "threads": marked("threads per block"),
    "registers": marked("registers per thread"),
    "shared": marked("static shared bytes per block"),
}
_OTHERS = 0.3  # strength of the values that are not the current one
_LOW_SIZE = 17.0  # of the text in a dock


def what_if_curve(
    each: WhatIf, case: OccupancyCase, room: Box, options: ViewOptions, has_scale: bool = False
) -> list[Primitive]:  # fmt: skip
    """Draw columns as high as the share of resident warps; the current value is highlighted. ``has_scale``: with the number of
    warps that is its top.
    """
    theme, size = options.theme, options.theme.type.note if options.words else _LOW_SIZE
    top, high = room.y + 8, room.height - 2.9 * size - 12
    wide = room.width / len(each.values)
    value = _value(each.name, case.needs)
    here = None if value is None else each.nearest(value)
    ground = np.zeros((1, len(each.values)), np.uint8)
    button = Button("value", name=each.name)
    cells = Cells(
        f"what-if-{each.name}", room.x, top, wide, ground, (theme.panel,), (theme.faint,), height=high, meaning=button
    )
    columns = _columns(each, case.device.max_warps_per_sm, Box(room.x, top, room.width, high))
    bars: list[Primitive] = [Rects(f"{each.name}-columns", columns, theme.loaded(_OTHERS))]
    if here is not None:
        column = columns[here : here + 1].copy()
        more = max(0.0, 6.0 - float(column[0, 2]))  # a thin column is widened so that it is seen
        column += (-more / 2, 0.0, more, 0.0)
        bars.append(Rects(f"{each.name}-column", column, theme.load))
    scale = tr("top: {max_warps_per_sm} warps", max_warps_per_sm=case.device.max_warps_per_sm) if has_scale else ""
    top_scale = text_at(f"{each.name}-most", (room.right - 4, top - 6), scale, size, theme.faint, "end")
    return [cells, *bars, *([top_scale] if scale else []), *_texts(each, case, Box(room.x, top, room.width, high), size, theme)]


def _value(name: str, needs: Needs) -> int | None:
    return {"threads": needs.threads, "registers": needs.registers, "shared": needs.shared_bytes}[name]


def _columns(each: WhatIf, most: int, room: Box) -> np.ndarray:
    """Return the columns as x, y, width, height."""
    count = len(each.values)
    wide = room.width / count
    heights = room.height * each.warps / most
    x, inner = room.x + np.arange(count) * wide, np.full(count, max(wide - 1.0, 0.6 * wide))
    return np.stack([x, room.bottom - heights, inner, heights], axis=1)


def _texts(each: WhatIf, case: OccupancyCase, room: Box, size: float, theme: Theme) -> list[Primitive]:
    """Draw the ends of the range and the current value below the columns."""
    value, y = _value(each.name, case.needs), room.bottom
    words = fitted(f"{'?' if value is None else grouped(value)} {tr(_NAMES[each.name])}", size, room.width, "semibold")
    ends = points((room.x, y + 1.15 * size), (room.right, y + 1.15 * size))
    return [
        Labels(f"{each.name}-ends", ends[:1], (grouped(int(each.values[0])),), size, theme.faint),
        Labels(f"{each.name}-end", ends[1:], (grouped(int(each.values[-1])),), size, theme.faint, "end"),
        text_at(f"{each.name}-name", (room.x, y + 2.5 * size), words, size, theme.text, "start", "semibold"),
    ]


def value_at(case: OccupancyCase, hit: Hit) -> Needs | None:
    """Return the value that a column of a curve stands for, None for other cells."""
    button = hit.cells.meaning
    for each in what_ifs(case.device, case.needs):
        if isinstance(button, Button) and button.name == each.name and 0 <= hit.column < len(each.values):
            return tried(case.needs, each.name, int(each.values[hit.column]))
    return None
