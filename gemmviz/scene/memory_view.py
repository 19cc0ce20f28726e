"""One warp's request on the address line: each row a 128-byte line that it touches, cut into 32-byte sectors.

What lanes ask for is lit and bears the lane; what a touched sector brings along unasked is marked; sectors that stay away are
empty.
"""

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.coalescing import LINE_BYTES, SECTOR_BYTES
from gemmviz.analysis.replay import Replay
from gemmviz.model.trace import MemoryArray
from gemmviz.scene.frame import BOTTOM, MARGIN, TOP, WIDTH, StageOptions, framed
from gemmviz.scene.matrix import label_size
from gemmviz.scene.primitives import Cells, Labels, Lines, Primitive, Scene, points
from gemmviz.scene.theme import Theme, mixed

Table = npt.NDArray[np.int64]
_AWAY, _BROUGHT, _ASKED = range(3)
_LEFT, _RIGHT, _HEADING = 230.0, 350.0, 24.0


def memory_scene(replay: Replay, step: int, options: StageOptions | None = None) -> Scene:
    """The request of the chosen warp (or of the block's first that makes one) at ``step``."""
    options = options or StageOptions()
    theme, array, warp = options.theme, replay.trace.array_of(step), first_warp(replay, step)
    found: list[Primitive]
    if array is None or array.space != "global" or warp is None:
        found = [message("This step makes no request to global memory.", theme, options.height)]
    else:
        width = replay.trace.site_of(step).width
        found = _request(replay.rows(step)[warp], array, width, warp, theme, options)
    return framed(found, replay, step, options)


def first_warp(replay: Replay, step: int) -> int | None:
    """The number of the chosen warp, or of the block's first with an active lane; None where there is none."""
    active = (replay.rows(step) >= 0).any(axis=1)
    return int(np.argmax(active)) if active.any() else None


def message(text: str, theme: Theme, height: float) -> Labels:
    return Labels("message", points((WIDTH / 2, height / 2)), (text,), 30.0, theme.faint, "middle")


def line_table(lanes: Table, itemsize: int, width: int) -> tuple[Table, Table, Table]:
    """The touched lines, ascending; for each of their elements the first lane that asks for it, -1 where none does and -2
    where not even its sector is moved: (lines, elements of a line); and how many lanes ask, likewise.
    """
    per_line, per_sector = LINE_BYTES // itemsize, SECTOR_BYTES // itemsize
    lane = np.flatnonzero(lanes >= 0)
    elements = (lanes[lane][:, None] + np.arange(width)).ravel()
    numbers = np.unique(elements // per_line)
    row, column = np.searchsorted(numbers, elements // per_line), elements % per_line
    table = np.full((len(numbers), per_line), -2, np.int64)
    table.reshape(len(numbers), -1, per_sector)[row, column // per_sector] = -1
    places, first, asking = np.unique(row * per_line + column, return_index=True, return_counts=True)
    table.reshape(-1)[places] = np.repeat(lane, width)[first]
    counts = np.zeros_like(table)
    counts.reshape(-1)[places] = asking
    return numbers, table, counts


def _request(lanes: Table, array: MemoryArray, width: int, warp: int, theme: Theme, options: StageOptions) -> list[Primitive]:
    numbers, table, counts = line_table(lanes, array.itemsize, width)
    rows, columns = table.shape
    top, bottom = TOP + MARGIN + 30, options.height - BOTTOM
    cell = min((WIDTH - _LEFT - _RIGHT) / columns, (bottom - top) / rows, 40.0)
    x, y = _LEFT, top + max(0.0, (bottom - top - rows * cell) / 4)
    fill = np.where(table >= 0, _ASKED, np.where(table == -1, _BROUGHT, _AWAY)).astype(np.uint8)
    palette = (theme.empty, mixed(theme.background, theme.warning, 0.45), theme.accent(array.name))
    many = np.char.add("×", counts.astype("<U3"))
    texts = np.where(table < 0, "", np.where(counts > 1, many, table.astype("<U4")))
    size = label_size("×32" if (counts > 1).any() else "31", cell, options.zoom)
    inks = (theme.faint, theme.text, theme.ink_on(palette[_ASKED]))
    heading = f"{array.name}: 128-byte lines that warp {warp} touches; numbers are lanes, ×n: so many share"
    found: list[Primitive] = [
        Cells("lines", x, y, cell, fill, palette, inks, texts if size else None, size, theme.background),
        _sector_marks(x, y, cell, rows, columns, array.itemsize, theme),
        Labels("memory-heading", points((x, y - 16)), (heading,), _HEADING, theme.accent(array.name), "start", "semibold"),
    ]
    return found + _line_words(numbers, table, array, (x, y, cell), theme)


def _sector_marks(x: float, y: float, cell: float, rows: int, columns: int, itemsize: int, theme: Theme) -> Lines:
    step = SECTOR_BYTES // itemsize
    xs = [x + i * cell for i in range(0, columns + 1, step)]
    return Lines("sectors", np.array([(at, y, at, y + rows * cell) for at in xs]), theme.text, 2.0)


def _line_words(
    numbers: npt.NDArray[np.int64],
    table: npt.NDArray[np.int64],
    array: MemoryArray,
    at: tuple[float, float, float],
    theme: Theme,
) -> list[Primitive]:
    """The address of each line at its left, what it brings at its right; every second or so where rows are narrow."""
    x, y, cell = at
    rows, columns = table.shape
    every = max(1, round(20 / cell))
    shown = range(0, rows, every)
    middle = [y + (row + 0.5) * cell + 6 for row in shown]
    moved = (table.reshape(rows, -1, SECTOR_BYTES // array.itemsize) > -2).any(axis=2).sum(axis=1)
    used = (table >= 0).sum(axis=1) * array.itemsize
    addresses = tuple(f"byte {int(numbers[row]) * LINE_BYTES:,}".replace(",", "\u202f") for row in shown)
    brought = tuple(f"{moved[row]} of 4 sectors, {used[row]} of {moved[row] * SECTOR_BYTES} bytes used" for row in shown)
    left = points(*((x - 14, at_y) for at_y in middle))
    right = points(*((x + columns * cell + 14, at_y) for at_y in middle))
    return [
        Labels("addresses", left, addresses, 18.0, theme.faint, "end"),
        Labels("brought", right, brought, 18.0, theme.faint, "start"),
    ]
