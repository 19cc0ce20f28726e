"""Small pictures of the inputs of a multiplication, beside a table of reads, and the elements that fly from them to the
threads that read them: an element that several threads read parts on its way.
"""

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.analysis.replay.moment import Moment
from gemmviz.model.arrays import Floats
from gemmviz.model.trace import CONSTANT
from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.layout import Box, text_at
from gemmviz.scenes.kit.primitives import Cells, Primitive, Rects, Squares, boxes
from gemmviz.scenes.kit.text import text_line, text_width
from gemmviz.scenes.stage.matrix import label_size

# The arrays of a block in shared memory as small tables with the indices of the elements that they hold copies of.

_GAP, _LEAST_SIDE, _MOST_CELLS = 36.0, 5.0, 64
_CHIP = 40.0
Element = tuple[int, int]  # of an array by its number


class SmallMatrices(Struct, frozen=True):
    """The inputs side by side in a room: the box of each, by its number in the trace."""

    boxes: dict[int, Box]

    @classmethod
    def of(cls, moment: Moment, room: Box, options: ViewOptions) -> "SmallMatrices":
        """Both have cells of one size, below a line with their names."""
        arrays, head = moment.trace.arrays, 1.3 * options.theme.type.words
        shapes = {number: arrays[number].extents for number in moment.trace.inputs}
        wide = (room.width - _GAP * (len(shapes) - 1)) / max(1, sum(columns for _, columns in shapes.values()))
        side = min(wide, (room.height - head) / max(rows for rows, _ in shapes.values()), _CHIP)
        placed, x = {}, room.x
        for number, (rows, columns) in shapes.items():
            placed[number] = Box(x, room.y + head, columns * side, rows * side)
            x += columns * side + _GAP
        return cls(placed)

    @property
    def right(self) -> float:
        return max(box.right for box in self.boxes.values())

    def middle(self, moment: Moment, element: Element) -> tuple[float, float]:
        """The centre of an element."""
        (number, offset), box = element, self.boxes[element[0]]
        array = moment.trace.arrays[number]
        row, column = (int(each[0]) for each in array.row_column(np.array([offset])))
        rows, columns = array.extents
        return box.x + (column + 0.5) * box.width / columns, box.y + (row + 0.5) * box.height / rows

    def side(self, moment: Moment, number: int) -> float:
        return self.boxes[number].width / moment.trace.arrays[number].extents[1]


def small_matrices(moment: Moment, placed: SmallMatrices, now: set[Element], options: ViewOptions) -> list[Primitive]:
    """Draw the matrices with the elements that are read now lit, and with indices where they fit."""
    primitives: list[Primitive] = []
    for number, box in placed.boxes.items():
        array, theme, side = moment.trace.arrays[number], options.theme, placed.side(moment, number)
        accent, rest = theme.accent(array.name), theme.tint(array.name, 0.22)
        at = (box.x, box.y - 0.35 * theme.type.words)
        primitives.append(text_at(f"small-{array.name}-name", at, array.name, theme.type.words, accent, "start", "semibold"))
        lit = [element for each, element in now if each == number]
        if max(array.extents) <= _MOST_CELLS:
            primitives.append(_table(moment, number, box, side, lit, options))
        else:
            primitives.append(Rects(f"small-{array.name}", boxes(box), rest))
            middles = np.array([placed.middle(moment, (number, each)) for each in lit]).reshape(-1, 2)
            primitives.append(Rects(f"small-{array.name}-lit", _around(middles, max(side, _LEAST_SIDE)), accent))
    return primitives


def _table(moment: Moment, number: int, box: Box, side: float, lit: list[int], options: ViewOptions) -> Cells:
    array, theme = moment.trace.arrays[number], options.theme
    fill = np.zeros(array.extents, np.uint8)
    if lit:
        fill[tuple(np.asarray(each, np.int64) for each in array.row_column(np.array(lit)))] = 1
    palette = theme.tint(array.name, 0.22), theme.accent(array.name)
    inks = theme.faint, theme.ink_on(palette[1])
    names = np.array([[_indices(moment, number, (r, c), options) for c in range(fill.shape[1])] for r in range(fill.shape[0])])
    size = label_size(max(names.ravel().tolist(), key=len), side, options.pixels, options.least)
    labels = names if size else None
    return Cells(f"small-{array.name}", box.x, box.y, side, fill, palette, inks, labels, size, theme.background)


def _indices(moment: Moment, number: int, place: tuple[int, int], options: ViewOptions) -> str:
    array = moment.trace.arrays[number]
    return options.labels.indices(array, array.element_at(*place))


def _around(middles: Floats, side: float) -> Floats:
    return np.column_stack([middles - side / 2, np.full((len(middles), 2), side)])


def reading_motion(
    moment: Moment, placed: SmallMatrices, reads: list[tuple[Element, tuple[float, float]]], options: ViewOptions
) -> tuple[Primitive, ...]:
    """Draw each element that is read on its way to a place of the table; nothing after it has arrived."""
    if options.arrived or not reads:
        return ()
    share = options.way
    start: npt.NDArray[np.float64] = np.array([placed.middle(moment, element) for element, _ in reads])
    end = np.array([place for _, place in reads])
    middles = start + (end - start) * share
    numbers = sorted({number for (number, _), _ in reads})
    side = max(_LEAST_SIDE, placed.side(moment, numbers[0]) * (1 - share) + _CHIP * share)
    arrays, theme = moment.trace.arrays, options.theme
    palette = tuple(theme.accent(arrays[number].name) for number in numbers)
    texts = np.array([options.labels.indices(arrays[number], element) for (number, element), _ in reads])
    longest = max(texts.tolist(), key=lambda each: text_width(each, 1.0))
    size = label_size(longest, side, options.pixels, options.least)
    fill = np.array([numbers.index(number) for (number, _), _ in reads], np.uint8)
    inks = tuple(map(theme.ink_on, palette))
    boxes_ = np.column_stack([middles - side / 2, np.full(len(middles), side)])
    return (Squares("reading", boxes_, fill, palette, inks, texts if size else None, size, theme.background),)


_TILE_GAP, _LARGEST, _MOST = 60.0, 60.0, 4096


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
        wide = (room.width - _TILE_GAP * (len(shapes) - 1)) / sum(columns for _, columns in shapes.values())
        side = min(_LARGEST, wide, (room.height - head) / max(rows for rows, _ in shapes.values()))
        x = room.x + (room.width - side * sum(c for _, c in shapes.values()) - _TILE_GAP * (len(shapes) - 1)) / 2
        placed = {}
        for number, (rows, columns) in shapes.items():
            placed[number] = Box(x, room.y + head, columns * side, rows * side)
            x += columns * side + _TILE_GAP
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
