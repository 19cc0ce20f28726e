"""Row and column numbers along the outer sides of the matrices, as many as fit."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from gemmviz.scenes.kit.frame import ViewOptions
from gemmviz.scenes.kit.primitives import Anchor, Labels, Primitive
from gemmviz.scenes.kit.text import CAP_HEIGHT, label_step, text_width
from gemmviz.scenes.kit.theme import Theme
from gemmviz.scenes.kit.window import Window
from gemmviz.scenes.stage.cell_grid import CellGrid
from gemmviz.scenes.stage.layout import Plan

_AIR = 8.0
_OTHER_SIDES = ("left", "below")
_SIDES: dict[str, tuple[str, ...]] = {"A": ("left", "above"), "B": ("right",), "C": ("right", "above")}


Clip = tuple[float, float, float, float]


class _Look(Struct, frozen=True):
    """The options that axes depend on."""

    theme: Theme
    zoom: float
    clip: Clip | None
    counted_from: int = 0


def is_clear_beside_numbers(table: CellGrid, theme: Theme) -> bool:
    """Whether a line along the edge of a column misses the numbers of columns, which stand in the middle of theirs."""
    return text_width(str(table.first[1] + table.columns), theme.type.least) < table.cell


def axis_primitives(plan: Plan, options: ViewOptions) -> list[Primitive]:
    """Draw the numbers of A on its left and above, of B on its right, of C on its right and above, where they number B's
    columns too.

    In a zoomed view they stand at the edge of the visible part.
    """
    return _cached_axes(plan, options.theme, options.zoom, options.clip, options.labels.first)


@lru_cache(maxsize=32)
def _cached_axes(plan: Plan, theme: Theme, zoom: float, clip: Clip | None, counted_from: int) -> list[Primitive]:
    """Return the axes, cached because they stay the same from step to step."""
    look = _Look(theme, zoom, clip, counted_from)
    primitives: list[Primitive] = []
    for name, table in plan.matrices.items():
        for side in _SIDES.get(name, _OTHER_SIDES) if isinstance(plan.window, Window) else _OTHER_SIDES:
            primitives += _along(name, table, side, look, plan.beyond)
    return primitives


def _along(name: str, table: CellGrid, side: str, options: _Look, beyond: tuple[int, int]) -> list[Primitive]:
    size = options.theme.type.least / options.zoom
    is_row = side in ("left", "right")
    first, count = (table.first[0], table.rows) if is_row else (table.first[1], table.columns)
    start, length = (table.y, table.rows * table.cell) if is_row else (table.x, table.columns * table.cell)
    numbers = _numbers(first, count, table.cell, size, is_row)
    step = table.row_step if is_row else 1
    middle = (start + (numbers - first + 0.5) * table.cell).astype(np.float64)
    if options.clip is not None:
        low, extent = (options.clip[1], options.clip[3]) if is_row else (options.clip[0], options.clip[2])
        numbers, middle = numbers[(middle > low) & (middle < low + extent)], middle[(middle > low) & (middle < low + extent)]
    if not len(numbers) or not length:
        return []
    at = _beside(table, side, middle, size, options) + _shift(side, table.cell, beyond)
    anchor: Anchor = {"left": "end", "right": "start"}.get(side, "middle")  # type: ignore[assignment]
    return [
        Labels(
            f"{name}-axis-{side}",
            at,
            tuple(map(str, (numbers * step + options.counted_from).tolist())),
            size,
            options.theme.faint,
            anchor,
        )
    ]


def _shift(side: str, cell: float, beyond: tuple[int, int]) -> tuple[float, float]:
    """Return how far numbers stand from their matrix because of padding between."""
    return (beyond[1] * cell if side == "right" else 0.0), (beyond[0] * cell if side == "below" else 0.0)


def _beside(
    table: CellGrid, side: str, middle: npt.NDArray[np.float64], size: float, options: _Look
) -> npt.NDArray[np.float64]:
    x, y, width, height = table.box
    air, capital = _AIR / options.zoom, CAP_HEIGHT * size
    if options.clip is not None:
        left, top, wide, high = options.clip
        x0, x1 = max(x, left + 4 * size), min(x + width, left + wide - 4 * size)
        y0, y1 = max(y, top + 2 * size), min(y + height, top + high - 2 * size)
    else:
        x0, x1, y0, y1 = x, x + width, y, y + height
    match side:
        case "left":
            return np.stack([np.full_like(middle, x0 - air), middle + capital / 2], axis=1)
        case "right":
            return np.stack([np.full_like(middle, x1 + air), middle + capital / 2], axis=1)
        case "above":
            return np.stack([middle, np.full_like(middle, y0 - air)], axis=1)
    return np.stack([middle, np.full_like(middle, y1 + air + capital)], axis=1)


def _numbers(first: int, count: int, cell: float, size: float, is_row: bool) -> npt.NDArray[np.int64]:
    """Return multiples of a power of two with space between them."""
    needed = 1.35 * size if is_row else text_width(str(first + count - 1), size) + 0.7 * size
    step = label_step(cell, needed, 1 << 30)
    return np.arange(-(-first // step) * step, first + count, step)
