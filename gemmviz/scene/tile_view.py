"""The shared-memory arrays of one block: each cell in the colour of the matrix it holds a copy of, with that element's
indices.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.replay import EMPTY, Replay, TileContent
from gemmviz.model.trace import COMPUTED, CONSTANT, MemoryArray
from gemmviz.scene.matrix import MOST_CELLS, coloured, label_size
from gemmviz.scene.primitives import Cells, Labels, Picture, Primitive, Rects, boxes, points
from gemmviz.scene.theme import Theme

_HEADING, _SPACE = 24.0, 36.0
_NOTHING, _ZERO, _RESULT = 0, 1, 2
_MATRICES = 3


@dataclass(frozen=True, slots=True)
class Box:
    """A region of the frame."""

    x: float
    y: float
    width: float
    height: float


def tile_primitives(replay: Replay, step: int, room: Box, theme: Theme, zoom: float) -> list[Primitive]:
    """All shared arrays of the replay's block, side by side in ``room``."""
    shared = [(number, array) for number, array in enumerate(replay.trace.arrays) if array.space == "shared"]
    if not shared:
        return []
    contents = replay.tiles(step)
    shapes = [_rows_columns(array) for _, array in shared]
    columns = sum(shape[1] for shape in shapes)
    wide = (room.width - _SPACE * len(shared)) / columns
    rows = max(shape[0] for shape in shapes)
    cell = min(wide, (room.height - _HEADING - 14) / rows, 76.0)
    above = room.height - _HEADING - 14 - rows * cell
    x = room.x + (room.width - columns * cell - _SPACE * (len(shared) - 1)) / 2
    found: list[Primitive] = []
    for (number, array), shape in zip(shared, shapes, strict=True):
        top = room.y + above / 2 + _HEADING + 14
        found += _tile(replay, step, number, array, shape, (x, top, cell), contents.get(number), theme, zoom)
        x += shape[1] * cell + _SPACE
    return found


def tile_matrix(replay: Replay, step: int) -> str | None:
    """The matrix whose copies are read or written at a step that touches a tile, where that is one."""
    site = replay.trace.site_of(step)
    content = replay.tiles(step).get(site.array)
    cells = replay.elements(step)
    if content is None or not (cells >= 0).any():
        return None
    numbers = np.unique(content.array[cells[cells >= 0]])
    return replay.trace.arrays[int(numbers[0])].name if len(numbers) == 1 and numbers[0] >= 0 else None


def _rows_columns(array: MemoryArray) -> tuple[int, int]:
    """Two-dimensional as declared; a flat array is shown 32 elements, one pass over the banks, a row."""
    if len(array.shape) > 1:
        return array.size // array.shape[-1], array.shape[-1]
    columns = min(32, array.size)
    return -(-array.size // columns), columns


def _tile(
    replay: Replay, step: int, number: int, array: MemoryArray, shape: tuple[int, int], at: tuple[float, float, float],
    content: TileContent | None, theme: Theme, zoom: float,
) -> list[Primitive]:  # fmt: skip
    x, y, cell = at
    rows, columns = shape
    palette = tile_palette(replay, theme)
    fill, texts = _look(replay, step, number, array, content, palette)
    fill, texts = _padded(fill, shape), _padded(texts, shape)
    key = f"tile-{array.name}"
    table: Primitive
    if max(shape) > MOST_CELLS:
        table = Picture(key, x, y, columns * cell, rows * cell, coloured(fill, palette))
    else:
        longest = max(texts.ravel().tolist(), key=len)
        size = label_size(longest or "0", cell, zoom)
        inks = tuple(theme.ink_on(colour) if i % 2 else theme.text for i, colour in enumerate(palette))
        table = Cells(
            key, x, y, cell, fill, palette, inks, texts if size else None, size, theme.background if cell * zoom >= 6 else None
        )
    frame = Rects(f"{key}-frame", boxes((x, y, columns * cell, rows * cell)), None, theme.line, 1.5)
    name = Labels(f"{key}-name", points((x, y - 12)), (array.name,), _HEADING, theme.text, "start", "semibold")
    return [table, frame, name]


def tile_palette(replay: Replay, theme: Theme) -> tuple[str, ...]:
    """Pairs of (held, lit): nothing, constant, computed, then a copy of each matrix in the trace's order."""
    pairs = [(theme.empty, theme.faint), (theme.line, theme.text), (theme.line, theme.text)]
    for array in replay.trace.arrays[:_MATRICES]:
        if array.space == "global":
            pairs.append((theme.tint(array.name, 0.33), theme.accent(array.name)))
    return tuple(colour for pair in pairs for colour in pair)


def _look(
    replay: Replay, step: int, number: int, array: MemoryArray, content: TileContent | None, palette: tuple[str, ...]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.str_]]:
    """Palette entry and label of every element, flat."""
    kinds = np.full(array.size, _NOTHING, np.uint8)
    texts = np.full(array.size, "", "<U12")
    if content is not None:
        kinds = _kinds(content)
        texts = _texts(replay, content)
    site = replay.trace.site_of(step)
    lit = np.zeros(array.size, np.uint8)
    if site.array == number:
        cells = replay.elements(step)
        for component in range(site.width):
            lit[cells[cells >= 0] + component] = 1
    return (kinds * 2 + lit).astype(np.uint8), texts


def _kinds(content: TileContent) -> npt.NDArray[np.uint8]:
    named = {EMPTY: _NOTHING, CONSTANT: _ZERO, COMPUTED: _RESULT}
    kinds = content.array.astype(np.int16) + 3
    for value, kind in named.items():
        kinds[content.array == value] = kind
    return kinds.astype(np.uint8)


def _texts(replay: Replay, content: TileContent) -> npt.NDArray[np.str_]:
    texts = np.full(len(content.array), "", "<U12")
    for number, array in enumerate(replay.trace.arrays):
        here = content.array == number
        if here.any():
            rows, columns = array.row_column(content.element[here])
            texts[here] = _names(tuple(rows.tolist()), tuple(columns.tolist()))
    texts[content.array == CONSTANT] = "0"
    return texts


@lru_cache(maxsize=256)
def _names(rows: tuple[int, ...], columns: tuple[int, ...]) -> list[str]:
    return [f"{row},{column}" for row, column in zip(rows, columns, strict=True)]


def _padded(flat: npt.NDArray[Any], shape: tuple[int, int]) -> npt.NDArray[Any]:
    missing = shape[0] * shape[1] - len(flat)
    return np.concatenate([flat, np.zeros(missing, flat.dtype)]).reshape(shape) if missing else flat.reshape(shape)
