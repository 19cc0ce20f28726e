"""The arrays of a block in shared memory as small tables with the indices of the elements that they hold copies of."""

import numpy as np
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.trace import CONSTANT
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Cells, Primitive
from gemmviz.scenes.kit.text import text_line
from gemmviz.scenes.stage.matrix import label_size

_GAP, _LARGEST, _MOST = 60.0, 60.0, 4096


class SmallTiles(Struct, frozen=True):
    """The box of each shared array by its number, and the side of a cell."""

    boxes: dict[int, Box]
    side: float

    @classmethod
    def of(cls, moment: Moment, room: Box, options: ViewOptions) -> "SmallTiles":
        """The tables stand side by side, below their names, in the middle of the room."""
        shapes = {
            n: each.extents for n, each in enumerate(moment.trace.arrays) if each.space == "shared" and each.size <= _MOST
        }
        head = 1.4 * options.theme.type.least
        if not shapes:
            return cls({}, 0.0)
        wide = (room.width - _GAP * (len(shapes) - 1)) / sum(columns for _, columns in shapes.values())
        side = min(_LARGEST, wide, (room.height - head) / max(rows for rows, _ in shapes.values()))
        x = room.x + (room.width - side * sum(c for _, c in shapes.values()) - _GAP * (len(shapes) - 1)) / 2
        placed = {}
        for number, (rows, columns) in shapes.items():
            placed[number] = Box(x, room.y + head, columns * side, rows * side)
            x += columns * side + _GAP
        return cls(placed, side)

    def middle(self, number: int, cell: int) -> tuple[float, float]:
        """The centre of a cell, by its place in the flat array."""
        box = self.boxes[number]
        row, column = divmod(cell, max(1, round(box.width / self.side)))
        return box.x + (column + 0.5) * self.side, box.y + (row + 0.5) * self.side


def small_tiles(moment: Moment, placed: SmallTiles, options: ViewOptions) -> list[Primitive]:
    """Draw the tables; the cells that this step accesses are lit."""
    theme, primitives = options.theme, list[Primitive]()
    contents = moment.tiles if options.arrived else moment.tiles_before
    names = [each.name if each.space == "global" else "" for each in moment.trace.arrays]
    palette = (theme.panel, *(theme.tint(name, 0.4) for name in names), *(theme.accent(name) for name in names))
    for number, box in placed.boxes.items():
        array = moment.trace.arrays[number]
        held = contents[number].array.astype(np.int64) if number in contents else np.full(array.size, -1)
        fill = np.where(held >= 0, held + 1, 0)
        for touched in moment.of_array(number):
            cells = touched.block_cells
            fill[cells] = np.where(held[cells] >= 0, held[cells] + 1 + len(names), 0)
        texts = _texts(moment, number, options) if number in contents else np.full(array.size, "")
        size = label_size(max([*texts.tolist(), "0"], key=len), placed.side, options.pixels, options.least)
        inks = tuple(map(theme.ink_on, palette))
        shape = array.extents
        labels = texts.reshape(shape) if size else None
        primitives.append(
            Cells(f"small-{array.name}", box.x, box.y, placed.side, fill.astype(np.uint8).reshape(shape), palette, inks,
                  labels, size, theme.background)
        )  # fmt: skip
        at = (box.x, box.y - 0.4 * theme.type.least)
        primitives.append(text_line(f"small-{array.name}-name", at, array.name, theme.type.least, 200.0, theme.text))
    return primitives


def _texts(moment: Moment, number: int, options: ViewOptions) -> np.ndarray[tuple[int, ...], np.dtype[np.str_]]:
    content = (moment.tiles if options.arrived else moment.tiles_before)[number]
    arrays = moment.trace.arrays
    texts = [
        options.labels.indices(arrays[each], element) if each >= 0 else "0" if each == CONSTANT else ""
        for each, element in zip(content.array.tolist(), content.element.tolist(), strict=True)
    ]
    return np.array(texts)
