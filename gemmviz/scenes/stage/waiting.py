"""The lanes of a warp over the banks of shared memory that serve them: a bank with several words to deliver has a stack of
lanes over it, of which it serves one in each wavefront.
"""

import math

import numpy as np
import numpy.typing as npt

from gemmviz.analysis.memory.punchcard import Punchcard
from gemmviz.scenes.kit.box import Box
from gemmviz.scenes.kit.primitives import Cells, Labels, Lines, Primitive, Rects, points
from gemmviz.scenes.kit.text import text_width
from gemmviz.scenes.kit.theme import Theme, mixed

IDLE, FIRST, AGAIN, WAITING = range(4)
_BANK, _AIR = 30.0, 6.0  # height of the row of banks; between it and the stacks
_LARGEST_ROW = 44.0
_LABEL_STEPS = (1, 2, 4, 8, 16, 32, 64)
_WAITS = 0.35  # light of a lane that waits


def waiting_primitives(
    card: Punchcard, box: Box, accent: str, theme: Theme, key: str = "banks", *, share: float = 1.0, numbers: float = 0.0
) -> list[Primitive]:
    """Draw banks along the lower edge of a box and the lanes over them; the first wavefront stands at the bottom.

    ``share``: how many of the wavefronts have passed, 0 to 1; lanes of later ones are dim. ``numbers``: the size of the lanes'
    numbers, 0 for none; they are left out where they don't fit.
    """
    rows, banks = card.first.shape
    cell, high = stack_cell(card, box)
    floor = box.y + box.height - _BANK - _AIR
    cells = stack_cells(card, (box.x, floor - rows * high, cell, high), accent, theme, key, share, numbers)
    return [
        _shafts(banks, (box.x, box.y, floor), cell, key, theme),
        cells,
        *_banks(banks, box.x, floor + _AIR, cell, key, theme),
    ]


def stack_cell(card: Punchcard, box: Box) -> tuple[float, float]:
    """Return the width and the height of a lane in the stacks within a box."""
    rows, banks = card.first.shape
    return box.width / banks, min((box.height - _BANK - _AIR) / rows, _LARGEST_ROW, 1.5 * box.width / banks)


def stack_cells(
    card: Punchcard, at: tuple[float, float, float, float], accent: str, theme: Theme, key: str, share: float, numbers: float
) -> Cells:
    """Return the stacks as cells (wavefronts, banks) whose last row is the first wavefront. ``at``: left and upper edge, width
    and height of a lane.
    """
    x, y, cell, high = at
    first, served = card.first[::-1], card.served[::-1]
    rows = len(first)
    wavefront = np.arange(rows)[::-1, None]
    fill = np.where(first < 0, IDLE, np.where(np.isin(wavefront, card.starts), FIRST, AGAIN)).astype(np.uint8)
    later = wavefront >= math.ceil(share * rows - 1e-9)
    fill = np.where((first >= 0) & later, WAITING, fill).astype(np.uint8)
    palette = (theme.background, accent, theme.warning, mixed(theme.background, theme.faint, _WAITS))
    inks = (theme.faint, *(theme.ink_on(colour) for colour in palette[1:]))
    texts = np.where(first < 0, "", np.where(served > 1, np.strings.add("×", served.astype("<U3")), first.astype("<U4")))
    fits = numbers if _fits(texts, cell, high, numbers) else 0.0
    line = theme.background if high > 3 else None
    return Cells(key, x, y, cell, fill, palette, inks, texts if fits else None, fits, line, 1, high)


def _fits(texts: npt.NDArray[np.str_], cell: float, high: float, size: float) -> bool:
    return bool(size) and high >= size and max(text_width(text, size) for text in np.unique(texts).tolist()) <= cell - 2


def _shafts(banks: int, at: tuple[float, float, float], cell: float, key: str, theme: Theme) -> Lines:
    """Draw lines between the banks, so that the space over an idle bank is seen. ``at``: left, upper and lower edge."""
    x, top, floor = at
    edges = x + np.arange(banks + 1) * cell
    lines = np.stack([edges, np.full(banks + 1, top), edges, np.full(banks + 1, floor)], axis=1)
    return Lines(f"{key}-shafts", lines, theme.line, 1.0)


def _banks(banks: int, x: float, y: float, cell: float, key: str, theme: Theme) -> list[Primitive]:
    """Draw the banks and number them at even distances."""
    size = theme.type.least
    gap = min(1.5, 0.06 * cell)
    boxes = np.array([(x + bank * cell + gap, y, cell - 2 * gap, _BANK) for bank in range(banks)])
    every = next((step for step in _LABEL_STEPS if step * cell >= text_width("31", size) + 8), _LABEL_STEPS[-1])
    shown = range(0, banks, every)
    at = points(*((x + (bank + 0.5) * cell, y + 0.5 * _BANK + 0.36 * size) for bank in shown))
    return [
        Rects(f"{key}-row", boxes, theme.slate, radius=min(4.0, 0.2 * cell)),
        Labels(f"{key}-numbers", at, tuple(map(str, shown)), size, theme.text, "middle"),
    ]
