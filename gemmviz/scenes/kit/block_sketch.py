"""A block as a sketch: a cell for each thread, and beside it the shared arrays that the kernel declares, cell by cell."""

import numpy as np

from gemmviz.model.translation import tr
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Labels, Primitive, Rects, boxes, points
from gemmviz.scenes.kit.text import text_width

_MOST, _LARGEST, _GAP, _HEAD = 8, 120.0, 64.0, 40.0  # most rows and columns; largest cell; between tables; above one
_Table = tuple[str, int, int]


def block_sketch(block: tuple[int, int, int], tiles: tuple[_Table, ...], room: Box, options: ViewOptions) -> list[Primitive]:
    """Draw the threads of a block and the cells of its shared arrays (name, rows, columns) with cells of one size, as large as
    fit the room; nothing if they are too many or too small.
    """
    theme, size, (dx, dy, dz) = options.theme, options.theme.type.least, block
    threads = tr("a block: {dx} × {dy} threads", dx=dx, dy=dy)
    tables = [(threads, dy, dx), *((f"{name}: {rows} × {columns}", rows, columns) for name, rows, columns in tiles)]
    highest, widest = max(rows for _, rows, _ in tables), sum(columns for _, _, columns in tables)
    names = [text_width(name, theme.type.words, "semibold") for name, _, _ in tables]
    cell = min(_LARGEST, (room.height - _HEAD) / highest, (room.width - _GAP * len(tables)) / widest)
    wide = sum(max(name, columns * cell) + _GAP for name, (_, _, columns) in zip(names, tables, strict=True)) - _GAP
    if dz > 1 or max(highest, *(columns for _, _, columns in tables)) > _MOST or cell < 1.2 * size or wide > room.width:
        return []
    x, y, primitives = room.x, room.y + _HEAD, list[Primitive]()
    for place, ((name, rows, columns), own) in enumerate(zip(tables, names, strict=True)):
        fill, box = np.zeros((rows, columns), np.uint8), boxes((x, y, columns * cell, rows * cell))
        colour = theme.warps[0] if place == 0 else theme.slate
        texts = np.array([[f"({column}, {row})" for column in range(columns)] for row in range(rows)]) if place == 0 else None
        fits = texts is not None and text_width("(0, 0)", size) <= 0.95 * cell
        primitives += [
            Labels(f"sketch-{place}-name", points((x, y - 12)), (name,), theme.type.words, theme.text, "start", "semibold"),
            Cells(f"sketch-{place}", x, y, cell, fill, (colour,), (theme.ink_on(colour),), texts if fits else None,
                  size if fits else 0.0, theme.background),
            Rects(f"sketch-{place}-frame", box, None, theme.faint if place else theme.background, 2.0),
        ]  # fmt: skip
        x += max(own, columns * cell) + _GAP
    return primitives
